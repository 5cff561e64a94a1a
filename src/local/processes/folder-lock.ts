import { mkdirSync, readFileSync, renameSync, rmSync, unlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { isRunning } from './os-process.js'

interface Owner {
  pid: number
  /** The name of the program's script: a process id may have been given to another program since. */
  script: string
}

/** Locks of this very process: a file with our process id that is not among them was left by an earlier process with the same id. */
const held = new Set<string>()

function readOwner(file: string): Owner | null {
  try {
    const [pid, script] = readFileSync(file, 'utf8').split('\n')
    return script === undefined ? null : { pid: Number(pid), script }
  } catch {
    return null
  }
}

const sameOwner = (a: Owner | null, b: Owner | null) => a?.pid === b?.pid && a?.script === b?.script

/**
 * Takes a lock file. Answers `{ release }`, or the id of the running process that holds it. A lock whose process is gone is taken
 * over. Two processes never hold it at once.
 */
export function takeLock(file: string): { release: () => void } | { heldBy: number } {
  mkdirSync(dirname(file), { recursive: true })
  for (let attempt = 0; ; attempt++) {
    try {
      writeFileSync(file, `${process.pid}\n${basename(process.argv[1] ?? 'node')}`, { flag: 'wx', mode: 0o600 })
      held.add(file)
      return {
        release: () => {
          if (held.delete(file)) rmSync(file, { force: true })
        },
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    if (held.has(file)) return { heldBy: process.pid }
    const owner = readOwner(file)
    // No owner: its writer is between creating and writing. If it stays so for half a second, the writer died there.
    if (owner === null && attempt < 50) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)
    else if (owner && owner.pid !== process.pid && isRunning(owner.pid, owner.script)) return { heldBy: owner.pid }
    else setAside(file, owner)
  }
}

/** Removes a stale lock. Someone may have replaced it between our look and our move: that one is given back. */
function setAside(file: string, stale: Owner | null): void {
  const aside = `${file}.${process.pid}`
  try {
    renameSync(file, aside)
    if (sameOwner(readOwner(aside), stale)) unlinkSync(aside)
    else renameSync(aside, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}
