import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Problem } from '../../../src/kernel/problem.js'
import { stageOf } from '../../../src/local/process-wiring.js'
import { giveWay } from '../../../src/local/processes/os-process.js'
import { parseProcfile, programOf } from '../../../src/local/processes/procfile.js'
import { testSecretsKey } from '../../support/webhooks.js'
import { residentMegabytesOf } from './process-figures.js'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
const probe = new URL('./process-probe.js', import.meta.url).href
const startMs = 90_000
/** Of an answer about readiness: who stands still gives none. */
const readyMs = 5_000
/** A loop that stands still answers when it goes on. */
const answerMs = 60_000

export interface StartOptions {
  nodeArgs?: readonly string[]
  /** Hears what it logs: warnings and worse, unless its environment says more. */
  onLine?: (line: string) => void
}

/** One process of ours under load. It ends with this process, however this one ends. */
export class StackProcess {
  /** When it has ended, however. */
  readonly exited: Promise<void>

  private constructor(
    readonly name: string,
    private readonly child: ChildProcess,
    readonly url: string,
    /** Base of /readyz and /metrics. */
    readonly healthUrl: string,
  ) {
    this.exited = new Promise((resolve) => child.once('exit', () => resolve()))
  }

  /** Starts a process of the Procfile on a free port, and waits until it is ready. */
  static async start(name: string, env: Record<string, string>, options: StartOptions = {}): Promise<StackProcess> {
    const started = await StackProcess.launch(name, env, options)
    const end = performance.now() + startMs
    while (!(await started.isReady())) {
      if (!started.isRunning || performance.now() > end) throw new Problem('UNAVAILABLE', 'SERVER_NOT_STARTED', `${name} did not start`)
      await sleep(50)
    }
    return started
  }

  /** The same without waiting. */
  static async launch(name: string, env: Record<string, string>, { nodeArgs = [], onLine }: StartOptions = {}): Promise<StackProcess> {
    const port = await freePort()
    // Sidecar and web process answer health and metrics on a port beside their own.
    const beside = { sidecar: 'SIDECAR_HTTP_PORT', web: 'METRICS_PORT' }[name]
    const healthPort = beside === undefined ? port : await freePort()
    const line = parseProcfile(readFileSync(join(root, 'Procfile'), 'utf8')).find((one) => one.name === name)!
    const { command, args } = programOf(line.command)
    const options = [...(process.env.BENCH_NODE_OPTIONS?.split(' ') ?? []), ...nodeArgs]
    const child = spawn(command, [...options, '--import', probe, ...args], {
      cwd: root,
      env: {
        PATH: process.env.PATH,
        LOG_LEVEL: 'warn',
        BIND_ADDRESS: '127.0.0.1',
        SECRETS_KEY: testSecretsKey,
        WEBHOOK_TARGETS: 'loopback',
        PORT: String(port),
        ...(beside !== undefined && { [beside]: String(healthPort) }),
        ...env,
      },
      stdio: ['ignore', onLine ? 'pipe' : 'ignore', 'inherit', 'ipc'],
    })
    if (stageOf(name) === 'worker') giveWay(child.pid!)
    if (onLine) createInterface({ input: child.stdout! }).on('line', onLine)
    return new StackProcess(name, child, `http://127.0.0.1:${port}`, `http://127.0.0.1:${healthPort}`)
  }

  async isReady(): Promise<boolean> {
    const answer = await fetch(`${this.healthUrl}/readyz`, { signal: AbortSignal.timeout(readyMs) }).catch(() => null)
    await answer?.arrayBuffer()
    return answer?.status === 200
  }

  get pid(): number {
    return this.child.pid!
  }

  get isRunning(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null
  }

  /** CPU time of all its threads since it started. */
  cpuMicroseconds(): Promise<number> {
    return this.#ask('cpu')
  }

  /** The longest time that its event loop stood still since this was asked before; the first answer is 0. */
  longestDelayMs(): Promise<number> {
    return this.#ask('delay')
  }

  /** The most CPU time that its main thread took without serving anybody else since this was asked before, but for garbage; the first answer is 0. */
  longestStepMs(): Promise<number> {
    return this.#ask('step')
  }

  /** The longest collection of garbage before `longestStepMs` was asked. */
  longestCollectionMs(): Promise<number> {
    return this.#ask('gc')
  }

  /** Has it collect its garbage, and give back what it needs no more; needs `--expose-gc` among its node arguments. */
  async collectGarbage(): Promise<void> {
    await this.#ask('collect')
  }

  /** Fails when it does not answer in time. */
  async #ask(question: string): Promise<number> {
    const answer = once(this.child, 'message', { signal: AbortSignal.timeout(answerMs) })
    this.child.send(question)
    return ((await answer) as [number])[0]
  }

  /** Of its heap after its garbage was collected; needs `--expose-gc` among its node arguments. */
  async heapMegabytes(): Promise<number> {
    return Math.round((await this.#ask('heap')) / 104_857.6) / 10
  }

  /** What it keeps in memory now. Linux only. */
  residentMegabytes(): number {
    return residentMegabytesOf(this.pid)
  }

  kill(): void {
    this.child.kill('SIGKILL')
  }

  /** Has it stand still, its connections open. */
  pause(): void {
    this.child.kill('SIGSTOP')
  }

  resume(): void {
    this.child.kill('SIGCONT')
  }

  /** Has it stand still for as long as `work` takes. */
  async whileFrozen<T>(work: () => Promise<T>): Promise<T> {
    this.pause()
    try {
      return await work()
    } finally {
      this.resume()
    }
  }

  async stop(): Promise<void> {
    if (!this.isRunning) return
    const exit = once(this.child, 'exit')
    this.child.kill('SIGTERM')
    const timer = setTimeout(() => this.child.kill('SIGKILL'), 12_000)
    await exit
    clearTimeout(timer)
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}
