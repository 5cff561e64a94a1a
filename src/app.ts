import { CatalogService } from './catalog/service.js'
import { findCustomer } from './customer/repository.js'
import { CustomerService } from './customer/service.js'
import { CheckCounter } from './entitlement/check-counter.js'
import { EntitlementService } from './entitlement/service.js'
import { EnvironmentService } from './environment/service.js'
import { type Clock, systemClock } from './kernel/clock.js'
import type { Postgres } from './platform/postgres.js'
import type { Life } from './platform/process.js'
import { openQueue, type QueueConnection } from './platform/queue.js'
import { applyDueTransitions } from './subscription/jobs.js'
import { loadOpenSubscriptions } from './subscription/repository.js'
import { type AfterCommit, SubscriptionService } from './subscription/service.js'
import { deliverChanges } from './updates/jobs.js'

/** The services of the domains that live in PostgreSQL, wired by constructor argument. */
export interface App {
  environments: EnvironmentService
  catalog: CatalogService
  customers: CustomerService
  subscriptions: SubscriptionService
  entitlements: EntitlementService
  checks: CheckCounter
  /** Wakes delivery and transitions after a commit. */
  after: AfterCommit
}

export function createApp({
  life,
  postgres: { prisma },
  queues,
  clock = systemClock,
}: {
  life: Life
  postgres: Postgres
  queues: QueueConnection
  clock?: Clock
}): App {
  const after = afterCommit(life, queues)
  const environments = new EnvironmentService({ prisma, clock })
  const catalog = new CatalogService({ prisma, clock, nudge: after.changed })
  const entitlements = new EntitlementService({
    prisma,
    catalog,
    clock,
    openSubscriptions: (db, environmentId, customerId) => loadOpenSubscriptions(db, catalog, environmentId, customerId),
  })
  const subscriptions = new SubscriptionService({ prisma, catalog, entitlements, findCustomer, clock, after })
  const customers = new CustomerService({ prisma, catalog, subscriptions, entitlements, changed: after.changed })
  return { environments, catalog, customers, subscriptions, entitlements, checks: new CheckCounter(life.metrics), after }
}

/** Wake-ups over the queues. One that fails is only logged: the sweeps of the workers find the work in PostgreSQL. */
function afterCommit(life: Life, queues: QueueConnection): AfterCommit {
  const deliveries = openQueue(life, queues, deliverChanges)
  const transitions = openQueue(life, queues, applyDueTransitions)
  const isLost = (error: unknown) => life.log.warn({ err: error }, 'wake-up lost, the sweep will find the work')
  return {
    changed: (environmentId) => {
      deliveries.add({ v: 1, environmentId }).catch(isLost)
    },
    dueAt: (environmentId, customerId, at) => {
      transitions.add({ v: 1, environmentId, customerId }, { delay: Math.max(0, at - Date.now()) }).catch(isLost)
    },
  }
}
