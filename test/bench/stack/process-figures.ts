/** What Linux tells of processes; nothing elsewhere, or when they are gone. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'

/** On every machine that runs Linux. */
const ticksPerSecond = 100

interface ProcessStat {
  /** Of the program, as the kernel calls it. */
  command: string
  parent: number
  ticks: number
  /** Of children that have ended. */
  endedTicks: number
}

function readStat(pid: number): ProcessStat | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const end = stat.lastIndexOf(')')
    const fields = stat.slice(end + 2).split(' ')
    const sum = (from: number) => Number(fields[from]) + Number(fields[from + 1])
    return { command: stat.slice(stat.indexOf('(') + 1, end), parent: Number(fields[1]), ticks: sum(11), endedTicks: sum(13) }
  } catch {
    return null
  }
}

/** The program that runs under the id. */
export const commandOf = (pid: number): string | null => readStat(pid)?.command ?? null

/** CPU time of a process and of all that it has started, of those that have ended too, to the hundredth of a second. */
export function cpuMicrosecondsOf(pid: number): number {
  const own = readStat(pid)
  if (!own) return 0
  let ticks = own.ticks + own.endedTicks
  for (const entry of readdirSync('/proc')) {
    const stat = /^\d+$/.test(entry) ? readStat(Number(entry)) : null
    if (stat?.parent === pid) ticks += stat.ticks
  }
  return (ticks / ticksPerSecond) * 1_000_000
}

/** What a process keeps in memory now; NaN where it cannot be known. */
export function residentMegabytesOf(pid: number): number {
  const file = `/proc/${pid}/status`
  const kilobytes = existsSync(file) ? /VmRSS:\s+(\d+)/.exec(readFileSync(file, 'utf8'))?.[1] : undefined
  return Math.round(Number(kilobytes) / 100) / 10
}
