// Loaded into a process under measurement (`node --import`), which is ended when who measures is gone. Answers
//   cpu      the CPU time that the process used so far, in microseconds
//   heap     the bytes of its heap after a garbage collection; needs --expose-gc
//   collect  0, when garbage is collected and the memory of it given back; needs --expose-gc
//   delay    the longest time that its event loop stood still since the question before, in milliseconds
//   step     the most CPU time that its main thread took since the question before without letting anybody else be served, in milliseconds: of a callback with the
//            ticks and promises after it, however busy the machine is. Garbage that was collected in it is not counted; needs Node 24
//   body     the CPU time that one body of 5 MiB takes in one go: put together, decoded, parsed and written again, in milliseconds. The median of five
//   gc       the longest time that a collection of garbage took before the last question for a step, in milliseconds
import { createHook, executionAsyncResource, type HookCallbacks } from 'node:async_hooks'
import { type IntervalHistogram, monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks'

const resolutionMs = 2
let delays: IntervalHistogram | undefined

function longestDelayMs(): number {
  const longest = (delays?.max ?? 0) / 1e6 - resolutionMs
  delays ??= monitorEventLoopDelay({ resolution: resolutionMs })
  delays.reset()
  delays.enable()
  return Math.max(longest, 0)
}

/** The types are those of an older Node. */
const { threadCpuUsage } = process as unknown as { threadCpuUsage: () => NodeJS.CpuUsage }
const threadCpuMs = () => {
  const { user, system } = threadCpuUsage.call(process)
  return (user + system) / 1_000
}
const withoutPromises = { trackPromises: false } as HookCallbacks
/** What goes on within a step: ticks, and what JavaScript itself runs in a context of its own. */
const within = new Set(['Object', 'AsyncResource', 'HTTPServerAsyncResource'])

/** Of the main thread, and when it ended by the clock of garbage collections. */
interface Step {
  cpuMs: number
  from: number
  to: number
}

/** Longer ones are kept until it is known how much garbage was collected in them. */
const longStepMs = 5
const mostSteps = 10_000
/** So much of what was done before it may count with a step. */
const cpuEveryMs = 1
let isWatching = false
let steps: Step[] = []
let collections: { from: number; ms: number }[] = []

function watchSteps(): void {
  if (isWatching) return
  isWatching = true
  let from = performance.now()
  let [cpuAtMs, cpuBeforeMs] = [from, threadCpuMs()]
  const before = () => {
    if (within.has((executionAsyncResource() as object).constructor.name)) return
    const to = performance.now()
    // Asked before each step, the system would take as long as a short one does.
    if (to - cpuAtMs > cpuEveryMs) {
      const cpu = threadCpuMs()
      const cpuMs = cpu - cpuBeforeMs
      if (to - from > longStepMs && cpuMs > longStepMs && steps.length < mostSteps) steps.push({ cpuMs, from, to })
      cpuBeforeMs = cpu
      cpuAtMs = to
    }
    from = to
  }
  createHook({ ...withoutPromises, before }).enable()
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) collections.push({ from: startTime, ms: duration })
  }).observe({ entryTypes: ['gc'] })
}

let longestCollectionMs = 0

/** Collections take longer by the clock than of the processor where the machine is busy: of a step with one, what is left is what it took at least. */
function longestStepMs(): number {
  watchSteps()
  const own = ({ cpuMs, from, to }: Step) =>
    cpuMs - collections.reduce((sum, one) => sum + (one.from >= from && one.from < to ? one.ms : 0), 0)
  const longest = steps.reduce((most, step) => Math.max(most, own(step)), 0)
  longestCollectionMs = collections.reduce((most, { ms }) => Math.max(most, ms), 0)
  steps = []
  collections = []
  return longest
}

const bodyBytes = 5 * 2 ** 20
const chunkBytes = 64 * 1024

function bodyStepMs(): number {
  const text = Buffer.from(JSON.stringify({ text: 'd'.repeat(bodyBytes - '{"text":""}'.length) }))
  const chunks = Array.from({ length: bodyBytes / chunkBytes }, (_, n) => text.subarray(n * chunkBytes, (n + 1) * chunkBytes))
  const times = Array.from({ length: 5 }, () => {
    const before = threadCpuMs()
    Buffer.from(JSON.stringify(JSON.parse(Buffer.concat(chunks).toString())))
    return threadCpuMs() - before
  })
  return times.sort((a, b) => a - b)[2]!
}

const answers: Record<string, () => number> = {
  cpu: () => {
    const { user, system } = process.cpuUsage()
    return user + system
  },
  heap: () => {
    globalThis.gc?.()
    const { heapUsed, external } = process.memoryUsage()
    return heapUsed + external
  },
  collect: () => {
    globalThis.gc?.({ type: 'major', flavor: 'last-resort', execution: 'sync' })
    return 0
  },
  delay: longestDelayMs,
  body: bodyStepMs,
  step: longestStepMs,
  gc: () => longestCollectionMs,
}

process.on('message', (question: string) => process.send?.(answers[question]!()))
process.on('disconnect', () => process.exit())
