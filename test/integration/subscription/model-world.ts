/** The same on the real thing: a customer in an environment of its own, and what is recorded of it. */
import type { ChangeEstimate } from '../../../src/estimates/service.js'
import * as decimal from '../../../src/kernel/decimal.js'
import { newId } from '../../../src/kernel/id.js'
import { event, type MeteringBench } from '../metering/fixture.js'
import { isPaid, Refused } from './model.js'
import { type Action, coupons } from './model-commands.js'

const hour = 3_600_000
const cents = (amount: string) => Math.round(Number(amount) * 100)

/** What one instant charged, or would; amounts are in cents. */
export interface Bill {
  total: number
  due: number
  lines: number[]
}

export interface MadeInvoice extends Bill {
  id: string
  subscriptionId: string
  billingId: string | null
  status: string
  at: number
}

export interface MadeEntry {
  kind: string
  invoiceId: string
  chargeId: string
  amount: number
  at: number
}

export class World {
  readonly #bench: MeteringBench
  readonly environmentId: string
  readonly #customerId: string
  now: number

  private constructor(bench: MeteringBench, environmentId: string, customerId: string, now: number) {
    this.#bench = bench
    this.environmentId = environmentId
    this.#customerId = customerId
    this.now = now
  }

  static async open(bench: MeteringBench, catalog: string, begin: number): Promise<World> {
    const { environment } = await bench.app.environments.create({ refId: newId(), isTest: true })
    await bench.app.catalog.apply(environment.id, catalog, { dryRun: false, archiveMissing: false })
    await bench.app.testClocks.create(environment.id, begin)
    const customer = await bench.app.customers.create(environment.id, { refId: 'acme' })
    return new World(bench, environment.id, customer.id, begin)
  }

  async advance(to: number): Promise<void> {
    await this.#bench.app.testClocks.advance(this.environmentId, to)
    this.now = to
  }

  /** Time goes on and nobody records what it brings. What comes then is placed after it, as where a clock is moved on. */
  async pass(to: number): Promise<void> {
    const { app, pool } = this.#bench
    await app.environments.moveTestClock(this.environmentId, to)
    await pool.query('UPDATE customer_state SET version = greatest(version, $2) WHERE environment_id = $1', [this.environmentId, to])
    this.now = to
  }

  /** The resource, once there is one. */
  async known(resource: string | null): Promise<string | null> {
    const count = await this.#bench.prisma.customerResource.count({ where: { environmentId: this.environmentId, refId: resource ?? '' } })
    return count > 0 ? resource : null
  }

  /** Stored and acknowledged. */
  async use(count: number, resource: string | null): Promise<void> {
    const events = Array.from({ length: count }, () => event('acme', newId(), { resourceId: resource }))
    if (count > 0) await this.#bench.usage.reportEvents(this.environmentId, events)
  }

  async count(): Promise<void> {
    const aggregation = this.#bench.newAggregation()
    for (const { id: batchId } of await this.#bench.prisma.pendingBatch.findMany({ where: { environmentId: this.environmentId } }))
      await aggregation.aggregate({ v: 1, environmentId: this.environmentId, batchId, stored: null })
  }

  async act(action: Action): Promise<void> {
    const { app } = this.#bench
    const { environmentId } = this
    if (action.do === 'provision') await app.subscriptions.provision(environmentId, this.#provision(action))
    else if (action.do === 'seats') await app.subscriptionChanges.update(environmentId, await this.#seats(action))
    else if (action.do === 'settle') await this.#settle(action)
    else if (action.do === 'coupon') {
      const couponRefId = action.coupon === null ? null : coupons[action.coupon]!.refId
      await app.customers.update(environmentId, 'acme', { couponRefId })
    } else if (action.do === 'undo')
      await app.subscriptionChanges.cancelSchedule(environmentId, await this.#refId('active', action.resource))
    else if (action.do === 'cancel') {
      const subscriptionRefId = await this.#refId(action.kind, action.resource)
      const billing = action.prorate ? { creditsUnused: true } : {}
      await app.cancellations.cancel(environmentId, { subscriptionRefId, time: action.time, billing })
    }
  }

  /** Null: no estimate says what it comes to now. */
  async estimate(action: Action): Promise<Bill | null> {
    const { estimates } = this.#bench.app
    const toBill = ({ total, amountDue, lines }: ChangeEstimate): Bill => {
      return { total: cents(total), due: cents(amountDue), lines: lines.map(({ amount }) => cents(amount)) }
    }
    if (action.do === 'provision' && action.startInDays === 0)
      return toBill(await estimates.provision(this.environmentId, this.#provision(action)))
    if (action.do === 'seats') return toBill(await estimates.update(this.environmentId, await this.#seats(action)))
    return null
  }

  /** The next invoices of what is active, by our id. */
  async previews(): Promise<Map<string, Bill>> {
    const active = await this.#bench.prisma.subscription.findMany({
      where: { environmentId: this.environmentId, status: 'ACTIVE', pricingType: 'PAID' },
    })
    const previews = new Map<string, Bill>()
    for (const { id, refId } of active) {
      const { draft, documents, amountDue } = await this.#bench.app.estimates.nextInvoice(this.environmentId, refId)
      const lines = documents.flatMap((document) => document.lines.map(({ amount }) => cents(amount)))
      previews.set(id, { total: cents(draft.total), due: cents(amountDue), lines })
    }
    return previews
  }

  /** In the order in which they were made. */
  async invoices(): Promise<MadeInvoice[]> {
    const { rows } = await this.#bench.pool.query<MadeInvoice>(
      `SELECT id, subscription_id AS "subscriptionId", billing_id AS "billingId", status, round(total * 100)::int AS total,
         round(amount_due * 100)::int AS due, (extract(epoch FROM created_at) * 1000)::float8 AS at,
         ARRAY(SELECT round(amount * 100)::int FROM invoice_line WHERE environment_id = $1 AND invoice_id = invoice.id ORDER BY position) AS lines
       FROM invoice WHERE environment_id = $1 ORDER BY id`,
      [this.environmentId],
    )
    return rows
  }

  async entries(): Promise<MadeEntry[]> {
    const { rows } = await this.#bench.pool.query<MadeEntry>(
      `SELECT kind, invoice_id AS "invoiceId", charge_id AS "chargeId", round(amount * 100)::int AS amount,
         (extract(epoch FROM created_at) * 1000)::float8 AS at FROM balance_entry WHERE environment_id = $1`,
      [this.environmentId],
    )
    return rows
  }

  /** Of what has ended, by our id: how and when. */
  async ended(): Promise<[id: string, end: string][]> {
    const { rows } = await this.#bench.pool.query<{ id: string; end: string }>(
      `SELECT id, concat_ws(' ', status, cancel_reason, effective_end_date) AS end FROM subscription
       WHERE environment_id = $1 AND status IN ('CANCELED', 'EXPIRED')`,
      [this.environmentId],
    )
    return rows.map(({ id, end }) => [id, end])
  }

  /** How often a billing period begins in one that was renewed before it. */
  async overlaps(): Promise<number> {
    const { rows } = await this.#bench.pool.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM subscription_renewal a JOIN subscription_renewal b USING (environment_id, subscription_id)
       WHERE environment_id = $1 AND a.period_start < b.period_start AND a.period_end > b.period_start`,
      [this.environmentId],
    )
    return rows[0]!.count
  }

  async version(): Promise<number> {
    const { rows } = await this.#bench.pool.query<{ version: number }>(
      'SELECT version::float8 AS version FROM customer_state WHERE environment_id = $1',
      [this.environmentId],
    )
    return rows[0]!.version
  }

  /** All that is recorded in the end, with names in the place of ids. */
  async records() {
    const { environmentId } = this
    const subscriptions = await this.#bench.prisma.subscription.findMany({ where: { environmentId }, include: { resource: true } })
    const invoices = await this.invoices()
    const name = (id: string) => `invoice ${invoices.findIndex((invoice) => invoice.id === id)}`
    const hoursAgo = (at: number) => `${(this.now - at) / hour} h ago`
    return {
      subscriptions: subscriptions
        .map(({ resource, pricingType, status, cancelReason, ...dates }) => {
          const told = [dates.startDate, dates.effectiveEndDate, dates.currentPeriodEnd].map((at) => at && hoursAgo(at.getTime()))
          return [resource?.refId, pricingType, status, cancelReason, ...told].join(' ')
        })
        .sort(),
      invoices: invoices.map(({ id, at, status, total, due, lines }) => [name(id), hoursAgo(at), status, total, due, ...lines].join(' ')),
      entries: (await this.entries())
        .map(({ kind, invoiceId, chargeId, amount, at }) => [kind, name(invoiceId), name(chargeId), amount, hoursAgo(at)].join(' '))
        .sort(),
    }
  }

  #provision({ plan, seats, resource, skipTrial, startInDays, strategy }: Extract<Action, { do: 'provision' }>) {
    return {
      customerRefId: 'acme',
      planRefId: plan,
      resourceRefId: resource,
      skipTrial,
      startDate: startInDays > 0 ? this.now + startInDays * 24 * hour : null,
      scheduleStrategy: strategy,
      quantities: isPaid(plan) ? [{ featureRefId: 'seats', quantity: decimal.fromNumber(seats) }] : [],
    }
  }

  async #seats({ seats, resource, strategy }: Extract<Action, { do: 'seats' }>) {
    const quantities = [{ featureRefId: 'seats', quantity: decimal.fromNumber(seats) }]
    return { subscriptionRefId: await this.#refId('active', resource), quantities, scheduleStrategy: strategy }
  }

  async #refId(kind: 'active' | 'trial' | 'upcoming', resource: string | null): Promise<string> {
    const status = ({ active: 'ACTIVE', trial: 'IN_TRIAL', upcoming: 'NOT_STARTED' } as const)[kind]
    // So that its name is found by the status that it has now.
    await this.record()
    const row = await this.#bench.prisma.subscription.findFirst({
      where: { environmentId: this.environmentId, status, ...(resource ? { resource: { refId: resource } } : { resourceId: null }) },
    })
    if (!row) throw new Refused()
    return row.refId
  }

  async record(): Promise<void> {
    await this.#bench.app.dueTransitions.applyDue(this.environmentId, this.#customerId)
  }

  /** What becomes of an invoice, counted from the last, whatever its subscription is by now. */
  async #settle({ invoice, outcome }: Extract<Action, { do: 'settle' }>): Promise<void> {
    const { app } = this.#bench
    const { environmentId } = this
    await this.record()
    while ((await app.billing.deliver({ of: { environmentId } })) > 0);
    const billingId = (await this.invoices()).at(-1 - invoice)?.billingId
    if (!billingId) return
    const call = () => ({ environmentId, customerId: this.#customerId, idempotencyKey: newId(), signal: AbortSignal.timeout(30_000) })
    const tell = async (news: Parameters<typeof app.billingProvider.tell>[2]) =>
      app.billing.hear(environmentId, (await app.billingProvider.tell(environmentId, billingId, news))!)
    if (outcome.startsWith('failed')) await tell({ status: 'FAILED', errorMessage: 'Card declined.' })
    if (outcome.startsWith('taken back'))
      await app.billing.hear(environmentId, await app.billingProvider.voidInvoice(call(), { billingId }))
    if (outcome.includes('paid')) await tell({ status: 'PAID' })
    if (outcome.endsWith('refunded')) await app.billing.hear(environmentId, await app.billingProvider.refund(call(), { billingId }))
  }
}
