import { median } from './statistics.js';
const everyMs = 500;
/** Looks at what processes keep in memory while they work. */
export class MemoryWatch {
    processes;
    #samples = new Map();
    #timer;
    constructor(processes) {
        this.processes = processes;
        this.#timer = setInterval(() => this.#look(), everyMs);
    }
    #look() {
        for (const process of this.processes) {
            if (!process.isRunning)
                continue;
            const samples = this.#samples.get(process.name) ?? [];
            samples.push(process.residentMegabytes());
            this.#samples.set(process.name, samples);
        }
    }
    /** The median of each process since the last lap, in MB, by name. */
    lap() {
        this.#look();
        const resident = new Map([...this.#samples].map(([name, samples]) => [name, median(samples)]));
        this.#samples.clear();
        return resident;
    }
    stop() {
        clearInterval(this.#timer);
    }
}
//# sourceMappingURL=memory-watch.js.map