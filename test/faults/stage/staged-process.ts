import { setTimeout as sleep } from 'node:timers/promises'
import type { Life } from '../../../src/platform/process.js'
import { StackProcess } from '../../bench/stack/stack-process.js'
import type { TcpProxy } from '../../support/tcp-proxy.js'
import type { Link } from './process-types.js'

/** As the runner of `npm start` waits before it starts a process again. */
const restartMs = 1_000
const launchTries = 5

export interface StagedParts {
  /** With the number of the copy: `web-1`. */
  name: string
  /** As in the Procfile. */
  type: string
  /** Over which it reaches others. */
  links: Partial<Record<Link, TcpProxy>>
  /** By which others reach it; absent where nobody does. */
  door?: TcpProxy
  env: Record<string, string>
  onLine: (line: string) => void
}

/** A process of the Procfile that is started again when it ends, as a process manager does, and by nobody's hand. */
export class StagedProcess {
  #current: StackProcess | null = null
  #nodeArgs: readonly string[] = []
  #isPaused = false
  /** How often it was started. */
  starts = 0

  constructor(
    private readonly life: Life,
    private readonly parts: StagedParts,
  ) {}

  get name(): string {
    return this.parts.name
  }

  get type(): string {
    return this.parts.type
  }

  get links(): StagedParts['links'] {
    return this.parts.links
  }

  /** Null while it waits to be started again. */
  get pid(): number | null {
    return this.#current?.isRunning ? this.#current.pid : null
  }

  /** Keeps it running until the end of the stage. */
  async run(): Promise<void> {
    const { type, env, door, onLine } = this.parts
    this.life.onStop(this.name, () => this.#stop())
    const { signal } = this.life
    while (!signal.aborted) {
      const nodeArgs = ['--expose-gc', '--max-old-space-size=512', ...this.#nodeArgs]
      const started = await StackProcess.launch(type, env, { nodeArgs, onLine })
      this.starts += 1
      this.#current = started
      this.#isPaused = false
      door?.leadTo(started.url)
      await started.exited
      await sleep(restartMs, undefined, { signal }).catch(() => undefined)
    }
  }

  async #stop(): Promise<void> {
    if (this.#isPaused) this.resume()
    await this.#current?.stop()
  }

  async isReady(): Promise<boolean> {
    return this.pid !== null && !this.#isPaused && (await this.#current!.isReady())
  }

  /** Without a word. */
  kill(): void {
    if (this.pid !== null) this.#current!.kill()
  }

  pause(): void {
    if (this.pid === null) return
    this.#isPaused = true
    this.#current!.pause()
  }

  resume(): void {
    this.#isPaused = false
    if (this.pid !== null) this.#current!.resume()
  }

  /** Stops it in its order; it comes back with these arguments of Node beside the usual ones. */
  async restart(nodeArgs: readonly string[]): Promise<void> {
    this.#nodeArgs = nodeArgs
    const { starts } = this
    await this.#current?.stop()
    for (let tries = 0; this.starts === starts && tries < launchTries * 10 && !this.life.signal.aborted; tries++) await sleep(restartMs / 5)
  }

  /** What it holds once its garbage is collected; NaN when it does not tell. */
  async heapMb(): Promise<number> {
    return this.pid === null ? Number.NaN : this.#current!.heapMegabytes().catch(() => Number.NaN)
  }

  get healthUrl(): string {
    return this.#current!.healthUrl
  }
}
