/** The environment that `npm start` comes with: `development`, with the example catalog and a key. */

import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CatalogService } from '../catalog/service.js'
import type { Environment } from '../environment/model/environment.js'
import { randomText } from '../environment/model/key.js'
import { EnvironmentService } from '../environment/service.js'
import { Problem } from '../kernel/problem.js'
import { DatabaseClock } from '../platform/database-clock.js'
import { silentLogger } from '../platform/logger.js'
import { openPostgres } from '../platform/postgres.js'
import { Life } from '../platform/process.js'
import { startMigrations } from '../subscription/records/migrations.js'

export interface Example {
  environmentId: string
  environmentRefId: string
  serverApiKey: string
  operatorKey: string
  secretsKey: string
}

const environmentRefId = 'development'
const catalogFile = fileURLToPath(new URL('../../../src/local/example-catalog.yaml', import.meta.url))

/**
 * Makes what is missing and keeps what is there: a catalog that somebody has edited is not reset, and a key that is still valid is used
 * again. Keys are kept in `credentials.json` of the data folder, readable by its owner only. The database must be migrated.
 */
export async function prepareExample({ DATABASE_URL, dataDir }: { DATABASE_URL: string; dataDir: string }): Promise<Example> {
  const life = new Life('example', silentLogger())
  try {
    const { prisma, pool } = openPostgres(life, DATABASE_URL, { poolSize: 2 })
    const clock = await DatabaseClock.read(pool)
    const environments = new EnvironmentService({ prisma, clock })
    const catalog = new CatalogService({ prisma, clock, startMigrations, nudge: () => undefined })

    const environment = await findOrCreateEnvironment(environments)
    await fillCatalog(catalog, environment)
    const kept = readCredentials(dataDir)
    const credentials = {
      serverApiKey: await keepOrCreateKey(environments, environment, kept.serverApiKey),
      operatorKey: kept.operatorKey ?? `operator-${randomText()}`,
      secretsKey: kept.secretsKey ?? randomBytes(32).toString('base64'),
    }
    writeCredentials(dataDir, credentials)
    return { environmentId: environment.id, environmentRefId, ...credentials }
  } finally {
    await life.stop()
  }
}

async function findOrCreateEnvironment(environments: EnvironmentService): Promise<Environment> {
  const found = await environments.find(environmentRefId)
  if (found) return found
  const { environment } = await environments.create({
    refId: environmentRefId,
    displayName: 'Development',
    isTest: true,
    hasPersistentCache: true,
  })
  return environment
}

async function fillCatalog(catalog: CatalogService, { id }: Environment): Promise<void> {
  const current = await catalog.export(id)
  if (Object.values(current).some((definitions) => definitions.length > 0)) return
  await catalog.apply(id, readFileSync(catalogFile, 'utf8'), { dryRun: false, archiveMissing: false })
}

async function keepOrCreateKey(environments: EnvironmentService, environment: Environment, kept: string | undefined): Promise<string> {
  if (kept !== undefined && (await isKeyOf(environments, environment, kept))) return kept
  const { key } = await environments.createKey({ environment: environment.refId, kind: 'SERVER', name: 'npm start', expiresAt: null })
  return key
}

/** Whether the key still works for this environment: the database may be another one than last time. */
async function isKeyOf(environments: EnvironmentService, environment: Environment, key: string): Promise<boolean> {
  try {
    const { environmentId, kind } = await environments.authenticate(key, 'this process')
    return environmentId === environment.id && kind === 'SERVER'
  } catch (error) {
    if (error instanceof Problem && error.code === 'UNAUTHENTICATED') return false
    throw error
  }
}

type Credentials = Partial<Pick<Example, 'serverApiKey' | 'operatorKey' | 'secretsKey'>>

const credentialsFile = (dataDir: string) => join(dataDir, 'credentials.json')

/** Empty on the first run and when the file was damaged: then there will be new keys. */
function readCredentials(dataDir: string): Credentials {
  try {
    const { serverApiKey, operatorKey, secretsKey } = JSON.parse(readFileSync(credentialsFile(dataDir), 'utf8')) as Record<string, unknown>
    return {
      ...(typeof serverApiKey === 'string' ? { serverApiKey } : {}),
      ...(typeof operatorKey === 'string' && operatorKey !== '' ? { operatorKey } : {}),
      ...(typeof secretsKey === 'string' && secretsKey !== '' ? { secretsKey } : {}),
    }
  } catch {
    return {}
  }
}

function writeCredentials(dataDir: string, credentials: Required<Credentials>): void {
  mkdirSync(dataDir, { recursive: true })
  const unfinished = `${credentialsFile(dataDir)}.${process.pid}`
  writeFileSync(unfinished, `${JSON.stringify({ environmentRefId, ...credentials }, null, 2)}\n`, { mode: 0o600 })
  renameSync(unfinished, credentialsFile(dataDir))
}
