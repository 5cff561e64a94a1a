import { newId } from '../../kernel/id.js';
/** An operation on its way, and what is known of it. What most operations never need is made when it is asked for. */
export class Operation {
    startedAt = performance.now();
    environmentId;
    /** The first root field. Of the schema, so the values are few. */
    field;
    kind;
    /** The one state that the answer depends on, as it is held; null: it is not at hand, or there is more to the answer. */
    state = null;
    /** It may send statements, which are given up with it, and change what others must hear of before it is answered. */
    usesDatabase = true;
    /** Nothing but reports: see `PreparedDocument`. */
    isReport = false;
    /** Of the first error. */
    code;
    #traceId;
    #stop;
    #givenUp;
    /** Joins an answer with its log line. */
    get traceId() {
        this.#traceId ??= newId();
        return this.#traceId;
    }
    get isTraced() {
        return this.#traceId !== undefined;
    }
    /** Aborts when nobody waits for the answer any more. */
    get signal() {
        if (!this.#stop) {
            this.#stop = new AbortController();
            if (this.#givenUp)
                this.#stop.abort(this.#givenUp.reason);
        }
        return this.#stop.signal;
    }
    giveUp(reason) {
        this.#givenUp ??= { reason };
        this.#stop?.abort(reason);
    }
}
//# sourceMappingURL=operation.js.map