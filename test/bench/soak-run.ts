/** Events through several workers of which some are killed in the middle, and the numbers that must come out. */
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'undici'
import { Problem } from '../../src/kernel/problem.js'
import type { Life } from '../../src/platform/process.js'
import { addCustomers, type Stack, startStack } from './metering-stack.js'

const hour = 3_600_000
const eventsPerCall = 500

const feature = (refId: string, aggregation: string, field?: string) => ({
  refId,
  displayName: refId,
  type: 'NUMBER',
  meter: 'Incremental',
  units: 'unit',
  unitsPlural: 'units',
  events: { aggregation, field, filters: [[{ field: 'eventName', operation: 'EQUALS', value: 'request' }]] },
})
const features = ['count', 'sum', 'max', 'unique']
const catalog = {
  features: [
    feature('count', 'COUNT'),
    feature('sum', 'SUM', 'tokens'),
    feature('max', 'MAX', 'tokens'),
    feature('unique', 'UNIQUE', 'user'),
  ],
  products: [{ refId: 'cloud', displayName: 'Cloud' }],
  plans: [
    {
      refId: 'free',
      product: 'cloud',
      displayName: 'Free',
      pricingType: 'FREE',
      entitlements: features.map((name) => ({ feature: name, limit: 1_000_000_000, resetPeriod: 'HOUR' })),
    },
  ],
}

interface SoakEvent {
  customerId: string
  eventName: string
  idempotencyKey: string
  timestamp: string
  dimensions: { tokens: number; user: string }
}

export interface SoakResult {
  events: number
  /** Usage that differs from what the list says, as "customer feature period: is, must be". */
  differences: string[]
  /** Counters that were compared. */
  counters: number
  /** Longest that a caller waited for an acknowledgement, its own repeats included. */
  longestCallMs: number
  /** Calls that were refused or timed out and were made again. */
  repeatedCalls: number
  seconds: number
}

/** Four ingestion and two aggregation workers; one of each is killed after a third of the calls and comes back after two thirds. */
export async function runSoak({
  life,
  events,
  customers,
  note,
}: {
  life: Life
  events: number
  customers: number
  note: (line: string) => void
}): Promise<SoakResult> {
  const stack = await startStack(life, catalog)
  await addCustomers(stack, customers, 'free')
  // So that late events are after the beginning of what counts.
  await stack.pool.query("UPDATE subscription SET usage_anchor = usage_anchor - interval '3 days'")
  const web = await stack.start('web', { RATE_LIMIT_PER_KEY: '1000000' })
  const ingestion = await Promise.all([1, 2, 3, 4].map(() => stack.start('usage-ingestion')))
  const aggregation = await Promise.all([1, 2].map(() => stack.start('event-aggregation')))
  await stack.start('cache-invalidation')
  const list = makeEvents(events, customers)
  const calls: SoakEvent[][] = []
  for (let start = 0; start < list.length; start += eventsPerCall) calls.push(list.slice(start, start + eventsPerCall))
  const began = performance.now()
  let made = 0
  let longestCallMs = 0
  let repeatedCalls = 0
  let restarted: Promise<unknown> = Promise.resolve()
  const caller = async () => {
    const client = new Client(web.url)
    for (let call = calls[made++]; call; call = calls[made++]) {
      const index = made
      if (index === Math.floor(calls.length / 3)) {
        note(`killing two workers after ${index} of ${calls.length} calls`)
        for (const victim of [ingestion[0]!, aggregation[0]!]) victim.kill()
      }
      if (index === Math.floor((calls.length * 2) / 3))
        restarted = Promise.all([stack.start('usage-ingestion'), stack.start('event-aggregation')])
      const startedAt = performance.now()
      while (!(await isAcknowledged(client, stack, call))) repeatedCalls += 1
      longestCallMs = Math.max(longestCallMs, performance.now() - startedAt)
      if (index % 200 === 0) note(`${index} of ${calls.length} calls`)
    }
    await client.close()
  }
  await Promise.all([1, 2, 3, 4].map(caller))
  await restarted
  await untilCounted(stack)
  const seconds = (performance.now() - began) / 1_000
  return { events: list.length, ...(await compareUsage(stack, list)), longestCallMs, repeatedCalls, seconds }
}

/** 10 % are repeats of earlier ones; 5 % are up to two days late. */
function makeEvents(count: number, customers: number): SoakEvent[] {
  const list: SoakEvent[] = []
  const now = Date.now()
  for (let index = 0; index < count; index++) {
    const dimensions = { tokens: (index * 7_919) % 1_000, user: `user-${(index * 31) % 97}` }
    if (index > 100 && index % 10 === 0) {
      list.push(list[(index * 104_729) % index]!)
      continue
    }
    const late = index % 20 === 7 ? ((index * 13) % 48) * hour : 0
    list.push({
      customerId: `customer-${(index * 48_271) % customers}`,
      eventName: 'request',
      idempotencyKey: `event-${index}`,
      timestamp: new Date(now - late).toISOString(),
      dimensions,
    })
  }
  return list
}

async function isAcknowledged(client: Client, stack: Stack, usageEvents: SoakEvent[]): Promise<boolean> {
  const answer = await client.request({
    path: '/graphql',
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': stack.serverKey },
    body: JSON.stringify({
      query: 'mutation ($events: UsageEventsReportInput!) { reportEvent(events: $events) }',
      variables: { events: { usageEvents } },
    }),
  })
  const text = await answer.body.text()
  if (text.startsWith('{"data":{"reportEvent":null}}')) return true
  if (!/"code":"(Timeout|RateLimitExceeded|ServiceUnavailable)"/.test(text))
    throw new Problem('ABORTED', 'WRONG_ANSWERS', text.slice(0, 500))
  return false
}

async function untilCounted({ pool }: Stack): Promise<void> {
  for (;;) {
    const { rows } = await pool.query('SELECT FROM pending_batch LIMIT 1')
    if (rows.length === 0) return
    await sleep(50)
  }
}

async function compareUsage({ pool, environmentId }: Stack, list: SoakEvent[]): Promise<{ differences: string[]; counters: number }> {
  const { rows: anchors } = await pool.query<{ ref: string; anchor: Date }>(
    'SELECT customer.ref_id AS ref, usage_anchor AS anchor FROM subscription JOIN customer ON customer.id = customer_id WHERE customer.environment_id = $1::uuid',
    [environmentId],
  )
  const anchorOf = new Map(anchors.map(({ ref, anchor }) => [ref, anchor.getTime()]))
  // The plain computation: an identity counts once, as it came first.
  const seen = new Set<string>()
  const expected = new Map<string, { count: number; sum: number; max: number; users: Set<string> }>()
  for (const event of list) {
    const identity = `${event.customerId}|${event.idempotencyKey}|${event.timestamp}`
    if (seen.has(identity)) continue
    seen.add(identity)
    const anchor = anchorOf.get(event.customerId)!
    const period = anchor + Math.floor((Date.parse(event.timestamp) - anchor) / hour) * hour
    const key = `${event.customerId}|${period}`
    const usage = expected.get(key) ?? { count: 0, sum: 0, max: 0, users: new Set() }
    expected.set(key, usage)
    usage.count += 1
    usage.sum += event.dimensions.tokens
    usage.max = Math.max(usage.max, event.dimensions.tokens)
    usage.users.add(event.dimensions.user)
  }
  const { rows } = await pool.query<{ ref: string; feature: string; period: string; usage: string }>(
    `SELECT customer.ref_id AS ref, feature.ref_id AS feature, floor(extract(epoch FROM counter.period_start) * 1000) AS period, counter.usage
     FROM usage_counter AS counter JOIN usage_series AS series ON series.id = counter.series_id
     JOIN customer ON customer.id = series.customer_id JOIN feature ON feature.id = series.feature_id
     WHERE counter.environment_id = $1::uuid AND counter.usage <> 0`,
    [environmentId],
  )
  const found = new Map(rows.map(({ ref, feature: name, period, usage }) => [`${name}|${ref}|${Number(period)}`, Number(usage)]))
  const differences: string[] = []
  for (const [key, { count, sum, max, users }] of expected) {
    for (const [name, must] of Object.entries({ count, sum, max, unique: users.size })) {
      const is = found.get(`${name}|${key}`) ?? 0
      found.delete(`${name}|${key}`)
      if (is !== must) differences.push(`${name} ${key}: ${is}, must be ${must}`)
    }
  }
  for (const [key, is] of found) differences.push(`${key}: ${is}, must be 0`)
  return { differences, counters: expected.size * features.length }
}
