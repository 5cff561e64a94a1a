// `npm test`: starts what the tests need, runs mocha, stops everything. The last line is "N passed, N failed".
import { fork } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Problem } from '../../src/kernel/problem.js';
import { compiledFile, needServices, parseArguments, selectFiles } from './selection.js';
import { startTestServices } from './services.js';
const root = fileURLToPath(new URL('../../../', import.meta.url));
/** After its last test mocha has this long to end; what still runs then was left open by a test. */
const openHandlesMs = 10_000;
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(signal, () => stop.abort(new Error(`stopped by ${signal}`)));
/** Runs mocha on the files and answers the counts; a run that crashes or does not end counts as one failure more. */
async function runMocha(files, mochaArguments, env) {
    const mocha = join(root, 'node_modules', 'mocha', 'bin', 'mocha.js');
    const hooks = compiledFile(root, 'support/leaks.ts');
    const args = [
        '--reporter',
        compiledFile(root, 'support/reporter.ts'),
        ...(existsSync(hooks) ? ['--require', hooks] : []),
        // Real services on a busy machine; a unit test keeps mocha's own 2 s.
        ...(env.TEST_DATABASE_URL ? ['--timeout', '20000'] : []),
        ...mochaArguments,
        ...files,
    ];
    const child = fork(mocha, args, { cwd: root, env: { ...process.env, ...env }, execArgv: ['--enable-source-maps'] });
    stop.signal.addEventListener('abort', () => child.kill('SIGTERM'));
    let counts = null;
    let isHanging = false;
    child.once('message', (message) => {
        counts = message;
        setTimeout(() => {
            isHanging = true;
            child.kill('SIGKILL');
        }, openHandlesMs).unref();
    });
    const code = await new Promise((resolve) => child.once('exit', resolve));
    const { passed, failed, skipped } = counts ?? { passed: 0, failed: 0, skipped: 0 };
    if (isHanging)
        console.error(`The tests ended, but the process did not within ${openHandlesMs / 1000} s: something is still open.`);
    const isUncounted = counts === null || isHanging || (code !== 0 && failed === 0);
    return { passed, failed: failed + (isUncounted ? 1 : 0), skipped };
}
async function main() {
    const { filters, mochaArguments } = parseArguments(process.argv.slice(2));
    const sources = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' });
    const files = selectFiles(sources, filters);
    if (files.length === 0)
        throw new Error(`No test matches ${filters.join(' ')}`);
    // By source, because dist may still hold tests that were deleted.
    const compiled = files.map((file) => compiledFile(root, file));
    if (!needServices(files))
        return runMocha(compiled, mochaArguments, {});
    const services = await startTestServices(root, stop.signal);
    try {
        return await runMocha(compiled, mochaArguments, services.env);
    }
    finally {
        await services.stop();
    }
}
const counts = await main().catch((error) => {
    console.error(error instanceof Problem ? error.message : error);
    return { passed: 0, failed: 1, skipped: 0 };
});
console.log(`\n${counts.passed} passed, ${counts.failed} failed${counts.skipped > 0 ? `, ${counts.skipped} skipped` : ''}`);
process.exit(counts.failed > 0 ? 1 : 0);
//# sourceMappingURL=run.js.map