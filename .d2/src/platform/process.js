var _a;
import { ConfigError, readConfig, variableTable } from './config.js';
import { createHealthServer, listen, StartError } from './health.js';
import { createLogger } from './logger.js';
import { createMetrics } from './metrics.js';
/**
 * The life of a process or of a test: what is opened here is closed here, in reverse order, and every failure is reported.
 *
 * Stopping has five beats: readiness off, stop taking work, drain, close in reverse order of opening, exit.
 */
export class Life {
    name;
    log;
    metrics;
    /** Those that were begun and not stopped: what a test has left open. */
    static running = new Set();
    #stoppers = [];
    #closers = [];
    #checks = [];
    #stopping = new AbortController();
    #stopped;
    constructor(name, log, metrics = createMetrics(name)) {
        this.name = name;
        this.log = log;
        this.metrics = metrics;
        _a.running.add(this);
    }
    /** Aborts when stopping begins. */
    get signal() {
        return this.#stopping.signal;
    }
    /** Registers the close of something that was opened, and answers it. */
    open(label, value, close) {
        this.#closers.push({ label, run: async () => close(value) });
        return value;
    }
    /** Registers "take no more work and finish what is in flight": runs before anything is closed. */
    onStop(label, run) {
        this.#stoppers.push({ label, run: async () => run() });
    }
    /** Registers a condition of readiness. Its facts are merged into the answer of `/readyz`. */
    readyWhen(check) {
        this.#checks.push(check);
    }
    /** DOWN while stopping or when any check is. */
    async readiness() {
        const results = await Promise.all(this.#checks.map((check) => check()));
        const isUp = !this.signal.aborted && results.every((result) => result.status === 'UP');
        return { ...Object.assign({}, ...results), status: isUp ? 'UP' : 'DOWN' };
    }
    /** Serves `/livez`, `/readyz` and `/metrics`; answers the port. */
    async serveHealth(address, paths = {}) {
        const server = createHealthServer({ ready: () => this.readiness(), metrics: this.metrics, ...paths });
        const port = await listen(server, address);
        this.open('health server', server, (s) => {
            s.closeAllConnections();
            s.close();
        });
        return port;
    }
    /** Stops and closes everything once; answers the failures. Never rejects. */
    stop() {
        this.#stopped ??= this.#stopNow();
        return this.#stopped;
    }
    async #stopNow() {
        this.#stopping.abort();
        const failures = [];
        const attempt = async ({ label, run }) => {
            try {
                await run();
            }
            catch (cause) {
                failures.push(new Error(`closing ${label} failed`, { cause }));
            }
        };
        await Promise.all(this.#stoppers.map(attempt));
        for (const closer of this.#closers.reverse())
            await attempt(closer);
        _a.running.delete(this);
        return failures;
    }
}
_a = Life;
/**
 * Runs one process: reads its configuration (`--check-config` stops after that, `--help` tells of it instead), starts it, and stops it in order on
 * SIGTERM or SIGINT.
 * A second signal, or the shutdown deadline, ends it at once with exit code 1.
 */
export async function runProcess({ name, spec, check }, start) {
    const startedAt = performance.now();
    const config = readConfigOrExit(name, spec, check);
    const { LOG_LEVEL = 'info', SHUTDOWN_TIMEOUT_MS = 10_000 } = config;
    const log = createLogger({ process: name, level: LOG_LEVEL });
    const life = new Life(name, log);
    const stop = async (exitCode) => {
        if (life.signal.aborted)
            process.exit(1);
        const deadline = setTimeout(() => {
            log.error({ timeoutMs: SHUTDOWN_TIMEOUT_MS }, 'shutdown deadline passed, exiting with work unfinished');
            process.exit(1);
        }, SHUTDOWN_TIMEOUT_MS);
        const failures = await life.stop();
        clearTimeout(deadline);
        for (const failure of failures)
            log.warn({ err: failure }, 'shutdown step failed');
        log.info('stopped');
        process.exit(exitCode);
    };
    for (const signal of ['SIGTERM', 'SIGINT']) {
        process.on(signal, () => {
            if (!life.signal.aborted)
                log.info({ signal }, 'stopping');
            void stop(0);
        });
    }
    const crash = (error) => {
        log.fatal({ err: error }, 'unexpected error, stopping');
        void stop(1);
    };
    process.on('uncaughtException', crash);
    process.on('unhandledRejection', crash);
    try {
        await start(config, life);
        log.info({ startupMs: Math.round(performance.now() - startedAt) }, 'started');
    }
    catch (error) {
        if (life.signal.aborted)
            return;
        if (error instanceof StartError)
            log.fatal(error.message);
        else
            log.fatal({ err: error }, 'could not start');
        await stop(1);
    }
}
function readConfigOrExit(name, spec, check) {
    if (process.argv.includes('--help')) {
        process.stdout.write(`${name} reads these environment variables. With --check-config it only checks them.\n\n${variableTable(spec)}\n`);
        process.exit(0);
    }
    try {
        const config = readConfig(spec, process.env, check);
        if (process.argv.includes('--check-config')) {
            process.stdout.write(`${name}: configuration is valid\n`);
            process.exit(0);
        }
        return config;
    }
    catch (error) {
        if (!(error instanceof ConfigError))
            throw error;
        process.stderr.write(`${name}: the configuration has ${error.problems.length} problem(s)\n${error.problems.map((p) => `  ${p}\n`).join('')}`);
        process.exit(1);
    }
}
//# sourceMappingURL=process.js.map