import { randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { Children } from '../../src/local/processes/children.js'
import { takeLock } from '../../src/local/processes/folder-lock.js'
import { Ports } from '../../src/local/processes/ports.js'
import { startServices } from '../../src/local/services.js'
import { migrate } from '../../src/migrate.js'
import { makeDataFolder, removeDataFolder } from './data-folder.js'
import { administer, databaseUrl, testDatabasePrefix } from './database.js'

export interface TestServices {
  /** What the tests read: TEST_DATABASE_URL, TEST_TEMPLATE_DATABASE, TEST_REDIS_URL. */
  env: Record<string, string>
  stop(): Promise<void>
}

const templatePrefix = 'tollgate_template_'

/**
 * Starts a PostgreSQL and a Redis for one test run (those of TEST_DATABASE_URL and TEST_REDIS_URL when set) and migrates a template
 * database. Several runs at once do not meet: the first has `.data/test`, others a folder that goes with them, and names are random.
 */
export async function startTestServices(root: string, signal: AbortSignal): Promise<TestServices> {
  const dataRoot = join(root, '.data')
  mkdirSync(dataRoot, { recursive: true })
  // The test PostgreSQL may run as another user, who has to walk through.
  chmodSync(dataRoot, 0o711)
  const lock = takeLock(join(dataRoot, 'test.lock'))
  const isOwner = 'release' in lock
  const dataFolder = isOwner ? join(dataRoot, 'test') : makeDataFolder(dataRoot, 'test-')
  mkdirSync(dataFolder, { recursive: true })
  chmodSync(dataFolder, 0o711)
  const children = new Children()
  const ports = new Ports()
  const template = `${templatePrefix}${randomBytes(8).toString('hex')}`
  const isOwnServer = !process.env.TEST_DATABASE_URL
  let adminUrl: string | undefined

  const stop = async () => {
    // An own server keeps its data folder, which the next run cleans; a given one must be left as it was.
    if (adminUrl && !isOwnServer) await administer(adminUrl, (client) => client.query(`drop database if exists ${template} with (force)`))
    await children.stopAll()
    ports.release()
    if (isOwner) lock.release()
    else removeDataFolder(dataFolder)
  }

  try {
    const services = await startServices({
      root,
      dataFolder,
      databaseUrl: process.env.TEST_DATABASE_URL,
      redisUrl: process.env.TEST_REDIS_URL,
      children,
      ports,
      isDurable: false,
      notice: (line) => console.error(line),
      signal,
    })
    adminUrl = services.databaseUrl
    if (isOwnServer) await administer(adminUrl, dropLeftDatabases)
    if (!process.env.TEST_REDIS_URL) await dropLeftKeys(services.redisUrl)
    await administer(adminUrl, (client) => client.query(`create database ${template}`))
    await migrate({ databaseUrl: databaseUrl(adminUrl, template), log: () => {} })
    return {
      env: { TEST_DATABASE_URL: adminUrl, TEST_TEMPLATE_DATABASE: template, TEST_REDIS_URL: services.redisUrl },
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

async function dropLeftDatabases(client: {
  query(text: string, values?: unknown[]): Promise<{ rows: { datname: string }[] }>
}): Promise<void> {
  const { rows } = await client.query('select datname from pg_database where datname like any ($1)', [
    [`${templatePrefix}%`, `${testDatabasePrefix}%`],
  ])
  for (const { datname } of rows) await client.query(`drop database ${datname} with (force)`)
}

/** Hundreds of thousands of them would make every test slow that lists its own. */
async function dropLeftKeys(redisUrl: string): Promise<void> {
  const redis = new Redis(redisUrl)
  await redis.flushall()
  redis.disconnect()
}
