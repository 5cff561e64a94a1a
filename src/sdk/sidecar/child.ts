import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SidecarError } from './error.js'

const main = fileURLToPath(new URL('../../sidecar/child-main.js', import.meta.url))

/** What of the host's environment a sidecar may see: it has variables of its own that the host may use for something else. */
const inherited = ['PATH', 'HOME', 'TMPDIR', 'NODE_EXTRA_CA_CERTS', 'HTTPS_PROXY', 'TZ']

/** Waits before a sidecar that ended is started again; doubles up to the longest while it does not stay up. */
const shortestRestartMs = 100
const longestRestartMs = 5_000
/** A sidecar that ran so long was all right: the next one is started at once. */
const stableMs = 10_000
/** After the stop signal; then it is killed. */
const stopMs = 5_000

/**
 * A sidecar as a child process of this one, reached over a Unix domain socket in a folder that only this user can enter. It is started again when it
 * ends, and it ends with this process, however that ends: the channel between the two closes with it.
 */
export class SidecarChild {
  readonly #env: Record<string, string>
  readonly #folder = mkdtempSync(join(tmpdir(), 'tollgate-sidecar-'))
  #child: ChildProcess | undefined
  #restart: NodeJS.Timeout | undefined
  #restartMs = shortestRestartMs
  #isStopping = false
  #onExit: (code: number | null) => void = () => {}
  readonly #removeFolder = () => rmSync(this.#folder, { recursive: true, force: true })

  /** `env`: the sidecar's variables. */
  constructor(env: Record<string, string>) {
    this.#env = env
    process.once('exit', this.#removeFolder)
    this.#spawn()
  }

  get address(): string {
    return `unix:${this.#socketPath}`
  }

  get #socketPath(): string {
    return join(this.#folder, 'sidecar.sock')
  }

  /** The process that runs now; undefined between two. */
  get pid(): number | undefined {
    return this.#child?.pid
  }

  /** Fails as soon as the sidecar refuses its configuration; what it says about it is on standard error. */
  failure(): Promise<never> {
    return new Promise((_, reject) => {
      this.#onExit = (code) => {
        if (code === 1) reject(new SidecarError('FAILED_PRECONDITION', 'The sidecar did not start; its standard error says why'))
      }
    })
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    clearTimeout(this.#restart)
    const child = this.#child
    if (child) {
      const exited = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGTERM')
      const timer = setTimeout(() => child.kill('SIGKILL'), stopMs)
      await exited
      clearTimeout(timer)
    }
    process.off('exit', this.#removeFolder)
    this.#removeFolder()
  }

  #spawn(): void {
    const env: NodeJS.ProcessEnv = {}
    for (const name of inherited) if (process.env[name] !== undefined) env[name] = process.env[name]
    const own = { BIND_ADDRESS: '127.0.0.1', PORT: '0', SIDECAR_HTTP_PORT: '0', UNIX_SOCKET_PATH: this.#socketPath }
    // Its lines go to standard error: standard output is the host's.
    const child = spawn(process.execPath, [main], { env: { ...env, ...this.#env, ...own }, stdio: ['ignore', 2, 2, 'ipc'] })
    const startedAt = performance.now()
    this.#child = child
    // A host that has nothing else to do may end.
    child.unref()
    child.channel?.unref()
    child.once('error', () => this.#ended(startedAt, null))
    child.once('exit', (code) => this.#ended(startedAt, code))
  }

  #ended(startedAt: number, code: number | null): void {
    this.#child = undefined
    this.#onExit(code)
    if (this.#isStopping) return
    this.#restartMs = performance.now() - startedAt > stableMs ? shortestRestartMs : Math.min(this.#restartMs * 2, longestRestartMs)
    this.#restart = setTimeout(() => this.#spawn(), this.#restartMs)
    this.#restart.unref()
  }
}
