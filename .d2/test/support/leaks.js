import { Life } from '../../src/platform/process.js';
let before = new Set();
const leaks = [];
/**
 * Fails the run when a test leaves open what it opened: workers, pools, connections and timers all belong to a Life. What a suite shares may stay
 * until its end. Told at the end, because a root hook that fails would end the run there and then.
 */
export const mochaHooks = {
    beforeEach() {
        before = new Set(Life.running);
    },
    async afterEach() {
        const left = [...Life.running].filter((life) => !before.has(life));
        if (left.length === 0)
            return;
        leaks.push(`${this.currentTest?.fullTitle()}: ${[...new Set(left.map(({ name }) => name))].join(', ')}`);
        await Promise.all(left.map((life) => life.stop()));
    },
    afterAll() {
        if (leaks.length > 0)
            throw new Error(`Tests that have not stopped what they started:\n  ${leaks.join('\n  ')}`);
    },
};
//# sourceMappingURL=leaks.js.map