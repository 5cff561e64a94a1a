import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Problem } from '../../../src/kernel/problem.js'
import { parseProcfile, programOf } from '../../../src/local/processes/procfile.js'
import { residentMegabytesOf } from './process-figures.js'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
const probe = new URL('./cpu-probe.js', import.meta.url).href
const startMs = 30_000

/** One process of ours under load. It ends with this process, however this one ends. */
export class StackProcess {
  private constructor(
    readonly name: string,
    private readonly child: ChildProcess,
    readonly url: string,
    /** Base of /metrics. */
    readonly metricsUrl: string,
  ) {}

  /** Starts a process of the Procfile on a free port, and waits until it is ready. */
  static async start(name: string, env: Record<string, string>): Promise<StackProcess> {
    const [port, metricsPort] = [await freePort(), await freePort()]
    const line = parseProcfile(readFileSync(join(root, 'Procfile'), 'utf8')).find((one) => one.name === name)!
    const { command, args } = programOf(line.command)
    const options = process.env.BENCH_NODE_OPTIONS?.split(' ') ?? []
    const child = spawn(command, [...options, '--import', probe, ...args], {
      cwd: root,
      env: {
        PATH: process.env.PATH,
        LOG_LEVEL: 'warn',
        BIND_ADDRESS: '127.0.0.1',
        PORT: String(port),
        METRICS_PORT: String(metricsPort),
        ...env,
      },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    const started = new StackProcess(name, child, `http://127.0.0.1:${port}`, `http://127.0.0.1:${name === 'web' ? metricsPort : port}`)
    const end = performance.now() + startMs
    while (!(await started.isReady())) {
      if (child.exitCode !== null || performance.now() > end)
        throw new Problem('UNAVAILABLE', 'SERVER_NOT_STARTED', `${name} did not start`)
      await sleep(50)
    }
    return started
  }

  async isReady(): Promise<boolean> {
    const answer = await fetch(`${this.url}/readyz`).catch(() => null)
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
  async cpuMicroseconds(): Promise<number> {
    const answer = once(this.child, 'message', { signal: AbortSignal.timeout(5_000) })
    this.child.send('cpu')
    return ((await answer) as [number])[0]
  }

  /** What it keeps in memory now. Linux only. */
  residentMegabytes(): number {
    return residentMegabytesOf(this.pid)
  }

  kill(): void {
    this.child.kill('SIGKILL')
  }

  /** Has it stand still, its connections open, for as long as `work` takes. */
  async whileFrozen<T>(work: () => Promise<T>): Promise<T> {
    this.child.kill('SIGSTOP')
    try {
      return await work()
    } finally {
      this.child.kill('SIGCONT')
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
