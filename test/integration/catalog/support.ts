import { CatalogService } from '../../../src/catalog/service.js'
import { EnvironmentService } from '../../../src/environment/service.js'
import { FrozenClock } from '../../../src/kernel/clock.js'
import { silentLogger } from '../../../src/platform/logger.js'
import { openPostgres, type Postgres } from '../../../src/platform/postgres.js'
import { Life } from '../../../src/platform/process.js'
import { startMigrations } from '../../../src/subscription/records/migrations.js'
import { createTestDatabase } from '../../support/database.js'

export const startedAt = Date.parse('2026-05-01T00:00:00Z')

/** A database with catalogs, one environment for each test. */
export interface CatalogBench extends Postgres {
  clock: FrozenClock
  catalog: CatalogService
  /** The environments that delivery was nudged for. */
  nudged: string[]
  /** As another process would have it: with nothing cached. */
  anotherProcess(): CatalogService
  createEnvironment(): Promise<string>
  close(): Promise<Error[]>
}

export async function openCatalogBench(): Promise<CatalogBench> {
  const database = await createTestDatabase()
  const life = new Life('test', silentLogger())
  const postgres = openPostgres(life, database.url, { poolSize: 5 })
  const clock = new FrozenClock(startedAt)
  const environments = new EnvironmentService({ prisma: postgres.prisma, clock })
  const nudged: string[] = []
  const anotherProcess = () =>
    new CatalogService({ prisma: postgres.prisma, clock, startMigrations, nudge: (environmentId) => nudged.push(environmentId) })
  let count = 0
  return {
    ...postgres,
    clock,
    catalog: anotherProcess(),
    nudged,
    anotherProcess,
    createEnvironment: async () => (await environments.create({ refId: `environment-${++count}` })).environment.id,
    close: async () => {
      const failures = await life.stop()
      await database.drop()
      return failures
    },
  }
}
