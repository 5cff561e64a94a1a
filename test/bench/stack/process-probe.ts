// Loaded into a process under measurement (`node --import`), which is ended when who measures is gone. Answers
//   cpu      the CPU time that the process used so far, in microseconds
//   heap     the bytes of its heap after a garbage collection; needs --expose-gc
//   collect  0, when garbage is collected and the memory of it given back; needs --expose-gc
//   delay    the longest time that its event loop stood still since the question before, in milliseconds
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
}

process.on('message', (question: string) => process.send?.(answers[question]!()))
process.on('disconnect', () => process.exit())
