import { type ChildProcess, spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { Problem } from '../../kernel/problem.js'
import { giveWay, type StopSignal, stopGroup } from './os-process.js'
import { CommandFailure } from './run-command.js'

/** The order of a stop: doors first, so that no new work comes in; then workers; then the services they all write to. */
export const stopOrder = ['door', 'worker', 'service'] as const
export type Stage = (typeof stopOrder)[number]

interface ChildSpec {
  command: string
  args: readonly string[]
  stage: Stage
  env: NodeJS.ProcessEnv
  cwd: string
  /** Run as this user instead of ours (needs root). */
  user?: { uid: number; gid: number }
  stopSignal: StopSignal
  /** How long the child may take to end after `stopSignal` before it is killed. */
  graceMs: number
  /** Where standard output and error go: an open file descriptor, or 'pipe' to read them from `streams`. */
  output: number | 'pipe'
}

interface RunOptions {
  signal: AbortSignal
  user?: ChildSpec['user']
  env?: NodeJS.ProcessEnv
}

/** Tools (apt-get, initdb) clean up after themselves in no time; one that does not is not waited for. */
const toolGraceMs = 5_000

export interface ChildExit {
  code: number | null
  signal: NodeJS.Signals | null
  /** Why the command could not be started at all. */
  error?: Error
}

export interface Child {
  /** Undefined when the command could not be started. */
  pid: number | undefined
  exited: Promise<ChildExit>
  /** As `exited`, when everything it printed has been read too. */
  closed: Promise<ChildExit>
  streams: Readable[]
}

/** A server (PostgreSQL, Redis) that this runner has started. */
export interface OwnService {
  url: string
  port: number
  child: Child
}

/**
 * Everything this runner has started, each in a process group of its own: Ctrl-C in a terminal reaches only the runner, which
 * orders the stop. A guard process holds the other end of a pipe; when the runner dies without a word (kill -9), the guard stops
 * what is left, in the same order.
 */
export class Children {
  private readonly running = new Map<number, ChildSpec>()
  private isStopping = false
  private readonly guard: ChildProcess
  private readonly guardExited: Promise<void>

  constructor() {
    const script = fileURLToPath(new URL('./guard.js', import.meta.url))
    this.guard = spawn(process.execPath, [script], { detached: true, stdio: ['pipe', 'ignore', 'ignore'], cwd: '/' })
    this.guardExited = new Promise((resolve) => {
      for (const event of ['exit', 'error']) this.guard.once(event, () => resolve())
    })
    // The guard must not keep the runner alive, and a guard that was killed must not bring it down.
    this.guard.unref()
    this.guard.stdin?.on('error', () => {})
  }

  /** Starts a child. Throws ABORTED once a stop has begun, so that nothing is started behind its back. */
  start(spec: ChildSpec): Child {
    if (this.isStopping) throw new Problem('ABORTED', 'STOPPING', 'Stopping')
    const child = spawn(spec.command, spec.args, {
      cwd: spec.cwd,
      env: spec.env,
      detached: true,
      stdio: ['ignore', spec.output, spec.output],
      ...spec.user,
    })
    const { pid } = child
    if (pid !== undefined) {
      if (spec.stage === 'worker') giveWay(pid)
      this.running.set(pid, spec)
      this.guard.stdin?.write(`+ ${pid} ${spec.stage} ${spec.stopSignal} ${spec.graceMs}\n`)
    }
    const exited = new Promise<ChildExit>((resolve) => {
      child.once('error', (error) => {
        if (pid === undefined) resolve({ code: null, signal: null, error })
      })
      child.once('exit', (code, signal) => {
        if (pid !== undefined) this.forget(pid)
        resolve({ code, signal })
      })
    })
    const streams = [child.stdout, child.stderr].filter((stream) => stream !== null)
    const closed = Promise.all([exited, ...streams.map((stream) => new Promise((resolve) => stream.once('close', resolve)))])
    return { pid, exited, closed: closed.then(([exit]) => exit), streams }
  }

  /**
   * Runs a program to its end and answers what it printed. Throws a CommandFailure; `signal` stops it and what it has started, and its
   * reason is thrown once they are gone.
   */
  async run(command: string, args: readonly string[], options: RunOptions): Promise<string> {
    const { signal, user, env = process.env } = options
    signal.throwIfAborted()
    const child = this.start({
      command,
      args,
      stage: 'door',
      env,
      cwd: '/',
      user,
      stopSignal: 'SIGTERM',
      graceMs: toolGraceMs,
      output: 'pipe',
    })
    const { pid } = child
    const stop = () => pid !== undefined && void stopGroup(pid, 'SIGTERM', toolGraceMs)
    signal.addEventListener('abort', stop, { once: true })
    let output = ''
    for (const stream of child.streams) stream.setEncoding('utf8').on('data', (text) => (output += text))
    const exit = await child.closed
    signal.removeEventListener('abort', stop)
    signal.throwIfAborted()
    if (exit.code !== 0) throw new CommandFailure(command, output || exit.error?.message || '', exit.code ?? exit.signal)
    return output
  }

  /** Stops everything, stage by stage, and waits for it. Nothing can be started afterwards. Safe to repeat. */
  async stopAll(): Promise<void> {
    this.isStopping = true
    for (const stage of stopOrder) {
      const members = [...this.running].filter(([, spec]) => spec.stage === stage)
      await Promise.all(members.map(([pid, spec]) => stopGroup(pid, spec.stopSignal, spec.graceMs)))
    }
    // Nothing is left to guard: it ends, and is waited for, so that really nothing is left behind.
    this.guard.ref()
    this.guard.stdin?.end()
    await this.guardExited
  }

  /** Kills everything at once, without waiting. PostgreSQL and Redis recover what was acknowledged from their logs. */
  killAll(): void {
    this.isStopping = true
    for (const pid of this.running.keys()) {
      try {
        process.kill(-pid, 'SIGKILL')
      } catch {
        // Gone already.
      }
    }
  }

  private forget(pid: number): void {
    this.running.delete(pid)
    this.guard.stdin?.write(`- ${pid}\n`)
  }
}
