/** Waits until the platform is quiet, and reads what the checker compares. */
import { setTimeout as sleep } from 'node:timers/promises'
import { loosePrefix } from '../../src/platform/redis/slots.js'
import { entityKey, usageKey } from '../../src/updates/external-cache/keys.js'
import { mostMemoryAfter } from '../attack/row.js'
import { type Facts, findCopies, type Seen, type Stored, type Subscription, type Usage } from './checker.js'
import { SidecarDoor, WebDoor } from './load/doors.js'
import type { Holder, Ledger } from './load/ledger.js'
import { cachePrefix, queuePrefix, type Stage } from './stage/stage.js'
import type { RecordedEvent } from './told.js'

/** After a failover a persistent cache reads everything anew, that of all runs before included: on a busy machine more than a minute. */
const quietMs = 120_000
const copiesMs = 25_000
const lookEveryMs = 250
const lastTrials = 6

/** Rows that somebody has still to work on, by what they are. */
const waitingRows = `
  SELECT 'pending_batch' AS what, count(*)::int AS count FROM pending_batch
  UNION ALL SELECT 'outbox_message', count(*)::int FROM outbox_message
  UNION ALL SELECT 'due subscription', count(*)::int FROM subscription WHERE due_at <= now()
  UNION ALL SELECT 'waiting billing_intent', count(*)::int FROM billing_intent WHERE state = 'WAITING'
  UNION ALL SELECT 'customer_evaluation', count(*)::int FROM customer_evaluation
  UNION ALL SELECT 'evaluation_round', count(*)::int FROM evaluation_round
  UNION ALL SELECT 'pending webhook_delivery', count(*)::int FROM webhook_delivery WHERE status = 'PENDING'`

/** What still waits, in words; none: everything has come to rest. */
async function waiting(stage: Stage): Promise<string[]> {
  const rows = await stage.postgres.query<{ what: string; count: number }>(waitingRows)
  const jobs = await stage.redis.do(async (redis) => {
    const keys = await redis.keys(`*${loosePrefix(queuePrefix)}*`)
    const lists = keys.filter((key) => /:(wait|active)$/.test(key))
    const counts = await Promise.all(lists.map((key) => redis.llen(key)))
    return lists.map((key, index) => ({ what: `jobs in ${key}`, count: counts[index]! }))
  })
  return [...rows, ...jobs].filter(({ count }) => count > 0).map(({ what, count }) => `${count} ${what}`)
}

/** Answers what has not come to rest in time. */
export async function untilQuiet(stage: Stage): Promise<string[]> {
  const end = Date.now() + quietMs
  for (;;) {
    const left = await waiting(stage).catch((error: Error) => [`an answer of a server: ${error.message}`])
    if (left.length === 0 || Date.now() > end) return left
    await sleep(lookEveryMs)
  }
}

/** What processes hold once they have worked, by their id: that of their first run is what they have to come back to. */
export class Memory {
  readonly #first = new Map<number, number>()

  async compare(stage: Stage): Promise<Facts['memory']> {
    const read = await Promise.all(
      stage.processes.map(async ({ name, pid }, index) => ({ name, pid, mb: await stage.processes[index]!.heapMb() })),
    )
    return read.flatMap(({ name, pid, mb }) => {
      if (pid === null || Number.isNaN(mb)) return []
      const beforeMb = this.#first.get(pid) ?? mb
      this.#first.set(pid, beforeMb)
      return [{ process: name, beforeMb, mostMb: mostMemoryAfter(beforeMb), afterMb: mb }]
    })
  }
}

export interface Before {
  memory: Memory
  /** Names of the run's customers begin so. */
  prefix: string
  needed: readonly string[]
}

export async function readFacts(stage: Stage, ledger: Ledger, { memory, prefix, needed }: Before): Promise<Facts> {
  const values = [stage.tenants.loaded.environmentId, `${prefix}-%`]
  const query = <T extends object>(text: string) => stage.postgres.query<T & Record<string, unknown>>(text, values) as Promise<T[]>
  const measurements = await query<Stored>(measurementsOf)
  const usages = await query<Usage>(usagesOf)
  const seen = await readCopies(stage, ledger, usages)
  return {
    measurements,
    usages,
    subscriptions: await query<Subscription>(subscriptionsOf),
    doubledInvoices: (await query<{ what: string }>(doubledInvoicesOf)).map(({ what }) => what),
    invoices: await query<{ customer: string; count: number }>(invoicesOf),
    seen,
    told: { recorded: await query<RecordedEvent>(eventsOf), heard: stage.host.take(`${prefix}-`) },
    needed,
    memory: await memory.compare(stage),
  }
}

const ofCustomers = `customer.environment_id = $1::uuid AND customer.ref_id LIKE $2`

const measurementsOf = `
  SELECT customer.ref_id AS customer, m.id::text AS id, m.value::float8 AS value FROM usage_measurement AS m
  JOIN customer ON customer.environment_id = m.environment_id AND customer.id = m.customer_id WHERE ${ofCustomers}`

const usagesOf = `
  SELECT customer.ref_id AS customer, feature.ref_id AS feature, sum(counter.usage)::float8 AS usage FROM usage_counter AS counter
  JOIN usage_series AS series ON series.environment_id = counter.environment_id AND series.id = counter.series_id
  JOIN customer ON customer.environment_id = series.environment_id AND customer.id = series.customer_id
  JOIN feature ON feature.environment_id = series.environment_id AND feature.id = series.feature_id
  WHERE ${ofCustomers} GROUP BY 1, 2`

const subscriptionsOf = `
  SELECT customer.ref_id AS customer, package.ref_id AS plan, s.status::text AS status,
    (extract(epoch FROM s.effective_end_date) * 1000)::float8 AS "endedAt"
  FROM subscription AS s JOIN customer ON customer.environment_id = s.environment_id AND customer.id = s.customer_id
  JOIN package_version AS v ON v.environment_id = s.environment_id AND v.id = s.plan_version_id
  JOIN package ON package.environment_id = v.environment_id AND package.id = v.package_id
  WHERE ${ofCustomers} ORDER BY s.created_at, s.id`

/** A period that is charged twice, and an invoice of the provider that we do not know. */
const doubledInvoicesOf = `
  SELECT customer.ref_id || ' ' || invoice.reason || ' ' || invoice.period_start AS what FROM invoice
  JOIN customer ON customer.environment_id = invoice.environment_id AND customer.id = invoice.customer_id
  WHERE ${ofCustomers} AND invoice.reason IN ('BILLING_CYCLE', 'SUBSCRIPTION_CREATION')
  GROUP BY customer.ref_id, invoice.subscription_id, invoice.reason, invoice.period_start HAVING count(*) > 1
  UNION ALL SELECT 'at the provider: ' || built.number FROM builtin_invoice AS built
  JOIN customer ON customer.environment_id = built.environment_id AND customer.id = built.customer_id
  WHERE ${ofCustomers} AND NOT EXISTS (
    SELECT FROM invoice WHERE invoice.environment_id = built.environment_id AND invoice.billing_id = built.id)`

const invoicesOf = `
  SELECT customer.ref_id AS customer, count(*)::int AS count FROM invoice
  JOIN customer ON customer.environment_id = invoice.environment_id AND customer.id = invoice.customer_id
  WHERE ${ofCustomers} GROUP BY 1`

/** Those that an endpoint is to hear of. */
const eventsOf = `
  SELECT event.id::text AS id, event.type, customer.ref_id AS customer, event.customer_index::float8 AS index, delivery.attempts
  FROM notification_event AS event JOIN customer ON customer.environment_id = event.environment_id AND customer.id = event.customer_id
  JOIN webhook_delivery AS delivery ON delivery.environment_id = event.environment_id AND delivery.event_id = event.id
  WHERE ${ofCustomers}`

type Read = (holder: Holder, feature: string) => Promise<Omit<Seen, 'where' | 'customer' | 'feature'> | null>

/** What each door and the external cache say, as soon as they agree with the counters; after some time, whatever they say. */
async function readCopies(stage: Stage, ledger: Ledger, usages: readonly Usage[]): Promise<Seen[]> {
  const sidecars = stage.doors.sidecar.map((address) => new SidecarDoor(address))
  const webs = stage.doors.web.map((url) => new WebDoor(url, stage.tenants.loaded.serverKey))
  const places: [where: string, read: Read][] = [
    ...webs.map((door, index): [string, Read] => [`web-${index + 1}`, ({ customer }, feature) => door.check(customer, 0, feature)]),
    ...sidecars.map((door, index): [string, Read] => [`sidecar-${index + 1}`, ({ customer }, feature) => door.check(customer, 0, feature)]),
    ['the external cache', ({ customer }, feature) => readCached(stage, customer, feature)],
  ]
  const end = Date.now() + copiesMs
  const agreed: Seen[] = []
  try {
    for (const [where, read] of places)
      for (const holder of compared(ledger.holders)) {
        const feature = holder.role === 'evented' ? 'tokens' : 'calls'
        for (;;) {
          const answer = await read(holder, feature)
          const seen = answer && { where, customer: holder.customer, feature, usage: answer.usage, limit: answer.limit }
          const isRight = seen ? findCopies(ledger, { seen: [seen], usages }).length === 0 : where === 'the external cache'
          if (isRight || Date.now() > end) {
            if (seen) agreed.push(seen)
            else if (!isRight) agreed.push({ where, customer: holder.customer, feature, usage: Number.NaN, limit: null })
            break
          }
          await sleep(lookEveryMs)
        }
      }
  } finally {
    for (const sidecar of sidecars) sidecar.close()
  }
  return agreed
}

/** All that were there from the beginning, and the last of those that came. */
const compared = (holders: readonly Holder[]) =>
  holders.filter(({ role }, index) => (role !== 'trial' && role !== 'converting') || index >= holders.length - lastTrials)

/** Null: it is not there, which is a miss to those who read it. */
async function readCached(stage: Stage, customerId: string, feature: string) {
  const entity = entityKey(cachePrefix, { customerId, resourceId: null })
  const [entry, usage] = await stage.redis.do((redis) => redis.mget(entity, usageKey(entity, feature)), 1)
  if (!entry || !usage) return null
  const held = (JSON.parse(entry) as Record<string, { calculatedEntitlement: { usageLimit: number | null } }>)[feature]
  if (!held) return null
  return { usage: (JSON.parse(usage) as { currentUsage: number }).currentUsage, limit: held.calculatedEntitlement.usageLimit }
}
