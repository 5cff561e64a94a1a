import { LRUCache } from 'lru-cache';
/** Answers of the last `ttlMs`, counted from when they were asked for, for at most `max` questions. Nothing that failed is kept. */
export class Recent {
    #ttlMs;
    #clock;
    #answers;
    constructor({ ttlMs, max, clock }) {
        this.#ttlMs = ttlMs;
        this.#clock = clock;
        this.#answers = new LRUCache({ max });
    }
    /** Callers that ask the same at the same time share one `load`. */
    get(key, load) {
        const now = this.#clock.now();
        const known = this.#answers.get(key);
        // A clock that was set back must not lengthen an answer's life.
        if (known && Math.abs(now - known.askedAt) < this.#ttlMs)
            return known.value;
        const answer = { value: load(), askedAt: now };
        this.#answers.set(key, answer);
        answer.value.catch(() => {
            if (this.#answers.peek(key) === answer)
                this.#answers.delete(key);
        });
        return answer.value;
    }
    clear() {
        this.#answers.clear();
    }
}
//# sourceMappingURL=recent.js.map