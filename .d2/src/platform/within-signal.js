import { Scope } from './scope.js';
const current = new Scope();
/**
 * Runs `work` so that its statements are given up when the signal aborts: what runs is canceled in PostgreSQL, what comes later is not sent. A
 * transaction is rolled back by that, unless its commit was on its way.
 */
export function withinSignal(abortable, work) {
    return current.run(abortable, work);
}
/** For work that others wait for too: it goes on when the one that began it gives up. */
export function beyondSignal(work) {
    return current.exit(work);
}
export const currentSignal = () => current.value?.signal;
//# sourceMappingURL=within-signal.js.map