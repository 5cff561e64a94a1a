import { setTimeout as sleep } from 'node:timers/promises'
import { decideCheck } from '../../../src/entitlement/service.js'
import { Problem } from '../../../src/kernel/problem.js'
import type { Life } from '../../../src/platform/process.js'
import { median } from '../figures/statistics.js'
import { HttpConnection, postRequest } from '../load/http-connection.js'
import { mutation as reportEvent } from '../metering/event-calls.js'
import { untilNone } from '../metering/event-load.js'
import type { Stack } from '../stack/stack.js'

const customerId = 'heavy'
export const days = 10
const dayMs = 86_400_000
/** Events that are reported; each quarter of an hour has one at least, so that more of them make no more rollups. */
export const originals = 1_000
const users = 97
const lateMs = 60_000

const feature = (refId: string, meter?: { aggregation: string; field: string }) => ({
  refId,
  displayName: refId,
  type: 'NUMBER',
  meter: 'Incremental',
  units: 'unit',
  unitsPlural: 'units',
  ...(meter ? { events: { ...meter, filters: [[{ field: 'eventName', operation: 'EQUALS', value: 'request' }]] } } : {}),
})
export const costCatalog = {
  features: [
    feature('tokens', { aggregation: 'SUM', field: 'tokens' }),
    feature('users', { aggregation: 'UNIQUE', field: 'user' }),
    feature('calls'),
  ],
  products: [{ refId: 'cloud', displayName: 'Cloud' }],
  plans: [
    {
      refId: 'free',
      product: 'cloud',
      displayName: 'Free',
      pricingType: 'FREE',
      entitlements: ['tokens', 'users', 'calls'].map((name) => ({ feature: name, limit: 1_000_000_000_000, resetPeriod: 'MONTH' })),
    },
  ],
}

const reportUsage = 'mutation ($input: ReportUsageInput!) { reportUsage(input: $input) { id currentUsage } }'
// Executed each time, because it is counted; others are answered from what was answered before.
const check =
  'query ($query: FetchEntitlementQuery!) { entitlement(query: $query) { isGranted currentUsage usageLimit usagePeriodEnd feature { refId } } }'
const history = 'query ($input: UsageHistoryInput!) { usageHistory(usageHistoryInput: $input) { usageMeasurements { date value } } }'
const recompute = 'mutation ($input: RecomputeUsageInput!) { recomputeUsage(input: $input) { id } }'
const progress = 'query ($id: String!) { usageRecomputation(id: $id) { finishedAt } }'

export type Measure = 'decision' | 'check' | 'state' | 'report' | 'event' | 'history'

/** The customer that all stored events are of, and what it costs to ask about it. Everything that is asked is looked at: wrong usage fails with a Problem. */
export class HeavyCustomer {
  /** Reported after the originals, one token each. */
  #extra = 0

  private constructor(
    private readonly stack: Stack,
    private readonly connection: HttpConnection,
    private readonly from: number,
    /** Of the originals. */
    private readonly tokens: number,
  ) {}

  /** Provisions it, and reports the original events. */
  static async start(life: Life, stack: Stack): Promise<HeavyCustomer> {
    await stack.app.customers.provision(stack.environmentId, { refId: customerId, subscription: { planRefId: 'free' } })
    // So that all events are in the usage period that runs.
    await stack.pool.query(`UPDATE subscription SET usage_anchor = usage_anchor - make_interval(days => $1::int)`, [days + 1])
    const web = await stack.start('web', { RATE_LIMIT_PER_KEY: '1000000' })
    for (const name of ['usage-ingestion', 'event-aggregation', 'cache-invalidation'] as const) await stack.start(name)
    const connection = life.open('connection', new HttpConnection(web.url), (c) => c.close())
    const from = Date.now() - days * dayMs
    const usageEvents = Array.from({ length: originals }, (_, index) => ({
      ...eventOf(`original-${index}`, index % 10),
      timestamp: new Date(from + Math.floor((index * days * dayMs) / originals)).toISOString(),
    }))
    const tokens = usageEvents.reduce((sum, { dimensions }) => sum + dimensions.tokens, 0)
    const customer = new HeavyCustomer(stack, connection, from, tokens)
    await customer.#ask(reportEvent, { events: { usageEvents } })
    await untilNone(stack, 'pending_batch')
    return customer
  }

  /** The median cost of each in ms, with so many copies of the originals. */
  async measure(copies: number): Promise<Record<Measure, number>> {
    const { app, environmentId } = this.stack
    // First, because the web process learns of the copies with it.
    const event = await medianMs(50, () => this.#countEvent(copies))
    await this.#expectUsage(copies)
    const state = await app.entitlements.state(environmentId, customerId, null)
    const question = { customerRefId: customerId, featureRefId: 'tokens', resourceRefId: null, requestedUsage: null, requestedValues: null }
    const decisionsAtOnce = 100
    const decide = async () => {
      for (let n = 0; n < decisionsAtOnce; n++) await decideCheck(state, question, Date.now(), async () => true)
    }
    return {
      decision: (await medianMs(500, decide)) / decisionsAtOnce,
      check: await medianMs(1_000, () => this.#usage('tokens')),
      state: await medianMs(200, () => app.entitlements.state(environmentId, customerId, null)),
      report: await medianMs(300, () => this.#ask(reportUsage, { input: { customerId, featureId: 'calls', value: 1 } })),
      event,
      history: await medianMs(100, () => this.#history()),
    }
  }

  /** Has the product count everything anew, and looks whether it comes to the same. */
  async recompute(copies: number): Promise<void> {
    for (const featureId of ['tokens', 'users']) {
      const { recomputeUsage } = await this.#ask<{ recomputeUsage: { id: string } }>(recompute, { input: { featureId } })
      await this.#until(`${featureId} to be recomputed`, async () => {
        const { usageRecomputation } = await this.#ask<{ usageRecomputation: { finishedAt: string | null } }>(progress, recomputeUsage)
        return usageRecomputation.finishedAt !== null
      })
    }
    await untilNone(this.stack, 'outbox_message')
    await this.#expectUsage(copies)
  }

  async #expectUsage(copies: number): Promise<void> {
    const days = await this.#history()
    const found = {
      tokens: await this.#usage('tokens'),
      users: await this.#usage('users'),
      history: days.reduce((sum, { value }) => sum + value, 0),
    }
    const tokens = this.tokens * copies + this.#extra
    const expected = { tokens, users, history: tokens }
    if (JSON.stringify(found) !== JSON.stringify(expected))
      throw wrong(`Usage is ${JSON.stringify(found)}, must be ${JSON.stringify(expected)}`)
  }

  /** Reports one and waits until a check answers with it. */
  async #countEvent(copies: number): Promise<void> {
    this.#extra += 1
    await this.#ask(reportEvent, { events: { usageEvents: [eventOf(`extra-${this.#extra}`, 1)] } })
    const tokens = this.tokens * copies + this.#extra
    await this.#until(`${tokens} tokens`, async () => (await this.#usage('tokens')) === tokens)
  }

  async #usage(featureId: string): Promise<number> {
    const query = { customerId, featureId, options: { shouldTrack: true } }
    const { entitlement } = await this.#ask<{ entitlement: { isGranted: boolean; currentUsage: number } }>(check, { query })
    if (!entitlement.isGranted) throw wrong(`${featureId} is denied`)
    return entitlement.currentUsage
  }

  /** What each day brought. */
  async #history(): Promise<{ value: number }[]> {
    const input = { customerRefId: customerId, featureRefId: 'tokens', startDate: new Date(this.from).toISOString(), resetPeriod: 'DAY' }
    const { usageHistory } = await this.#ask<{ usageHistory: { usageMeasurements: { value: number }[] } }>(history, { input })
    return usageHistory.usageMeasurements
  }

  async #until(what: string, isSo: () => Promise<boolean>): Promise<void> {
    const end = performance.now() + lateMs
    while (!(await isSo())) {
      if (performance.now() > end) throw wrong(`Waited ${lateMs / 1_000} s for ${what}`)
      await sleep(1)
    }
  }

  async #ask<Data>(query: string, variables: object): Promise<Data> {
    const request = postRequest('/graphql', { 'x-api-key': this.stack.serverKey }, JSON.stringify({ query, variables }))
    const answer = JSON.parse(await this.connection.send(request)) as { data?: Data; errors?: unknown }
    if (answer.errors || !answer.data) throw wrong(JSON.stringify(answer))
    return answer.data
  }
}

const wrong = (message: string) => new Problem('ABORTED', 'WRONG_ANSWERS', message)

const eventOf = (idempotencyKey: string, tokens: number) => ({
  customerId,
  eventName: 'request',
  idempotencyKey,
  dimensions: { tokens, user: `user-${Number(/\d+/.exec(idempotencyKey)![0]) % users}` },
})

async function medianMs(count: number, work: () => Promise<unknown>): Promise<number> {
  const times: number[] = []
  for (let n = 0; n < count * 1.1; n++) {
    const began = performance.now()
    await work()
    times.push(performance.now() - began)
  }
  // The first ones warm up.
  return median(times.slice(-count))
}
