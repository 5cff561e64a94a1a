// Loaded into a process under measurement (`node --import`), which is ended when who measures is gone. Answers
//   cpu      the CPU time that the process used so far, in microseconds
//   heap     the bytes of its heap after a garbage collection; needs --expose-gc
//   collect  0, when garbage is collected and the memory of it given back; needs --expose-gc
//   delay    the longest time that its event loop stood still since the question before, in milliseconds
//   step     the most CPU time that its main thread took in a round of its event loop since the question before, in milliseconds: as long as its longest
//            synchronous step and a little more, however busy the machine is; needs Node 24
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks'

const resolutionMs = 2
let delays: IntervalHistogram | undefined

function longestDelayMs(): number {
  const longest = (delays?.max ?? 0) / 1e6 - resolutionMs
  delays ??= monitorEventLoopDelay({ resolution: resolutionMs })
  delays.reset()
  delays.enable()
  return Math.max(longest, 0)
}

const lookMs = 1
/** The types are those of an older Node. */
const { threadCpuUsage } = process as unknown as { threadCpuUsage: () => NodeJS.CpuUsage }
let looking: NodeJS.Timeout | undefined
let mostMicroseconds = 0

function longestStepMs(): number {
  const longest = mostMicroseconds
  mostMicroseconds = 0
  if (!looking) {
    let before = threadCpuUsage.call(process)
    looking = setInterval(() => {
      const now = threadCpuUsage.call(process)
      mostMicroseconds = Math.max(mostMicroseconds, now.user + now.system - before.user - before.system)
      before = now
    }, lookMs).unref()
  }
  return longest / 1_000
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
  step: longestStepMs,
}

process.on('message', (question: string) => process.send?.(answers[question]!()))
process.on('disconnect', () => process.exit())
