import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Problem } from '../../src/kernel/problem.js';
const run = promisify(execFile);
const connections = 16;
/** A server that hangs must not keep the benchmark waiting. */
const longestRunMs = 120_000;
/** Makes so many requests as fast as they are answered; answers the requests per second. Fails unless every one was answered with HTTP 2xx. */
export async function loadHttp({ url, headers = {}, bodyFile }, requests) {
    const sent = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
    const body = bodyFile ? ['-d', bodyFile] : [];
    const args = ['--h1', '-c', String(connections), '-n', String(requests), ...sent, ...body, url];
    const { stdout: report } = await run('h2load', args, { timeout: longestRunMs });
    const ok = numberIn(report, /^status codes: (\d+) 2xx/m);
    if (ok !== requests)
        throw new Problem('ABORTED', 'WRONG_ANSWERS', `Of ${requests} requests ${ok} were answered with HTTP 2xx`);
    return numberIn(report, /^finished in [^,]+, ([\d.]+) req\/s/m);
}
function numberIn(report, pattern) {
    const match = pattern.exec(report);
    if (!match)
        throw new Problem('INTERNAL', 'H2LOAD_REPORT', `h2load's report has no ${pattern}:\n${report}`);
    return Number(match[1]);
}
//# sourceMappingURL=http-load.js.map