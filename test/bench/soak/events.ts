/** The events of a soak, each made from its number, and what must come of them. */
import type { Stack } from '../stack/stack.js'

const hour = 3_600_000
const features = ['count', 'sum', 'max', 'unique']

const feature = (refId: string, aggregation: string, field?: string) => ({
  refId,
  displayName: refId,
  type: 'NUMBER',
  meter: 'Incremental',
  units: 'unit',
  unitsPlural: 'units',
  events: { aggregation, field, filters: [[{ field: 'eventName', operation: 'EQUALS', value: 'request' }]] },
})

/** Every customer has usage of four meters, in periods of an hour. */
export const soakCatalog = {
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

/** The list: 10 % are repeats of earlier ones; 5 % are up to two days late. */
export class SoakEvents {
  readonly #now = Date.now()

  constructor(
    readonly count: number,
    private readonly customers: number,
  ) {}

  at(index: number): SoakEvent {
    if (index > 500 && index % 10 === 0) return this.at(repeatedBy(index))
    const lateHours = index % 20 === 7 ? 1 + (scatter(index, 1) % 47) : 0
    return {
      customerId: `customer-${scatter(index, 2) % this.customers}`,
      eventName: 'request',
      idempotencyKey: `event-${index}`,
      timestamp: new Date(this.#now - lateHours * hour).toISOString(),
      dimensions: { tokens: scatter(index, 3) % 1_000, user: `user-${scatter(index, 4) % 97}` },
    }
  }
}

/** An earlier one: every other time one of the last, which may be in the same call or on its way at the same time. */
const repeatedBy = (index: number): number => (index % 20 === 0 ? index - 1 - (scatter(index, 5) % 400) : scatter(index, 5) % index)

/** The same for the same, and else as if by chance: a step of MurmurHash3. */
function scatter(index: number, salt: number): number {
  let bits = Math.imul(index + 1, 0x85ebca6b) ^ Math.imul(salt, 0xc2b2ae35)
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b)
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35)
  return (bits ^ (bits >>> 16)) >>> 0
}

export interface UsageComparison {
  /** Usage that differs from what the list says, as "feature|customer|period: is, must be". */
  differences: string[]
  /** Counters that were compared. */
  counters: number
}

/** Compares every counter with what a plain computation makes of the list. */
export async function compareUsage(stack: Stack, events: SoakEvents): Promise<UsageComparison> {
  const anchorOf = await loadAnchors(stack)
  const seen = new Set<string>()
  const expected = new Map<string, { count: number; sum: number; max: number; users: Set<string> }>()
  for (let index = 0; index < events.count; index++) {
    const { customerId, idempotencyKey, timestamp, dimensions } = events.at(index)
    if (seen.has(idempotencyKey)) continue
    seen.add(idempotencyKey)
    const anchor = anchorOf.get(customerId)!
    const key = `${customerId}|${anchor + Math.floor((Date.parse(timestamp) - anchor) / hour) * hour}`
    const usage = expected.get(key) ?? { count: 0, sum: 0, max: 0, users: new Set() }
    expected.set(key, usage)
    usage.count += 1
    usage.sum += dimensions.tokens
    usage.max = Math.max(usage.max, dimensions.tokens)
    usage.users.add(dimensions.user)
  }
  const found = await loadUsage(stack)
  const differences: string[] = []
  for (const [key, { count, sum, max, users }] of expected) {
    for (const [name, must] of Object.entries({ count, sum, max, unique: users.size })) {
      const is = found.get(`${name}|${key}`) ?? 0
      found.delete(`${name}|${key}`)
      if (is !== must) differences.push(`${name}|${key}: ${is}, must be ${must}`)
    }
  }
  for (const [key, is] of found) differences.push(`${key}: ${is}, must be 0`)
  return { differences, counters: expected.size * features.length }
}

/** When the usage periods of each customer begin. */
async function loadAnchors({ pool, environmentId }: Stack): Promise<Map<string, number>> {
  const { rows } = await pool.query<{ ref: string; anchor: Date }>(
    'SELECT customer.ref_id AS ref, usage_anchor AS anchor FROM subscription JOIN customer ON customer.id = customer_id WHERE customer.environment_id = $1::uuid',
    [environmentId],
  )
  return new Map(rows.map(({ ref, anchor }) => [ref, anchor.getTime()]))
}

/** By "feature|customer|period". */
async function loadUsage({ pool, environmentId }: Stack): Promise<Map<string, number>> {
  const { rows } = await pool.query<{ ref: string; feature: string; period: string; usage: string }>(
    `SELECT customer.ref_id AS ref, feature.ref_id AS feature, floor(extract(epoch FROM counter.period_start) * 1000) AS period, counter.usage
     FROM usage_counter AS counter JOIN usage_series AS series ON series.id = counter.series_id
     JOIN customer ON customer.id = series.customer_id JOIN feature ON feature.id = series.feature_id
     WHERE counter.environment_id = $1::uuid AND counter.usage <> 0`,
    [environmentId],
  )
  return new Map(rows.map(({ ref, feature: name, period, usage }) => [`${name}|${ref}|${Number(period)}`, Number(usage)]))
}
