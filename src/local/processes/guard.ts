// Stops what a runner leaves behind. It reads the runner's list from a pipe ("+ pid stage signal graceMs", "- pid"); the pipe's end
// means that the runner is gone, however that happened. It opens nothing and logs nothing: it must outlive any trouble.
import { createInterface } from 'node:readline'
import { type Stage, stopOrder } from './children.js'
import { type StopSignal, stopGroup } from './os-process.js'

interface Entry {
  stage: Stage
  stopSignal: StopSignal
  graceMs: number
}

const entries = new Map<number, Entry>()
// The terminal's signals are the runner's business; this process ends when the runner has.
for (const signal of ['SIGINT', 'SIGHUP', 'SIGTERM'] as const) process.on(signal, () => {})

for await (const line of createInterface({ input: process.stdin })) {
  const [sign, pid, stage, stopSignal, graceMs] = line.split(' ')
  if (sign === '+') entries.set(Number(pid), { stage: stage as Stage, stopSignal: stopSignal as StopSignal, graceMs: Number(graceMs) })
  else entries.delete(Number(pid))
}

for (const stage of stopOrder) {
  const members = [...entries].filter(([, entry]) => entry.stage === stage)
  await Promise.all(members.map(([pid, entry]) => stopGroup(pid, entry.stopSignal, entry.graceMs)))
}
