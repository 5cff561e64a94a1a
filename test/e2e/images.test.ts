import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { chmodSync, cpSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { Ports } from '../../src/local/processes/ports.js'
import { parseProcfile } from '../../src/local/processes/procfile.js'
import { runCommand } from '../../src/local/processes/run-command.js'
import { createTestDatabase, type TestDatabase } from '../support/database.js'
import { eventually } from '../support/eventually.js'
import { imagesOf, readStages, type Stage } from '../support/images.js'
import { productionPackages } from '../support/production-packages.js'
import { testRedisPrefix, testRedisUrl } from '../support/redis.js'
import { testSecretsKey } from '../support/webhooks.js'
import { byCallers } from './doors.js'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const stages = readStages()
/** Of what is built here, all but what the build of an image has not. */
const isInImage = (path: string) =>
  !/^(dist\/(test|packages)|src\/local\/programs\/brought\/node_modules)(\/|$)/.test(path.slice(root.length))

/** The user of the images, where this one may become it and it may read what is here. */
const other = { uid: 1000, gid: 1000 }
const canBeOther =
  process.getuid?.() === 0 && spawnSync(process.execPath, [join(root, 'dist/src/ready.js')], { ...other, cwd: root, env: {} }).status === 1
const rights = canBeOther ? other : {}

/**
 * The Dockerfile carried out in folders: its COPY steps, and of its RUN steps those of our own. Where npm would install, what package.json names is linked from
 * the repository, so that a package that is not named is not found.
 */
class Built {
  readonly folder = mkdtempSync(join(tmpdir(), 'tollgate-images-'))

  /** Where a path of a stage is. The build itself is the repository. */
  #pathIn(stage: string, path: string): string {
    return stage === 'build' && path.startsWith('/app') ? join(root, path.slice('/app'.length)) : join(this.folder, stage, path)
  }

  async make(stage: Stage): Promise<void> {
    for (const step of stage.steps) {
      if (typeof step === 'string') await this.#run(stage, step)
      else if (step.from !== null) {
        for (const source of step.sources) {
          const from = this.#pathIn(step.from, source)
          const isInto = step.target.endsWith('/') && !lstatSync(from).isDirectory()
          const target = join(this.folder, stage.name, 'app', step.target, isInto ? source.split('/').at(-1)! : '')
          cpSync(from, target, { recursive: true, filter: isInImage, verbatimSymlinks: true })
        }
      }
    }
  }

  async #run(stage: Stage, step: string): Promise<void> {
    const [, folder, install] = /^(?:cd (\S+) && )?npm (ci|install) --omit=dev --ignore-scripts$/.exec(step) ?? []
    if (install === 'ci')
      return link(
        productionPackages().map(({ name, folder }) => (folder === `node_modules/${name}` ? name : null)),
        join(this.folder, stage.name, 'app'),
      )
    if (install === 'install') {
      const into = join(this.folder, stage.name, folder!)
      const { dependencies } = JSON.parse(readFileSync(join(into, 'package.json'), 'utf8')) as { dependencies: Record<string, string> }
      return link(Object.keys(dependencies), into)
    }
    const [node, program, target, ...entries] = step.split(' ')
    expect(node, step).to.equal('node')
    await runCommand(process.execPath, [join(root, program!), join(this.folder, stage.name, target!), ...entries])
  }

  /** Nobody may write there. */
  protect(path = this.folder): void {
    const status = lstatSync(path)
    if (status.isSymbolicLink()) return
    if (status.isDirectory()) for (const name of readdirSync(path)) this.protect(join(path, name))
    chmodSync(path, status.isDirectory() || status.mode & 0o100 ? 0o555 : 0o444)
  }

  remove(path = this.folder): void {
    const status = lstatSync(path)
    if (status.isDirectory()) {
      chmodSync(path, 0o755)
      for (const name of readdirSync(path)) this.remove(join(path, name))
    }
    rmSync(path, { recursive: true })
  }
}

function link(names: readonly (string | null)[], folder: string): void {
  for (const name of names) {
    const installed = name === null ? null : lstatSync(join(root, 'node_modules', name), { throwIfNoEntry: false })
    if (!installed) continue
    mkdirSync(dirname(join(folder, 'node_modules', name!)), { recursive: true })
    symlinkSync(join(root, 'node_modules', name!), join(folder, 'node_modules', name!))
  }
}

describe('what the images run', () => {
  const built = new Built()
  const ports = new Ports()
  const port = async () => String(await ports.take())
  const children: ChildProcess[] = []
  let database: TestDatabase
  let stores: Record<string, string>

  before(async function () {
    this.timeout(60_000)
    database = await createTestDatabase()
    stores = { DATABASE_URL: database.url, REDIS_URL: testRedisUrl(), QUEUE_PREFIX: testRedisPrefix() }
    for (const stage of stages.filter(({ name }) => name !== 'node' && name !== 'build')) await built.make(stage)
    built.protect()
  })
  after(async () => {
    for (const child of children) child.kill('SIGKILL')
    await database.drop()
    ports.release()
    built.remove()
  })

  const image = (name: string) => imagesOf(stages).find((stage) => stage.name === name)!

  /** A process with the variables of the image and these, in its folder and without rights. */
  function start({ name, variables }: Stage, [, ...args]: string[], given: Record<string, string>) {
    const env = { PATH: process.env.PATH, ...variables, BIND_ADDRESS: '127.0.0.1', ...given }
    const child = spawn(process.execPath, args, { cwd: join(built.folder, name, 'app'), env, ...rights, stdio: ['ignore', 'pipe', 'pipe'] })
    children.push(child)
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text))
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
    return { child, ended, output: () => output }
  }

  /** Until the health check of the image says that the process is ready; then it is stopped. */
  async function holds(stage: Stage, command: string[], given: Record<string, string>): Promise<void> {
    const { child, ended, output } = start(stage, command, given)
    await eventually(
      `${command.join(' ')} to be ready`,
      async () => {
        if (child.exitCode !== null) throw new Error(output())
        return (await start(stage, stage.check, given).ended) === 0
      },
      40_000,
    )
    expect(await start(stage, [...stage.check, 'live'], given).ended).to.equal(0)
    child.kill('SIGTERM')
    expect(await ended, output()).to.equal(0)
    expect(await start(stage, stage.check, given).ended, 'of a process that is gone').to.equal(1)
  }

  it('is the sidecar, ready where nothing can be written and nothing else is installed', async function () {
    this.timeout(60_000)
    const stage = image('sidecar')
    const own = { PORT: await port(), SIDECAR_HTTP_PORT: await port() }
    // The API is away: the checks are answered all the same.
    await holds(stage, stage.command, { ...own, SERVER_API_KEY: 'server-key', API_URL: 'http://127.0.0.1:9' })
    expect(readdirSync(join(built.folder, 'sidecar/app/node_modules'))).to.not.include.members(['koa', 'pg', 'graphql-http'])
  })

  it('is the persistent-cache-service, the same', async function () {
    this.timeout(60_000)
    const stage = image('persistent-cache-service')
    const { hostname, port: redisPort, password } = new URL(testRedisUrl())
    await holds(stage, stage.command, {
      PORT: await port(),
      SERVER_API_KEY: 'server-key',
      EDGE_API_URL: 'http://127.0.0.1:9',
      QUEUE_URL: `${testRedisUrl()}?queue=environment-019a0000-0000-7000-8000-000000000000&prefix=${testRedisPrefix()}`,
      REDIS_HOST: hostname,
      REDIS_PORT: redisPort,
      ...(password && { REDIS_PASSWORD: password }),
    })
    expect(readdirSync(join(built.folder, stage.name, 'app/node_modules'))).to.not.include.members(['koa', 'pg', '@grpc'])
  })

  it('is the release, and web and every worker of the platform', async function () {
    this.timeout(120_000)
    const stage = image('platform')
    const commands = parseProcfile(readFileSync(join(built.folder, 'platform/app/Procfile'), 'utf8')).map(({ name, command }) => ({
      name,
      command: command.split(' '),
    }))
    const release = start(stage, commands.find(({ name }) => name === 'release')!.command, { DATABASE_URL: database.url })
    expect(await release.ended, release.output()).to.equal(0)
    const servers = commands.filter(({ name }) => !['release', 'sidecar', 'queue-consumption'].includes(name))
    await byCallers(2, servers, async ({ command }) =>
      holds(stage, command, { ...stores, SECRETS_KEY: testSecretsKey, PORT: await port(), METRICS_PORT: await port() }),
    )
  })

  it('says in its health check who does not answer', async () => {
    const nobody = await port()
    const asked = start(image('sidecar'), ['node', 'dist/src/ready.js'], { SIDECAR_HTTP_PORT: nobody })
    expect(await asked.ended).to.equal(1)
    expect(asked.output()).to.include(`http://127.0.0.1:${nobody}/readyz does not answer`)
  })
})
