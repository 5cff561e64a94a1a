import { currentSpan, inTraceOf, type Span } from '../../platform/context/tracing.js'
import type { Life } from '../../platform/process.js'

/**
 * Changes of one environment within that time are announced together: each announcement costs a job, and each delivery a round of its own. Under load a
 * tenth of all work is spared by 80 instead of 50, and little more by 100.
 */
const pauseMs = 80

interface Pause {
  timer: NodeJS.Timeout
  hasChanged: boolean
  /** Of the last change. */
  span: Span | undefined
}

/**
 * Announces that an environment has changed: the first time at once, then at most once per pause, never less than once after the last change. One
 * that is lost with the process is found by the sweep of the outbox.
 */
export function createNudges(life: Life, announce: (environmentId: string) => void): (environmentId: string) => void {
  const pauses = new Map<string, Pause>()
  const nudge = (environmentId: string): void => {
    const pause = pauses.get(environmentId)
    const span = currentSpan()
    if (pause) Object.assign(pause, { hasChanged: true, span })
    else {
      announce(environmentId)
      pauses.set(environmentId, { timer: setTimeout(end, pauseMs, environmentId), hasChanged: false, span })
    }
  }
  const end = (environmentId: string): void => {
    const pause = pauses.get(environmentId)!
    clearTimeout(pause.timer)
    pauses.delete(environmentId)
    if (pause.hasChanged) inTraceOf(pause.span, () => nudge(environmentId))
  }
  life.open('nudges', pauses, () => {
    for (const [environmentId, { timer, hasChanged }] of pauses) {
      clearTimeout(timer)
      if (hasChanged) announce(environmentId)
    }
  })
  return nudge
}
