import type { Life } from './process.js'

/**
 * Runs `work` every `intervalMs` (first after a random part of it, so that copies of a process do not run in step, and not before connections have had a
 * moment to be made), never twice at once. A failure is logged and the next run tries again. Stopping waits for the run in progress.
 */
export function every(life: Life, label: string, intervalMs: number, work: () => Promise<unknown>): void {
  let running: Promise<unknown> = Promise.resolve()
  let timer = setTimeout(run, (0.2 + 0.8 * Math.random()) * intervalMs)
  async function run() {
    running = work().catch((error: unknown) => life.log.warn({ err: error, label }, 'periodic work failed, trying again'))
    await running
    if (!life.signal.aborted) timer = setTimeout(run, intervalMs)
  }
  life.onStop(label, () => {
    clearTimeout(timer)
    return running
  })
}
