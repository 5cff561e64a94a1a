import { setTimeout as sleep } from 'node:timers/promises'
import { Problem } from '../../kernel/problem.js'
import type { Child, ChildExit } from './children.js'

interface Supervised {
  name: string
  /** Starts the process once. */
  start: () => Child
  /** Answers 200 at /readyz when the process can work. */
  healthUrl: string
  /** Told in one line when the process dies, and when it will be tried again. */
  notice: (line: string) => void
  /** Told the id of every new process, and null when it is gone. */
  onPid: (pid: number | null) => void
  /** Called when the process is ready for the first time. */
  onReady: () => void
  signal: AbortSignal
}

/** A process that dies this often before it was ever ready will not get better by itself. */
const attemptsBeforeReady = 3
const firstDelayMs = 1_000
const longestDelayMs = 30_000
/** After this time in a row without trouble, a death counts as the first one again. */
const steadyMs = 60_000
/** How often /readyz is asked, and how long an answer may take. */
const pollMs = 50
const answerTimeoutMs = 2_000

/** How long to wait before the next start, when the process has died `deaths` times in a row (1 for the first). */
export function restartDelayMs(deaths: number): number {
  return Math.min(longestDelayMs, firstDelayMs * 2 ** (deaths - 1))
}

export function describeExit({ code, signal, error }: ChildExit): string {
  if (error) return `could not be started (${error.message})`
  return signal ? `was killed by ${signal}` : `exited with code ${code}`
}

/**
 * Keeps one process running until `signal`: a death is reported and followed by a restart, later each time. Throws FAILED_PRECONDITION when the
 * process cannot start: it died three times and was never ready.
 */
export async function supervise(supervised: Supervised): Promise<void> {
  const { name, notice, onPid, signal } = supervised
  let deaths = 0
  let hasBeenReady = false
  while (!signal.aborted) {
    const startedAt = performance.now()
    const child = supervised.start()
    onPid(child.pid ?? null)
    if (!hasBeenReady) {
      const exited = AbortSignal.any([signal, whenExited(child)])
      void waitUntilReady(supervised.healthUrl, exited).then((isReady) => {
        if (!isReady) return
        hasBeenReady = true
        supervised.onReady()
      })
    }
    const exit = await untilAborted(child.exited, signal)
    // Told to stop: whoever owns the child stops it, in its turn.
    if (exit === null || signal.aborted) return
    onPid(null)
    deaths = performance.now() - startedAt > steadyMs ? 1 : deaths + 1
    if (!hasBeenReady && (deaths >= attemptsBeforeReady || exit.error)) {
      const times = exit.error ? '' : `, ${deaths} times in a row, and was never ready`
      throw new Problem(
        'FAILED_PRECONDITION',
        'PROCESS_CANNOT_START',
        `${name} ${describeExit(exit)}${times}. The reason is in its lines above.`,
      )
    }
    const delayMs = restartDelayMs(deaths)
    notice(`${name} ${describeExit(exit)}; it is started again in ${delayMs / 1000} s`)
    await sleep(delayMs, undefined, { signal }).catch(() => {})
  }
}

/** What `promise` answers, or null when `signal` comes first. */
export async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | null> {
  if (signal.aborted) return null
  let onAbort = () => {}
  const aborted = new Promise<null>((resolve) => {
    onAbort = () => resolve(null)
  })
  signal.addEventListener('abort', onAbort)
  // The signal lives as long as the platform: without this it would collect a listener with every restart.
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener('abort', onAbort))
}

function whenExited(child: Child): AbortSignal {
  const exited = new AbortController()
  void child.exited.then(() => exited.abort())
  return exited.signal
}

/** True once /readyz answers 200; false when `signal` comes first. */
async function waitUntilReady(healthUrl: string, signal: AbortSignal): Promise<boolean> {
  while (!signal.aborted) {
    if (await isReady(healthUrl)) return !signal.aborted
    await sleep(pollMs, undefined, { signal }).catch(() => {})
  }
  return false
}

/** Whether /readyz answers 200 now. */
async function isReady(healthUrl: string): Promise<boolean> {
  try {
    const response = await fetch(`${healthUrl}/readyz`, { signal: AbortSignal.timeout(answerTimeoutMs) })
    await response.arrayBuffer()
    return response.status === 200
  } catch {
    return false
  }
}
