/**
 * Runs `work` every `intervalMs` (first after a random part of it, so that copies of a process do not run in step), never twice at once. A failure is
 * logged and the next run tries again. Stopping waits for the run in progress.
 */
export function every(life, label, intervalMs, work) {
    let running = Promise.resolve();
    let timer = setTimeout(run, Math.random() * intervalMs);
    async function run() {
        running = work().catch((error) => life.log.warn({ err: error, label }, 'periodic work failed, trying again'));
        await running;
        if (!life.signal.aborted)
            timer = setTimeout(run, intervalMs);
    }
    life.onStop(label, () => {
        clearTimeout(timer);
        return running;
    });
}
//# sourceMappingURL=timer.js.map