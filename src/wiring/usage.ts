import { type UsageParts, UsageService } from '../metering/intake/service.js'
import type { Postgres } from '../platform/postgres.js'
import type { Life } from '../platform/process.js'
import type { QueueConnection } from '../platform/queue.js'
import type { App } from './app.js'

export interface UsageOptions extends Pick<UsageParts, 'expectAnnouncement' | 'answerWithinMs' | 'limits' | 'shards'> {
  life: Life
  queues: QueueConnection
  postgres: Postgres
  app: App
}

/** The door of usage, with what it asks the other domains for. */
export function createUsage({ life, queues, postgres, app, ...options }: UsageOptions): UsageService {
  const { entitlements, after } = app
  const usage = new UsageService({
    ...options,
    life,
    queues,
    pool: postgres.pool,
    clock: app.clock,
    loadHeld: app.heldSeries,
    findTestClock: (environmentId) => app.environments.testClock(environmentId),
    findHeld: (environmentId, customerRefId, resourceRefId, featureRefId) =>
      entitlements.heldFeature(environmentId, { customerId: customerRefId, resourceId: resourceRefId }, featureRefId),
    changed: after.changed,
  })
  postgres.epoch.onChange(() => usage.corrections.forgetAll())
  return usage
}
