import { Secret } from '../../../src/kernel/secret.js'
import { DatabaseClock } from '../../../src/platform/database-clock.js'
import { listen } from '../../../src/platform/health.js'
import { silentLogger } from '../../../src/platform/logger.js'
import { openPostgres } from '../../../src/platform/postgres.js'
import { Life } from '../../../src/platform/process.js'
import { createApp } from '../../../src/wiring/app.js'
import { createFrontDoor, openHeldStates } from '../../../src/wiring/front-door.js'
import { createUsage } from '../../../src/wiring/usage.js'
import { testWebhooks } from '../../support/webhooks.js'
import type { MeteringBench } from '../metering/fixture.js'
import { operatorKey } from './front-door.js'

export interface WebProcess {
  url: string
  life: Life
}

/** All that a web process is made of, on the bench's databases: what it remembers is its own. Stop its life. */
export async function openWebProcess(
  bench: MeteringBench,
  name: string,
  { answerWithinMs, operationTimeoutMs }: { answerWithinMs?: number; operationTimeoutMs?: number } = {},
): Promise<WebProcess> {
  const life = new Life(name, silentLogger())
  const { queues } = bench
  const postgres = openPostgres(life, bench.databaseUrl, { poolSize: 3 })
  const app = createApp({ life, postgres, queues, clock: await DatabaseClock.open(life, postgres.pool), webhooks: testWebhooks })
  const held = openHeldStates({ app, life, queues })
  const limits = { maxWaitingJobs: 1_000, maxRedisBytes: null }
  const expectAnnouncement = held.expectAnnouncement.bind(held)
  const usage = createUsage({ life, queues, postgres, app, shards: 1, limits, expectAnnouncement, answerWithinMs })
  const ofDoor = operationTimeoutMs === undefined ? {} : { limits: { operationTimeoutMs } }
  const server = createFrontDoor({ app, held, usage, life, queues, operatorKey: new Secret(operatorKey), hasGraphiql: false, ...ofDoor })
  return { life, url: `http://127.0.0.1:${await listen(server, { port: 0, host: '127.0.0.1' })}` }
}
