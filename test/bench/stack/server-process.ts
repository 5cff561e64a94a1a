import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { Problem } from '../../../src/kernel/problem.js'
import { residentMegabytesOf } from './process-figures.js'

const probe = new URL('./process-probe.js', import.meta.url).href
const startMs = 15_000
const stopMs = 5_000
/** Collecting the garbage of a large heap. */
const collectMs = 60_000

/** What a server's log line "listening" tells. */
interface Listening {
  grpcPort: number
  /** Health and metrics, where there are any. */
  httpPort?: number
}

/** A server under measurement, in a process of its own. It ends with this process, however this one ends. */
export class ServerProcess {
  private constructor(
    readonly name: string,
    private readonly child: ChildProcess,
    readonly ports: Listening,
    /** From its start until it listened. */
    readonly readyMs: number,
  ) {}

  /** Starts a compiled script with nothing but the given environment, and waits until it listens. */
  static async start(
    name: string,
    script: URL,
    { args = [], env = {}, nodeArgs = [] }: { args?: string[]; env?: Record<string, string>; nodeArgs?: string[] | undefined },
  ) {
    const startedAt = performance.now()
    const child = spawn(process.execPath, [...nodeArgs, '--import', probe, fileURLToPath(script), ...args], {
      env,
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    })
    const output: string[] = []
    const ports = await new Promise<Listening>((resolve, reject) => {
      const fail = (what: string) => {
        child.kill('SIGKILL')
        reject(new Problem('UNAVAILABLE', 'SERVER_NOT_STARTED', [`The ${name} server ${what}`, ...output].join('\n  ')))
      }
      const timer = setTimeout(fail, startMs, `did not listen within ${startMs / 1000} s`)
      child.once('error', (error) => fail(`could not be started: ${error.message}`))
      child.once('exit', (code) => fail(`exited with code ${code}`))
      // Read to the end, so that a server that logs more never waits for us.
      createInterface({ input: child.stdout! }).on('line', (line) => {
        const listening = readListening(line)
        if (listening === null) return void output.push(line)
        clearTimeout(timer)
        resolve(listening)
      })
    })
    return new ServerProcess(name, child, ports, Math.round(performance.now() - startedAt))
  }

  /** What it keeps in memory now. Linux only. */
  residentMegabytes(): number {
    return residentMegabytesOf(this.child.pid!)
  }

  /** Bytes of its heap after its garbage was collected; needs `--expose-gc` among its node arguments. */
  heapBytes(): Promise<number> {
    return this.#ask('heap', collectMs)
  }

  /** CPU time of all its threads since it started. */
  cpuMicroseconds(): Promise<number> {
    return this.#ask('cpu', stopMs)
  }

  /** What a body of 5 MiB takes in one go, in milliseconds of CPU: how fast the machine is now. */
  bodyStepMs(): Promise<number> {
    return this.#ask('body', stopMs)
  }

  async #ask(question: string, timeoutMs: number): Promise<number> {
    const answer = once(this.child, 'message', { signal: AbortSignal.timeout(timeoutMs) })
    this.child.send(question)
    const [figure] = (await answer) as [number]
    return figure
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return
    const exit = once(this.child, 'exit')
    this.child.kill('SIGTERM')
    const timer = setTimeout(() => this.child.kill('SIGKILL'), stopMs)
    await exit
    clearTimeout(timer)
  }
}

function readListening(line: string): Listening | null {
  if (!line.startsWith('{')) return null
  const fact = JSON.parse(line) as Listening & { msg?: string }
  return fact.msg === 'listening' ? fact : null
}
