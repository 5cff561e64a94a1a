import { cpuMicrosecondsOf } from './process-figures.js';
/** CPU time by name: of all processes of ours, PostgreSQL with its backends, Redis, and this process, which makes the load. */
export class CpuMeter {
    stack;
    #last;
    constructor(stack) {
        this.stack = stack;
        this.#last = this.#read();
    }
    #read() {
        const { user, system } = process.cpuUsage();
        const used = new Map();
        for (const { name, pid } of this.stack.processes)
            used.set(name, (used.get(name) ?? 0) + cpuMicrosecondsOf(pid));
        for (const [name, pid] of this.stack.servers)
            used.set(name, cpuMicrosecondsOf(pid));
        return used.set('load', user + system);
    }
    /** Microseconds since it was made, or since the last lap. */
    lap() {
        const [before, now] = [this.#last, this.#read()];
        this.#last = now;
        return new Map([...now].map(([name, used]) => [name, used - (before.get(name) ?? 0)]));
    }
}
export const sumOf = (used) => [...used.values()].reduce((sum, part) => sum + part, 0);
/** "web 11.5, postgres 60.0: 71.5 µs of CPU an event". */
export function describeCpu(used, count, unit) {
    const parts = [...used].map(([name, part]) => `${name} ${(part / count).toFixed(1)}`);
    return `${parts.join(', ')}: ${(sumOf(used) / count).toFixed(1)} µs of CPU ${unit}`;
}
//# sourceMappingURL=cpu-meter.js.map