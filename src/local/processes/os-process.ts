import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'

/** Signals that ask a process to end in an orderly way. PostgreSQL takes SIGINT as "disconnect everyone and stop". */
export type StopSignal = 'SIGTERM' | 'SIGINT'

function signalTarget(target: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(target, signal)
    return true
  } catch (error) {
    // EPERM: it exists and belongs to someone else.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Whether a process with this id runs. One that has ended and waits to be collected by its parent does not count. */
export function isAlive(pid: number): boolean {
  return signalTarget(pid, 0) && readStat(pid)?.state !== 'Z'
}

/** What Linux knows about a process; null elsewhere, or when it is gone. The command's name is skipped: it may contain anything. */
function readStat(pid: number): { state: string; parent: number; group: number } | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const [state, parent, group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { state: state ?? '', parent: Number(parent), group: Number(group) }
  } catch {
    return null
  }
}

/** A niceness: a third of the processor time of what has none, where both want all of it. */
const givingWay = 5

/** Puts a process that has just been started after those that answer callers: its threads, of which there is one yet, inherit it. */
export function giveWay(pid: number): void {
  try {
    setPriority(pid, Math.max(givingWay, getPriority(pid)))
  } catch {
    // It has ended already.
  }
}

/** Whether the process runs and its command line contains `mention`: a process id alone may have been given to someone else since. */
export function isRunning(pid: number, mention: string): boolean {
  if (!isAlive(pid)) return false
  return commandLine(pid).includes(mention)
}

/** The parent of a process; null when it is gone, or where there is no /proc. */
export const parentOf = (pid: number): number | null => readStat(pid)?.parent ?? null

/** The command line of a process; empty when it is gone. */
export function commandLine(pid: number): string {
  if (existsSync('/proc/self/cmdline')) {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
    } catch {
      return ''
    }
  }
  return spawnSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).stdout ?? ''
}

/**
 * Stops the process group that `pid` leads, and waits until it is gone: first as asked by `signal`, after `graceMs` by force.
 * Safe to repeat; nothing happens when the group is gone already.
 */
export async function stopGroup(pid: number, signal: StopSignal, graceMs: number): Promise<void> {
  const deadline = performance.now() + graceMs
  if (!signalTarget(-pid, signal)) {
    // Not a group leader (started by hand, or by something that does not make groups): the process alone.
    if (!signalTarget(pid, signal)) return
  }
  while (isAlive(pid) || isGroupAlive(pid)) {
    if (performance.now() > deadline) {
      signalTarget(-pid, 'SIGKILL')
      signalTarget(pid, 'SIGKILL')
      return
    }
    await sleep(10)
  }
}

/** Ended members that nobody collects (a container whose first process does not care) keep a group's name in use: they do not count. */
function isGroupAlive(group: number): boolean {
  if (!signalTarget(-group, 0)) return false
  if (!existsSync('/proc/self/stat')) return true
  return readdirSync('/proc').some((entry) => {
    const member = /^\d+$/.test(entry) ? readStat(Number(entry)) : null
    return member !== null && member.group === group && member.state !== 'Z'
  })
}
