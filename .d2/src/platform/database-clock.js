import { unavailable } from '../kernel/problem.js';
const refreshMs = 30_000;
/**
 * The database's time, which rules deadlines and versions, without asking it each time: an offset to this process's steady clock, learned again
 * every half minute of use. Right to about the time that one query takes.
 */
export class DatabaseClock {
    ask;
    #offset;
    #learnedAt = 0;
    #learning;
    /** `ask` answers the database's time. */
    constructor(ask) {
        this.ask = ask;
    }
    /** Waits only until the time is known at all: every report asks. Fails with UNAVAILABLE when the database does not tell it. */
    now() {
        if (performance.now() - this.#learnedAt > refreshMs || this.#offset === undefined) {
            this.#learning ??= this.#learn().finally(() => {
                this.#learning = undefined;
            });
            if (this.#offset === undefined)
                return this.#learning.then(() => this.#here());
            // An old offset is better than none, and the next call tries again.
            this.#learning.catch(() => undefined);
        }
        return this.#here();
    }
    #here() {
        return Math.round(performance.now() + this.#offset);
    }
    async #learn() {
        const before = performance.now();
        const time = await this.ask().catch((error) => {
            throw unavailable('The database is away. Nothing was counted: try again.', error);
        });
        this.#offset = time - (before + performance.now()) / 2;
        this.#learnedAt = performance.now();
    }
}
//# sourceMappingURL=database-clock.js.map