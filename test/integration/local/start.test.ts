import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { getPriority } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { type PlatformFile, readPlatform } from '../../../src/local/platform-file.js'
import { isAlive } from '../../../src/local/processes/os-process.js'
import { requiredVariable } from '../../support/database.js'
import { eventually } from '../../support/eventually.js'
import { scratchFolder } from './scratch.js'

const fixture = fileURLToPath(new URL('./start-fixture.js', import.meta.url))

/** A process that writes down its environment, answers health, and notes when it was asked to stop. */
const serverSource = `
import { appendFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
const name = process.argv[2]
writeFileSync('environment-' + name + '.json', JSON.stringify(process.env))
if (process.env.FIXTURE_FAIL === name) { console.error('no luck'); process.exit(3) }
const server = createServer((request, response) => response.end('{"status":"UP"}'))
server.listen(Number(name === 'sidecar' ? process.env.SIDECAR_HTTP_PORT : process.env.PORT), '127.0.0.1')
process.on('SIGTERM', () => { appendFileSync('stopped.txt', name + '\\n'); server.close(); server.closeAllConnections() })
`
const procfile = `
release: echo released
web: node server.mjs web
sidecar: node server.mjs sidecar
usage-ingestion: node server.mjs usage-ingestion
`

/** A runner on a folder, as someone started it in a terminal. */
class Runner {
  output = ''
  readonly exited: Promise<number | null>
  readonly process: ChildProcess

  constructor(folder: string, env: NodeJS.ProcessEnv = {}) {
    this.process = spawn(process.execPath, [fixture, folder], {
      env: { PATH: process.env.PATH, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    for (const stream of [this.process.stdout, this.process.stderr])
      stream?.on('data', (data) => {
        this.output += data
      })
    this.exited = new Promise((resolve) => this.process.once('close', resolve))
  }

  kill(signal: NodeJS.Signals): void {
    this.process.kill(signal)
  }
}

describe('local/start', function () {
  this.timeout(60_000)
  let scratch: ReturnType<typeof scratchFolder>
  let runners: Runner[]

  const makeFolder = (name: string) => {
    const folder = join(scratch.folder, name)
    mkdirSync(folder)
    writeFileSync(join(folder, 'Procfile'), procfile)
    writeFileSync(join(folder, 'server.mjs'), serverSource)
    return folder
  }
  // The services of the test run: what they do on their own is tested beside this file, and half a second is saved per test.
  const shared = () => ({ DATABASE_URL: requiredVariable('TEST_DATABASE_URL'), REDIS_URL: requiredVariable('TEST_REDIS_URL') })
  const start = (folder: string, env: NodeJS.ProcessEnv = {}) => {
    const runner = new Runner(folder, env)
    runners.push(runner)
    return runner
  }
  const ready = (folder: string): Promise<PlatformFile> => eventually('the platform to be ready', () => readPlatform(join(folder, '.data')))
  const pidsOf = (platform: PlatformFile) => Object.values(platform.processes).map(({ pid }) => pid ?? 0)

  beforeEach(() => {
    scratch = scratchFolder()
    runners = []
  })
  afterEach(async () => {
    for (const runner of runners) runner.kill('SIGTERM')
    await Promise.all(runners.map((runner) => runner.exited))
    scratch.remove()
  })

  it('runs every line of the Procfile with its environment, and writes down where', async () => {
    const folder = makeFolder('a')
    const runner = start(folder, shared())
    const platform = await ready(folder)

    expect(platform).to.include({
      pid: runner.process.pid,
      serverApiKey: 'server-key',
      operatorKey: 'operator-key',
      environmentRefId: 'example',
    })
    expect(Object.keys(platform.processes)).to.deep.equal(['web', 'sidecar', 'usage-ingestion'])
    for (const { healthUrl } of Object.values(platform.processes)) expect((await fetch(`${healthUrl}/readyz`)).status).to.equal(200)
    const ownPriority = getPriority()
    const priorities = pidsOf(platform).map((pid) => getPriority(pid) - ownPriority)
    expect(priorities, 'workers give way').to.deep.equal([0, 0, Math.max(0, 5 - ownPriority)])
    expect(statSync(join(folder, '.data', 'platform.json')).mode & 0o777).to.equal(0o600)
    const sidecar = JSON.parse(readFileSync(join(folder, 'environment-sidecar.json'), 'utf8'))
    expect(sidecar).to.include({ API_URL: platform.webUrl, WS_URL: platform.wsUrl, SERVER_API_KEY: 'server-key' })
    expect(runner.output).to.match(/release +\| released/)
    await eventually('the welcome', () => runner.output.includes(`GraphQL API     ${platform.webUrl}/graphql`))
  })

  it('stops doors before workers on one Ctrl-C that arrives twice, and leaves nothing behind', async () => {
    const folder = makeFolder('a')
    const runner = start(folder, shared())
    const platform = await ready(folder)

    runner.kill('SIGINT')
    runner.kill('SIGINT')

    expect(await runner.exited).to.equal(0)
    expect(pidsOf(platform).filter(isAlive)).to.deep.equal([])
    expect(existsSync(join(folder, '.data', 'platform.json'))).to.equal(false)
    const stopped = readFileSync(join(folder, 'stopped.txt'), 'utf8').trim().split('\n')
    expect(stopped.slice(0, 2)).to.have.members(['web', 'sidecar'])
    expect(stopped[2]).to.equal('usage-ingestion')
  })

  it('leaves nothing behind when it is stopped during start-up', async () => {
    const folder = makeFolder('a')
    const runner = start(folder, { FIXTURE_PREPARE_MS: '60000' })
    const file = join(folder, '.data', 'postgres', 'data', 'postmaster.pid')
    const pid = await eventually('PostgreSQL', () => (existsSync(file) ? Number(readFileSync(file, 'utf8').split('\n')[0]) : null))
    runner.kill('SIGTERM')
    expect(await runner.exited).to.equal(0)
    expect(isAlive(pid)).to.equal(false)
  })

  it('leaves nothing behind when the runner is killed without a word', async () => {
    const folder = makeFolder('a')
    const runner = start(folder)
    const platform = await ready(folder)
    const postmaster = Number(readFileSync(join(folder, '.data', 'postgres', 'data', 'postmaster.pid'), 'utf8').split('\n')[0])
    const redis = Number(readFileSync(join(folder, '.data', 'redis', 'redis.pid'), 'utf8'))

    runner.kill('SIGKILL')

    const left = () => [...pidsOf(platform), postmaster, redis].filter(isAlive)
    await eventually('everything to be stopped', () => left().length === 0)
  })

  it('reports a process that dies, and starts it again', async () => {
    const folder = makeFolder('a')
    const runner = start(folder, shared())
    const pid = (await ready(folder)).processes['usage-ingestion']?.pid ?? 0

    process.kill(pid, 'SIGKILL')

    const now = () => readPlatform(join(folder, '.data'))?.processes['usage-ingestion']?.pid
    await eventually('another process', () => now() && now() !== pid)
    expect(runner.output).to.include('usage-ingestion was killed by SIGKILL; it is started again in 1 s')
  })

  it('stops everything when a process cannot start, and says which', async () => {
    const folder = makeFolder('a')
    const runner = start(folder, { ...shared(), FIXTURE_FAIL: 'sidecar' })
    expect(await runner.exited).to.equal(1)
    expect(runner.output).to.match(/sidecar +\| no luck/)
    expect(runner.output).to.include('sidecar exited with code 3, 3 times in a row, and was never ready')
    expect(readFileSync(join(folder, 'stopped.txt'), 'utf8').trim().split('\n')).to.have.members(['web', 'usage-ingestion'])
  })

  it('stops when the release fails', async () => {
    const folder = makeFolder('a')
    writeFileSync(join(folder, 'Procfile'), 'release: exit 4\nweb: node server.mjs web\n')
    const runner = start(folder, shared())
    expect(await runner.exited).to.equal(1)
    expect(runner.output).to.include('release exited with code 4: the database is not up to date')
  })

  it('refuses to run twice from one folder, and says where it runs', async () => {
    const folder = makeFolder('a')
    start(folder, shared())
    const platform = await ready(folder)
    const second = start(folder, shared())
    expect(await second.exited).to.equal(1)
    expect(second.output).to.include(`runs from this folder already (process ${platform.pid}) at ${platform.webUrl}`)
    expect(pidsOf(platform).every(isAlive)).to.equal(true)
  })

  describe('the port of the web server', () => {
    const hold = async (port = 0) => {
      const server = createServer().listen(port, '127.0.0.1')
      await once(server, 'listening')
      return { port: (server.address() as AddressInfo).port, release: () => new Promise((resolve) => server.close(resolve)) }
    }
    const portOf = async (folder: string, env: NodeJS.ProcessEnv = {}) => {
      const runner = start(folder, { ...shared(), ...env })
      const { webUrl, processes, sidecarHttpUrl } = await ready(folder)
      runner.kill('SIGTERM')
      await runner.exited
      return { port: Number(new URL(webUrl).port), all: [...Object.values(processes).map(({ port }) => port), sidecarHttpUrl], runner }
    }

    it('is the one that is asked for, and is taken again at the next start', async () => {
      const { port, release } = await hold()
      await release()
      const folder = makeFolder('a')
      const first = await portOf(folder, { PORT: String(port) })
      expect(first.port).to.equal(port)
      const second = await portOf(folder)
      expect(second.all).to.deep.equal(first.all)
      expect(second.runner.output).to.not.include('is taken')
    })

    it('moves once when it is taken, says so, and stays there', async () => {
      const folder = makeFolder('a')
      const { port } = await portOf(folder)
      const other = await hold(port)
      try {
        const moved = await portOf(folder)
        expect(moved.port).to.not.equal(port)
        expect(moved.runner.output).to.include(`Port ${port} is taken: the API is at port ${moved.port}`)
        const again = await portOf(folder)
        expect(again.port).to.equal(moved.port)
        expect(again.runner.output).to.not.include('is taken')
      } finally {
        await other.release()
      }
    })

    for (const variable of ['PORT', 'SIDECAR_HTTP_PORT'])
      it(`is refused when it was asked for and cannot be had: ${variable}`, async () => {
        const other = await hold()
        try {
          for (const asked of [String(other.port), 'nonsense', '70000']) {
            const runner = start(makeFolder(asked), { ...shared(), [variable]: asked })
            expect(await runner.exited).to.equal(1)
            expect(runner.output).to.include(`${variable}=${asked} cannot be had`)
          }
        } finally {
          await other.release()
        }
      })
  })

  it('runs from two folders at the same time', async () => {
    const folders = [makeFolder('a'), makeFolder('b')]
    for (const folder of folders) start(folder, shared())
    const platforms = await Promise.all(folders.map(ready))
    const ports = platforms.flatMap((platform) => Object.values(platform.processes).map(({ port }) => port))
    expect(new Set(ports).size).to.equal(ports.length)
  })
})
