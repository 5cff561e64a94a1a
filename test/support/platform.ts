import { type ChildProcess, fork } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { GraphqlClient, SidecarClient } from '../../src/local/demo/clients.js'
import { type PlatformFile, readPlatform } from '../../src/local/platform-file.js'
import { isAlive } from '../../src/local/processes/os-process.js'
import { createTestDatabase, type TestDatabase } from './database.js'
import { eventually } from './eventually.js'
import { OwnRedis } from './own-redis.js'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const runnerFile = fileURLToPath(new URL('./platform-runner.js', import.meta.url))
const startMs = 60_000
const stopMs = 30_000
/** Servers that trust the loopback interface take any password; this one is looked for in the logs. */
const passwordForTrustingServer = 'e2e-database-password'

/**
 * Every process of the Procfile, run as `npm start` runs them, from a folder of its own: on free ports, with a database and a Redis of its own, so
 * that it meets neither a developer's platform nor another test run.
 */
export class TestPlatform {
  /** What the processes printed: `name | line`. */
  readonly lines: string[] = []
  readonly #folder = mkdtempSync(join(tmpdir(), 'tollgate-e2e-'))
  readonly redis = new OwnRedis(this.#folder)
  #database: TestDatabase | undefined
  #runner: ChildProcess | undefined
  #clients: { api: GraphqlClient; sidecar: SidecarClient } | undefined

  async start(): Promise<void> {
    for (const name of ['dist', 'Procfile']) symlinkSync(join(root, name), join(this.#folder, name))
    this.#database = await createTestDatabase()
    const databaseUrl = new URL(this.#database.url)
    databaseUrl.password ||= passwordForTrustingServer
    await this.redis.start()
    this.#runner = fork(runnerFile, [this.#folder], {
      env: {
        PATH: process.env.PATH,
        TMPDIR: tmpdir(),
        DATABASE_URL: databaseUrl.href,
        REDIS_URL: this.redis.url,
        LOG_LEVEL: 'debug',
      },
      execArgv: [],
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    })
    for (const input of [this.#runner.stdout, this.#runner.stderr])
      createInterface({ input: input! }).on('line', (line) => this.lines.push(line))
    const { webUrl, serverApiKey, sidecarAddress } = await eventually('the platform to be ready', () => this.#found(), startMs)
    this.#clients = { api: new GraphqlClient(webUrl, serverApiKey), sidecar: new SidecarClient(sidecarAddress) }
  }

  #found(): PlatformFile | null {
    if (this.#runner?.exitCode !== null) throw new Error(`The platform did not start:\n${this.lines.slice(-30).join('\n')}`)
    return readPlatform(join(this.#folder, '.data'))
  }

  /** As it is now: process ids change. */
  get file(): PlatformFile {
    const file = this.#found()
    if (!file) throw new Error('The platform does not run')
    return file
  }

  get api(): GraphqlClient {
    return this.#clients!.api
  }

  get sidecar(): SidecarClient {
    return this.#clients!.sidecar
  }

  pidOf(name: string): number {
    const pid = this.file.processes[name]?.pid
    if (!pid) throw new Error(`${name} does not run now`)
    return pid
  }

  /** Kills a process without a word. The runner starts it again, a second later at the earliest: `back` waits until it is ready. */
  kill(name: string): { back: () => Promise<void> } {
    const killed = this.pidOf(name)
    process.kill(killed, 'SIGKILL')
    const isBack = async () => {
      const { pid, healthUrl } = this.file.processes[name]!
      return pid !== null && pid !== killed && isReady(healthUrl)
    }
    return { back: async () => void (await eventually(`${name} to be back`, isBack)) }
  }

  /** Has a process stand still, its connections open, for as long as `work` takes. */
  async whileFrozen<T>(name: string, work: () => Promise<T>): Promise<T> {
    const pid = this.pidOf(name)
    process.kill(pid, 'SIGSTOP')
    try {
      return await work()
    } finally {
      if (isAlive(pid)) process.kill(pid, 'SIGCONT')
    }
  }

  async stop(): Promise<void> {
    this.#clients?.sidecar.close()
    const runner = this.#runner
    if (runner && runner.exitCode === null && runner.signalCode === null) {
      const exited = new Promise((resolve) => runner.once('exit', resolve))
      runner.kill('SIGTERM')
      // What the runner started is stopped by its guard then.
      const timer = setTimeout(() => runner.kill('SIGKILL'), stopMs)
      await exited
      clearTimeout(timer)
    }
    await this.redis.stop()
    await this.#database?.drop()
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

async function isReady(healthUrl: string): Promise<boolean> {
  try {
    const response = await fetch(`${healthUrl}/readyz`, { signal: AbortSignal.timeout(2_000) })
    await response.arrayBuffer()
    return response.status === 200
  } catch {
    return false
  }
}

/** One platform for all files of a run, started by the first that needs it. */
let shared: { platform: TestPlatform; started: Promise<void> } | undefined
let users = 0

async function stopShared(): Promise<void> {
  const stopping = shared
  shared = undefined
  await stopping?.platform.stop()
}

/** When `--grep` leaves out a whole file, its own hooks do not run. */
after('stop the platform', async function () {
  this.timeout(stopMs + 15_000)
  await stopShared()
})

/** The platform, for the tests of the suite that calls this; stopped after the last suite that does. */
export function usePlatform(): () => TestPlatform {
  users += 1
  before('start the platform', async function () {
    this.timeout(startMs + 15_000)
    if (!shared) {
      const platform = new TestPlatform()
      shared = { platform, started: platform.start() }
    }
    await shared.started
  })
  afterEach('show what the processes complained about', function () {
    if (this.currentTest?.state !== 'failed') return
    const complaints = shared?.platform.lines.filter((line) => /"level":"(warn|error|fatal)"|^tollgate /.test(line)) ?? []
    console.error(complaints.slice(-25).join('\n'))
  })
  after('stop the platform', async function () {
    this.timeout(stopMs + 15_000)
    users -= 1
    if (users === 0) await stopShared()
  })
  return () => shared!.platform
}
