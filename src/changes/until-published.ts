import { setTimeout as sleep } from 'node:timers/promises'

/** How long a change is tried to be published. */
const publishMs = 2_000
const publishPauseMs = 50

/**
 * What could not be published is published again: others hear well, and go on to trust what they hold. A Redis that is away for so long is away for them, too,
 * and they have lost their trust by then.
 */
export async function untilPublished<T>(publish: () => Promise<T>): Promise<T> {
  const until = performance.now() + publishMs
  for (;;) {
    try {
      return await publish()
    } catch (error) {
      if (performance.now() >= until) throw error
      await sleep(publishPauseMs)
    }
  }
}
