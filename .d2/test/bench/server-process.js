import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Problem } from '../../src/kernel/problem.js';
import { residentMegabytesOf } from './process-figures.js';
const probe = new URL('./cpu-probe.js', import.meta.url).href;
const startMs = 15_000;
const stopMs = 5_000;
/** Collecting the garbage of a large heap. */
const collectMs = 60_000;
/** A server under measurement, in a process of its own. It ends with this process, however this one ends. */
export class ServerProcess {
    name;
    child;
    ports;
    readyMs;
    constructor(name, child, ports, 
    /** From its start until it listened. */
    readyMs) {
        this.name = name;
        this.child = child;
        this.ports = ports;
        this.readyMs = readyMs;
    }
    /** Starts a compiled script, given relative to this file, with nothing but the given environment, and waits until it listens. */
    static async start(name, script, { args = [], env = {}, nodeArgs = [] }) {
        const path = fileURLToPath(new URL(script, import.meta.url));
        const startedAt = performance.now();
        const child = spawn(process.execPath, [...nodeArgs, '--import', probe, path, ...args], {
            env,
            stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
        });
        const output = [];
        const ports = await new Promise((resolve, reject) => {
            const fail = (what) => {
                child.kill('SIGKILL');
                reject(new Problem('UNAVAILABLE', 'SERVER_NOT_STARTED', [`The ${name} server ${what}`, ...output].join('\n  ')));
            };
            const timer = setTimeout(fail, startMs, `did not listen within ${startMs / 1000} s`);
            child.once('error', (error) => fail(`could not be started: ${error.message}`));
            child.once('exit', (code) => fail(`exited with code ${code}`));
            // Read to the end, so that a server that logs more never waits for us.
            createInterface({ input: child.stdout }).on('line', (line) => {
                const listening = readListening(line);
                if (listening === null)
                    return void output.push(line);
                clearTimeout(timer);
                resolve(listening);
            });
        });
        return new ServerProcess(name, child, ports, Math.round(performance.now() - startedAt));
    }
    /** What it keeps in memory now. Linux only. */
    residentMegabytes() {
        return residentMegabytesOf(this.child.pid);
    }
    /** Bytes of its heap after its garbage was collected; needs `--expose-gc` among its node arguments. */
    heapBytes() {
        return this.#ask('heap', collectMs);
    }
    /** CPU time of all its threads since it started. */
    cpuMicroseconds() {
        return this.#ask('cpu', stopMs);
    }
    async #ask(question, timeoutMs) {
        const answer = once(this.child, 'message', { signal: AbortSignal.timeout(timeoutMs) });
        this.child.send(question);
        const [figure] = (await answer);
        return figure;
    }
    async stop() {
        if (this.child.exitCode !== null || this.child.signalCode !== null)
            return;
        const exit = once(this.child, 'exit');
        this.child.kill('SIGTERM');
        const timer = setTimeout(() => this.child.kill('SIGKILL'), stopMs);
        await exit;
        clearTimeout(timer);
    }
}
function readListening(line) {
    if (!line.startsWith('{'))
        return null;
    const fact = JSON.parse(line);
    return fact.msg === 'listening' ? fact : null;
}
//# sourceMappingURL=server-process.js.map