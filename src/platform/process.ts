import { type Config, type ConfigCheck, ConfigError, type ConfigSpec, type processVariables, readConfig, variableTable } from './config.js'
import { traceFields } from './context/tracing.js'
import { createHealthServer, type HealthSource, listen, type Readiness, StartError } from './health.js'
import { createLogger, type Logger } from './logger.js'
import { createMetrics, type Registry } from './metrics.js'

/** How old the checks may be that a probe is answered of. */
const recentMs = 1_000

/**
 * The life of a process or of a test: what is opened here is closed here, in reverse order, and every failure is reported.
 *
 * Stopping has five beats: readiness off, stop taking work, drain, close in reverse order of opening, exit.
 */
export class Life {
  /** Those that were begun and not stopped: what a test has left open. */
  static readonly running = new Set<Life>()

  readonly #stoppers: Registered[] = []
  readonly #closers: Registered[] = []
  readonly #checks: Array<() => Readiness | Promise<Readiness>> = []
  readonly #listeners: Array<(error: unknown) => void> = []
  readonly #stopping = new AbortController()
  readonly #closing = new Set<string>()
  #asked: { at: number; results: Promise<Readiness[]> } | undefined
  #stopped: Promise<Error[]> | undefined

  constructor(
    readonly name: string,
    readonly log: Logger,
    readonly metrics: Registry = createMetrics(name),
  ) {
    Life.running.add(this)
  }

  /** Aborts when stopping begins. */
  get signal(): AbortSignal {
    return this.#stopping.signal
  }

  /** Registers the close of something that was opened, and answers it. */
  open<T>(label: string, value: T, close: (value: T) => unknown): T {
    this.#closers.push({ label, run: async () => close(value) })
    return value
  }

  /** Registers "take no more work and finish what is in flight": runs before anything is closed. */
  onStop(label: string, run: () => unknown): void {
    this.#stoppers.push({ label, run: async () => run() })
  }

  /** Registers who is told of unexpected errors, besides the log. */
  onUnexpected(listener: (error: unknown) => void): void {
    this.#listeners.push(listener)
  }

  /** Tells of an error that no caller, and nothing that is away, is the cause of. */
  unexpected(error: unknown): void {
    for (const listener of this.#listeners) listener(error)
  }

  /** Registers a condition of readiness. Its facts are merged into the answer of `/readyz`. */
  readyWhen(check: () => Readiness | Promise<Readiness>): void {
    this.#checks.push(check)
    this.#asked = undefined
  }

  /** DOWN while stopping or when any check is. */
  readiness(): Promise<Readiness> {
    return this.#readinessOf(this.#ask())
  }

  /** The same, of checks that were asked up to a second ago: whoever asks in a loop has others asked no more often. */
  recentReadiness(): Promise<Readiness> {
    const now = performance.now()
    if (!this.#asked || now - this.#asked.at >= recentMs) this.#asked = { at: now, results: this.#ask() }
    return this.#readinessOf(this.#asked.results)
  }

  async #ask(): Promise<Readiness[]> {
    return Promise.all(this.#checks.map((check) => check()))
  }

  async #readinessOf(asked: Promise<Readiness[]>): Promise<Readiness> {
    const results = await asked
    const isUp = !this.signal.aborted && results.every((result) => result.status === 'UP')
    return { ...Object.assign({}, ...results), status: isUp ? 'UP' : 'DOWN' }
  }

  /** Serves `/livez`, `/readyz` and `/metrics`; answers the port. */
  async serveHealth(address: { port: number; host: string }, options: Omit<HealthSource, 'ready' | 'metrics'> = {}): Promise<number> {
    const server = createHealthServer({ ready: () => this.recentReadiness(), metrics: this.metrics, ...options })
    const port = await listen(server, address)
    this.open('health server', server, (s) => {
      s.closeAllConnections()
      s.close()
    })
    return port
  }

  /** What is being stopped or closed right now: after the shutdown deadline, what did not end. */
  get closing(): string[] {
    return [...this.#closing]
  }

  /** Stops and closes everything once; answers the failures. Never rejects. */
  stop(): Promise<Error[]> {
    this.#stopped ??= this.#stopNow()
    return this.#stopped
  }

  async #stopNow(): Promise<Error[]> {
    this.#stopping.abort()
    const failures: Error[] = []
    const attempt = async ({ label, run }: Registered) => {
      this.#closing.add(label)
      try {
        await run()
      } catch (cause) {
        failures.push(new Error(`closing ${label} failed`, { cause }))
      } finally {
        this.#closing.delete(label)
      }
    }
    await Promise.all(this.#stoppers.map(attempt))
    for (const closer of this.#closers.reverse()) await attempt(closer)
    Life.running.delete(this)
    return failures
  }
}

interface Registered {
  label: string
  run: () => Promise<unknown>
}

export interface ProcessDefinition<Spec extends ConfigSpec> {
  name: string
  spec: Spec
  check?: ConfigCheck<Spec>
  /** Asked for when OTEL_EXPORTER_OTLP_ENDPOINT is set. Absent: the process makes no traces. */
  loadTracing?: () => Promise<{ startTracing(life: Life, options: { flushMs: number }): void }>
}

/** For the spans of a process that ends. */
const longestFlushMs = 2_000

/**
 * Runs one process: reads its configuration (`--check-config` stops after that, `--help` tells of it instead), starts it, and stops it in order on
 * SIGTERM or SIGINT.
 * A second signal, or the shutdown deadline, ends it at once with exit code 1.
 */
export async function runProcess<Spec extends ConfigSpec>(
  { name, spec, check, loadTracing }: ProcessDefinition<Spec>,
  start: (config: Config<Spec>, life: Life) => Promise<void>,
): Promise<void> {
  const startedAt = performance.now()
  const config = readConfigOrExit(name, spec, check)
  const {
    LOG_LEVEL = 'info',
    SHUTDOWN_TIMEOUT_MS = 10_000,
    OTEL_EXPORTER_OTLP_ENDPOINT,
  } = config as Partial<Config<typeof processVariables>>
  const tracing = OTEL_EXPORTER_OTLP_ENDPOINT === undefined ? undefined : loadTracing
  const log = createLogger({ process: name, level: LOG_LEVEL, ...(tracing && { mixin: traceFields }) })
  const life = new Life(name, log)

  const stop = async (exitCode: number) => {
    if (life.signal.aborted) process.exit(1)
    const deadline = setTimeout(() => {
      log.error({ timeoutMs: SHUTDOWN_TIMEOUT_MS, unfinished: life.closing }, 'shutdown deadline passed, exiting with work unfinished')
      process.exit(1)
    }, SHUTDOWN_TIMEOUT_MS)
    const failures = await life.stop()
    clearTimeout(deadline)
    for (const failure of failures) log.warn({ err: failure }, 'shutdown step failed')
    log.info('stopped')
    process.exit(exitCode)
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (!life.signal.aborted) log.info({ signal }, 'stopping')
      void stop(0)
    })
  }
  const crash = (error: unknown) => {
    log.fatal({ err: error }, 'unexpected error, stopping')
    life.unexpected(error)
    void stop(1)
  }
  process.on('uncaughtException', crash)
  process.on('unhandledRejection', crash)

  try {
    // Closed after everything that may still make spans, within the time that is left.
    if (tracing) (await tracing()).startTracing(life, { flushMs: Math.min(longestFlushMs, SHUTDOWN_TIMEOUT_MS / 5) })
    await start(config, life)
    log.info({ startupMs: Math.round(performance.now() - startedAt) }, 'started')
  } catch (error) {
    if (life.signal.aborted) return
    if (error instanceof StartError) log.fatal(error.message)
    else {
      log.fatal({ err: error }, 'could not start')
      life.unexpected(error)
    }
    await stop(1)
  }
}

function readConfigOrExit<Spec extends ConfigSpec>(name: string, spec: Spec, check: ConfigCheck<Spec> | undefined): Config<Spec> {
  if (process.argv.includes('--help')) {
    process.stdout.write(`${name} reads these environment variables. With --check-config it only checks them.\n\n${variableTable(spec)}\n`)
    process.exit(0)
  }
  try {
    const config = readConfig(spec, process.env, check)
    if (process.argv.includes('--check-config')) {
      process.stdout.write(`${name}: configuration is valid\n`)
      process.exit(0)
    }
    return config
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    process.stderr.write(
      `${name}: the configuration has ${error.problems.length} problem(s)\n${error.problems.map((p) => `  ${p}\n`).join('')}`,
    )
    process.exit(1)
  }
}
