/** Changes of one environment within that time are announced together: each announcement costs a job, and each delivery a round of its own. */
const pauseMs = 50

/**
 * Announces that an environment has changed: the first time at once, then at most once per pause, never less than once after the last change. One
 * that is lost with the process is found by the sweep of the outbox.
 */
export function createNudges(announce: (environmentId: string) => void): (environmentId: string) => void {
  /** Environments in their pause; true: something has changed in it. */
  const pausing = new Map<string, boolean>()
  const nudge = (environmentId: string): void => {
    if (pausing.has(environmentId)) {
      pausing.set(environmentId, true)
      return
    }
    announce(environmentId)
    pausing.set(environmentId, false)
    setTimeout(() => {
      const hasChanged = pausing.get(environmentId)
      pausing.delete(environmentId)
      if (hasChanged) nudge(environmentId)
    }, pauseMs)
  }
  return nudge
}
