import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import type { GraphqlClient } from '../../../src/local/demo/clients.js'
import { silentLogger } from '../../../src/platform/logger.js'
import { Life } from '../../../src/platform/process.js'
import { openRedis } from '../../../src/platform/redis.js'
import { ExternalCacheReader } from '../../../src/reader/cache/redis.js'
import { RightsPool } from '../../../src/reader/states/rights.js'
import { eventually } from '../../support/eventually.js'
import type { OwnProcesses } from '../../support/own-processes.js'

/** What somebody answers about a customer. */
export interface Told {
  currentUsage: number
  isGranted: boolean
}

const featureId = 'calls'
/** One after the other of each customer, so that the answers say whether anything was counted twice. */
const pauseMs = 20
/** For what takes a second or two, on a machine that has much else to do. */
const patienceMs = 60_000

/**
 * Reports with keys, checks and changes of plans, customer by customer, and the truth beside them: each report is sent until it is acknowledged, always with the
 * same key, and counts once.
 */
export class Load {
  static readonly catalog = `
features: [{ refId: calls, type: NUMBER, meter: Incremental }, { refId: sso, type: BOOLEAN }]
products: [{ refId: cloud }, { refId: access }]
plans:
  - { refId: metered, product: cloud, entitlements: [{ feature: calls, limit: 1000000, resetPeriod: MONTH }] }
  - { refId: basic, product: access, entitlements: [] }
  - { refId: business, product: access, entitlements: [{ feature: sso }] }
`
  readonly #own: OwnProcesses
  /** Its own writes are read from each of them in turn. */
  readonly #readers: readonly GraphqlClient[]
  readonly #customers: string[]
  readonly #counted = new Map<string, number>()
  readonly #plans = new Map<string, string>()
  readonly #runs: Promise<void>[] = []
  readonly #wrong: string[] = []
  #isOver = false
  #failure: unknown

  constructor(
    own: OwnProcesses,
    { customers, name, readers = [own.api] }: { customers: number; name: string; readers?: readonly GraphqlClient[] },
  ) {
    this.#own = own
    this.#readers = readers
    this.#customers = Array.from({ length: customers }, (_, index) => `${name}-${index}`)
  }

  async begin(): Promise<void> {
    for (const customerId of this.#customers) {
      await this.#untilAnswered('mutation ($input: ProvisionCustomerInput!) { provisionCustomer(input: $input) { customer { id } } }', {
        input: { customerId, subscriptionParams: { planId: 'metered' } },
      })
      await this.#change(customerId, 'basic')
      const run = this.#run(customerId)
      run.catch((error: unknown) => {
        this.#failure ??= error
      })
      this.#runs.push(run)
    }
    await this.goesOn()
  }

  /** Answers when some more of it is acknowledged, of each customer. */
  async goesOn(): Promise<void> {
    const before = new Map(this.#counted)
    const hasGoneOn = (customerId: string) => (this.#counted.get(customerId) ?? 0) >= (before.get(customerId) ?? 0) + 3
    await eventually(
      'reports to be acknowledged',
      () => {
        if (this.#failure) throw this.#failure
        return this.#customers.every(hasGoneOn)
      },
      patienceMs,
    )
  }

  /** Nothing is left of it, whatever became of it. */
  async stop(): Promise<void> {
    this.#isOver = true
    await Promise.allSettled(this.#runs)
  }

  async end(): Promise<void> {
    this.#isOver = true
    await Promise.all(this.#runs)
    expect(this.#wrong.slice(0, 20), `${this.#wrong.length} wrong answers`).to.deep.equal([])
  }

  /** What GraphQL answers is what was acknowledged: all of it, once. */
  async expectAllTrue(): Promise<void> {
    for (const customerId of this.#customers) {
      const { currentUsage, isGranted } = await this.#check(customerId)
      expect({ customerId, currentUsage, isGranted }).to.deep.equal({
        customerId,
        currentUsage: this.#counted.get(customerId),
        isGranted: this.#plans.get(customerId) === 'business',
      })
    }
  }

  /** So does whoever else is asked, in the end. */
  async expectTold(who: string, ask: (customerId: string) => Promise<Told>): Promise<void> {
    for (const customerId of this.#customers) {
      const isGranted = this.#plans.get(customerId) === 'business'
      await eventually(
        `${who} to say what is true of ${customerId}`,
        async () => {
          const told = await ask(customerId)
          return told.currentUsage === this.#counted.get(customerId) && told.isGranted === isGranted
        },
        patienceMs,
      )
    }
  }

  /** So does the external cache, in the end. */
  async expectCacheTrue(redisUrl: string, prefix: string): Promise<void> {
    const life = new Life('reader', silentLogger())
    const reader = new ExternalCacheReader({ redis: openRedis(life, redisUrl, 'request', 'limited'), prefix, pool: new RightsPool() })
    try {
      for (const customerId of this.#customers)
        await eventually(
          `the cache to say what is true of ${customerId}`,
          async () => {
            const { state } = await reader.read({ customerId, resourceId: null })
            const hasSso = state?.rights.positions.has('sso')
            return (
              state !== null && state.usages[0] === this.#counted.get(customerId) && hasSso === (this.#plans.get(customerId) === 'business')
            )
          },
          patienceMs,
        )
    } finally {
      await life.stop()
    }
  }

  async #run(customerId: string): Promise<void> {
    for (let turn = 1; !this.#isOver; turn++) {
      const usage = await this.#report(customerId, `${customerId}-${turn}`)
      this.#counted.set(customerId, turn)
      if (usage !== turn) this.#wrong.push(`${customerId}: ${usage} answered for ${turn} reports`)
      const reader = this.#readers[turn % this.#readers.length]!
      const read = await this.#check(customerId, reader)
      if (read.currentUsage !== turn) this.#wrong.push(`${customerId}: ${read.currentUsage} read after ${turn} reports`)
      if (turn % 7 === 0) {
        const planId = this.#plans.get(customerId) === 'basic' ? 'business' : 'basic'
        await this.#change(customerId, planId)
        const { isGranted } = await this.#check(customerId, reader)
        if (isGranted !== (planId === 'business')) this.#wrong.push(`${customerId}: sso is ${isGranted} after the change to ${planId}`)
      }
      await sleep(pauseMs)
    }
  }

  async #report(customerId: string, idempotencyKey: string): Promise<number> {
    const input = { customerId, featureId, value: 1, idempotencyKey }
    const { reportUsage } = await this.#untilAnswered<{ reportUsage: { currentUsage: number } }>(
      'mutation ($input: ReportUsageInput!) { reportUsage(input: $input) { currentUsage } }',
      { input },
    )
    return reportUsage.currentUsage
  }

  async #change(customerId: string, planId: string): Promise<void> {
    await this.#untilAnswered('mutation ($input: ProvisionSubscriptionInput!) { provisionSubscriptionV2(input: $input) { status } }', {
      input: { customerId, planId },
    })
    this.#plans.set(customerId, planId)
  }

  async #check(customerId: string, reader?: GraphqlClient): Promise<Told> {
    const { calls, sso } = await this.#untilAnswered<{ calls: { currentUsage: number }; sso: { isGranted: boolean } }>(
      `query ($calls: FetchEntitlementQuery!, $sso: FetchEntitlementQuery!) {
        calls: entitlement(query: $calls) { currentUsage } sso: entitlement(query: $sso) { isGranted } }`,
      { calls: { customerId, featureId }, sso: { customerId, featureId: 'sso' } },
      reader,
    )
    return { currentUsage: calls.currentUsage, isGranted: sso.isGranted }
  }

  /** All of it may be sent again. */
  async #untilAnswered<T>(query: string, variables: object, door = this.#own.api): Promise<T> {
    const until = performance.now() + patienceMs
    for (;;) {
      try {
        return await door.call<T>(query, variables as Record<string, unknown>)
      } catch (error) {
        if (performance.now() > until) throw new Error(`Refused all the time: ${query}`, { cause: error })
        await sleep(50)
      }
    }
  }
}
