/** Time is an argument. Only a service's `now()` reads a clock; rules take `now` as epoch milliseconds. */
export const systemClock = { now: () => Date.now() };
/** A clock that stands still until it is told otherwise (tests). */
export class FrozenClock {
    current;
    constructor(current) {
        this.current = current;
    }
    now() {
        return this.current;
    }
    set(at) {
        this.current = at;
    }
}
//# sourceMappingURL=clock.js.map