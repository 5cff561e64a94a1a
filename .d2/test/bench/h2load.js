import { execFile } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Problem } from '../../src/kernel/problem.js';
import { quantile } from './statistics.js';
const run = promisify(execFile);
export const connections = 4;
export const streams = 16;
/** @throws Problem that says how to get it */
export async function requireH2load() {
    await run('h2load', ['--version']).catch((cause) => {
        const message = 'h2load makes the calls of this benchmark and is not installed. Debian, Ubuntu: apt-get install nghttp2-client';
        throw new Problem('FAILED_PRECONDITION', 'H2LOAD_MISSING', message, { cause });
    });
}
/** Makes so many calls as fast as they are answered; answers the calls per second. */
export async function loadFully(target, calls) {
    const report = await h2load(target, calls, ['-n', String(calls), target.url]);
    return numberIn(report, /^finished in [^,]+, ([\d.]+) req\/s/m);
}
/**
 * Makes one call per millisecond and connection, or nearly so (h2load's timer adds a little), whether or not the calls before are
 * answered. Answers the times from call to answer, in microseconds.
 */
export async function loadPaced(target, callsPerConnection, folder) {
    const script = join(folder, 'script.tsv');
    const log = join(folder, 'calls.tsv');
    await writeFile(script, Array.from({ length: callsPerConnection }, (_, ms) => `${ms}\t${target.url}\n`).join(''));
    // h2load would append to it.
    await rm(log, { force: true });
    await h2load(target, callsPerConnection * connections, [`--timing-script-file=${script}`, `--log-file=${log}`]);
    const times = (await readFile(log, 'utf8'))
        .trimEnd()
        .split('\n')
        .map((line) => Number(line.split('\t')[2]));
    return { p50: quantile(times, 0.5), p99: quantile(times, 0.99) };
}
/** Longest that one run takes; a server that hangs must not keep the benchmark waiting. */
const longestRunMs = 60_000;
/** Runs h2load and answers its report. Fails unless every call was answered, with HTTP 200 and a message of the right size. */
async function h2load({ requestFile, answerBytes }, calls, args) {
    const load = ['-c', String(connections), '-m', String(streams), '-d', requestFile];
    const headers = ['-H', 'content-type: application/grpc', '-H', 'te: trailers'];
    const { stdout: report } = await run('h2load', [...load, ...headers, ...args], { timeout: longestRunMs });
    const succeeded = numberIn(report, /, (\d+) succeeded/);
    const ok = numberIn(report, /^status codes: (\d+) 2xx/m);
    const bytes = numberIn(report, /\((\d+)\) data/);
    if (succeeded !== calls || ok !== calls || bytes !== calls * answerBytes) {
        const facts = `${succeeded} answered, ${ok} with HTTP 2xx, ${bytes} bytes of messages instead of ${calls * answerBytes}`;
        throw new Problem('ABORTED', 'WRONG_ANSWERS', `Of ${calls} calls not all got the right answer: ${facts}`);
    }
    return report;
}
function numberIn(report, pattern) {
    const match = pattern.exec(report);
    if (!match)
        throw new Problem('INTERNAL', 'H2LOAD_REPORT', `h2load's report has no ${pattern}:\n${report}`);
    return Number(match[1]);
}
//# sourceMappingURL=h2load.js.map