import { expect } from 'chai'
import type { ChangeEstimate } from '../../../../src/estimates/service.js'
import * as decimal from '../../../../src/kernel/decimal.js'
import { Problem } from '../../../../src/kernel/problem.js'
import { addMeasurementsToRollups } from '../../../../src/metering/counting/rollup-repository.js'
import type { Subscription } from '../../../../src/subscription/rules/subscription.js'
import type { Bench } from '../fixture.js'
import {
  type ContentSpec,
  type Currency,
  type CustomerSpec,
  catalogOf,
  minorDigits,
  type PriceList,
  type StepSpec,
  type WorldSpec,
} from './cases.js'
import { type Held, inUnits, lateUsagePrice, periodPrice, unused, usagePrice, withTax } from './naive-price.js'
import { Payments } from './payments.js'
import { boxes, contentRequest, seats, termsOf } from './requests.js'

/** As many customers are at work at once as a busy door has requests. */
const concurrency = 6

/** What the database says that a change made. */
interface MadeInvoice {
  id: string
  subscriptionId: string
  currency: Currency
  subTotal: string
  discount: string
  tax: string
  total: string
  amountDue: string
  lines: string[]
  /** Of them, those of usage that came late. */
  lateLines: string[]
  createdAt: number
}

type Current = Pick<Subscription, 'id' | 'refId' | 'status' | 'startDate' | 'effectiveEndDate' | 'currentPeriod'>

const epochMs = (column: string) => `(extract(epoch FROM ${column}) * 1000)::float8`

/** A customer on its way: what it holds, as the test knows it. */
interface Traveller {
  spec: CustomerSpec
  refId: string
  id: string
  subscriptionRefId: string | null
  known: Set<string>
  /** Of all invoices, in minor units. */
  charged: Partial<Record<Currency, number>>
  /** All that were reported. */
  calls: { count: number; at: number }[]
  /** What the second opinion can follow; null: what stands is the outcome of something that it does not know. */
  held: Held | null
  /** What charged for the period that began at `from`; null: it is not known, or nothing did. */
  charge: { invoiceId: string; from: number } | null
  /** The next invoice as it was answered before the clock moved on. */
  foreseen: { subscriptionId: string; isCertain: boolean; total: string; amountDue: string; lines: string[] } | null
}

export class EstimateWorld {
  /** Estimates that were compared with an invoice, by what was asked. */
  readonly cases: Record<string, number> = {}
  /** What was heard of payments. */
  readonly heard: Record<string, number> = {}
  readonly #bench: Bench
  readonly #spec: WorldSpec
  #environmentId = ''
  #featureId = ''
  #now: number
  #prices: PriceList
  #payments!: Payments

  constructor(bench: Bench, spec: WorldSpec) {
    this.#bench = bench
    this.#spec = spec
    // Far ahead of the real clock, so that the test clock rules every instant.
    this.#now = Date.parse('2027-01-15T00:00:00Z') + spec.gaps[0]! * 1_000
    this.#prices = spec.priceList
  }

  /** `only`: the customer of this index, as if it were alone. */
  async run(only?: number): Promise<void> {
    const { spec, bench } = { spec: this.#spec, bench: this.#bench }
    this.#environmentId = await bench.createEnvironment({ isTest: true, catalog: catalogOf(spec.priceList, spec) })
    this.#featureId = (await bench.prisma.feature.findFirstOrThrow({ where: { environmentId: this.#environmentId, refId: 'calls' } })).id
    this.#payments = new Payments(bench, this.#environmentId, this.heard)
    await this.#convertCalls()
    await bench.testClocks.create(this.#environmentId, this.#now)
    const travellers: Traveller[] = []
    for (const [index, customer] of spec.customers.entries()) {
      if (only !== undefined && only !== index) continue
      const refId = `customer-${index}`
      const { timeZone, currency, discount } = customer
      const couponRefId = discount && 'isCustomers' in discount && discount.isCustomers ? discount.couponRefId : null
      await bench.customers.provision(this.#environmentId, {
        refId,
        timeZone,
        couponRefId,
        ...(currency && { billingCurrency: currency }),
      })
      const { id } = (await bench.customers.get(this.#environmentId, refId))!
      travellers.push({
        spec: customer,
        refId,
        id,
        subscriptionRefId: null,
        known: new Set(),
        charged: {},
        calls: [],
        held: null,
        charge: null,
        foreseen: null,
      })
    }
    const each = (label: string, work: (traveller: Traveller) => Promise<void>) =>
      atOnce(travellers, async (traveller) => {
        try {
          await work(traveller)
        } catch (error) {
          ;(error as Error).message = `customer ${traveller.refId.slice('customer-'.length)}, ${label}: ${(error as Error).message}`
          throw error
        }
      })
    await each('first', (traveller) =>
      this.#provision(traveller, traveller.spec.first, { proration: 'INVOICE_IMMEDIATELY', isPaidFirst: false }),
    )
    for (const [index, gap] of spec.gaps.slice(1).entries()) {
      const next = this.#now + gap * 1_000
      await each(`before step ${index}`, (traveller) => this.#foresee(traveller, traveller.spec.steps[index]!, next))
      await bench.testClocks.advance(this.#environmentId, next)
      this.#now = next
      await each(`after the clock of step ${index}`, (traveller) => this.#compareForeseen(traveller))
      if (index === 2) {
        this.#prices = spec.laterPrices
        await bench.catalog.apply(this.#environmentId, catalogOf(this.#prices, spec), { dryRun: false, archiveMissing: false })
        await this.#convertCalls()
      }
      await each(`payments of step ${index}`, async (traveller) => {
        const { payment } = traveller.spec.steps[index]!
        if (payment) await this.#payments.settle(traveller.id, payment)
        else await this.#payments.look(traveller.id)
        // What a payment ends makes invoices too, which are no part of the step.
        await this.#newInvoices(traveller)
      })
      await each(`step ${index}`, (traveller) => this.#step(traveller, traveller.spec.steps[index]!))
      await this.#payments.check()
    }
  }

  async #step(traveller: Traveller, step: StepSpec): Promise<void> {
    const current = await this.#current(traveller)
    const { kind, content, proration } = step
    if (kind === 'rest') return
    if (!current || kind === 'provision') return this.#provision(traveller, content, step)
    if (kind === 'cancel') return this.#cancel(traveller, current, step)
    if (kind === 'migrate') return this.#migrate(traveller, current, step)
    const { addons } = contentRequest(content)
    const change =
      kind === 'quantity'
        ? { quantities: [seats(content.seats)] }
        : kind === 'addons'
          ? { addons, ...(content.boxes !== null && { quantities: [boxes(content.boxes)] }) }
          : { billingPeriod: content.billingPeriod }
    const restarts = step.restartsPeriod && kind !== 'period'
    const request = {
      subscriptionRefId: current.refId,
      ...change,
      ...(restarts && { billingCycleAnchor: 'NOW' as const }),
      billing: { proration },
    }
    const made = await this.#compare(traveller, restarts ? 'new period' : kind, {
      estimate: () => this.#bench.estimates.update(this.#environmentId, request),
      change: () => this.#bench.subscriptionChanges.update(this.#environmentId, request),
    })
    if (!made) return
    const { held } = traveller
    traveller.held = null
    if (!held || !current.currentPeriod || proration !== 'INVOICE_IMMEDIATELY' || made.subscription.scheduled.length > 0) return
    const soldBy = { ...held.soldBy }
    // An add-on that is given up and bought again is sold by the prices of then.
    if (held.support === 0) soldBy.support = this.#prices
    if (held.boxes === null) soldBy.storage = this.#prices
    const { support, boxes: boxCount, billingPeriod } = content
    traveller.held =
      kind === 'quantity'
        ? { ...held, seats: content.seats }
        : kind === 'addons'
          ? { ...held, soldBy, support, boxes: boxCount }
          : { ...held, billingPeriod }
    this.#agree(traveller, { ...made, before: current }, { before: held, after: traveller.held })
    this.#remember(traveller, made)
  }

  async #provision(
    traveller: Traveller,
    content: ContentSpec,
    { proration, isPaidFirst }: Pick<StepSpec, 'proration' | 'isPaidFirst'>,
  ): Promise<void> {
    const { spec, refId } = traveller
    const before = await this.#current(traveller)
    const request = {
      customerRefId: refId,
      planRefId: content.planRefId,
      billingPeriod: content.planRefId === 'tried' ? null : content.billingPeriod,
      billingCountryCode: spec.country,
      ...contentRequest(content),
      billing: { ...termsOf(spec, content), proration, ...(isPaidFirst && { collectionMethod: 'CHARGE' as const }) },
    }
    const made = await this.#compare(traveller, before ? 'plan change' : 'provision', {
      estimate: () => this.#bench.estimates.provision(this.#environmentId, request),
      change: async () => (await this.#bench.subscriptions.provision(this.#environmentId, request)).subscription,
    })
    if (!made) return
    const { subscription, invoice } = made
    traveller.subscriptionRefId = subscription.refId
    traveller.held = null
    const isNew = subscription.id !== before?.id && invoice !== null && subscription.status === 'ACTIVE'
    if (!isNew || ('amountOff' in (spec.discount ?? {}) && (spec.discount as { months: number | null }).months !== null)) return
    const soldBy = Object.fromEntries([content.planRefId, 'support', 'storage'].map((packageRefId) => [packageRefId, this.#prices]))
    const overrides = content.planRefId === 'tried' ? null : spec.overrides
    traveller.held = { ...content, currency: invoice.currency, soldBy }
    if (content.planRefId === 'tried') traveller.held.billingPeriod = 'MONTHLY'
    this.#remember(traveller, made)
    // Where it takes the place of another one, the invoice has the credit for that too.
    if (before !== null) return
    const price = periodPrice({ ...spec, overrides }, traveller.held)
    expect(Number(invoice.total), 'the price list').to.equal(inUnits(withTax(price, spec.taxPercentage), invoice.currency))
  }

  /** No estimate is asked for a cancellation: the price list alone says what comes back. */
  async #cancel(traveller: Traveller, current: Current, { isImmediate }: StepSpec): Promise<void> {
    const { held } = traveller
    const time = isImmediate ? ('IMMEDIATE' as const) : null
    const cancel = () =>
      this.#bench.cancellations.cancel(this.#environmentId, { subscriptionRefId: current.refId, time, billing: { creditsUnused: true } })
    const { after, made } = await this.#changed(traveller, cancel)
    traveller.held = null
    if (after.status !== 'CANCELED' || !held || !current.currentPeriod || !traveller.charge) return
    const isGiven = this.#payments.fundingOf(traveller.charge.invoiceId) === 'given'
    const credit = made.filter(
      ({ lines, lateLines }) =>
        lateLines.length === 0 && lines.every((amount) => Number(amount) <= 0) && lines.some((amount) => Number(amount) < 0),
    )
    const price = unused(periodPrice(this.#ownOf(traveller, held), held), current.currentPeriod, this.#now)
    const given = credit.reduce((sum, { total }) => sum + Number(total), 0)
    expect(given, 'the price list').to.equal(isGiven ? inUnits(-withTax(price, traveller.spec.taxPercentage), held.currency) : 0)
    this.#count(isGiven ? 'cancel' : 'cancel unpaid')
  }

  async #migrate(traveller: Traveller, current: Current, { isImmediate }: StepSpec): Promise<void> {
    const time = isImmediate ? ('IMMEDIATE' as const) : ('END_OF_BILLING_PERIOD' as const)
    const outcome = await this.#changed(traveller, () =>
      this.#bench.subscriptionChanges.migrateToLatest(this.#environmentId, current.refId, time),
    ).catch((error: unknown) => Problem.from(error).reason)
    if (typeof outcome === 'string') {
      expect(['SUBSCRIPTION_ALREADY_ON_LATEST_PLAN', 'INVALID_SUBSCRIPTION_STATUS']).to.include(outcome)
      return
    }
    const { held } = traveller
    const { after, made } = outcome
    traveller.held = null
    if (!held || after.status !== 'ACTIVE') return
    const [invoice = null] = made.slice(-1)
    if (!isImmediate) {
      expect(invoice, 'nothing is charged before the period is over').to.equal(null)
      return
    }
    const soldBy = Object.fromEntries(Object.keys(held.soldBy).map((packageRefId) => [packageRefId, this.#prices]))
    traveller.held = { ...held, soldBy }
    this.#agree(traveller, { before: current, subscription: after, invoice }, { before: held, after: traveller.held })
    this.#remember(traveller, { subscription: after, invoice })
    this.#count('migrate')
  }

  /**
   * The second opinion about a change: what is left of the new price in its period less what is left of the old one in that of before. Late usage that waited
   * for the next invoice comes with it.
   */
  #agree(
    traveller: Traveller,
    made: { before: Pick<Current, 'currentPeriod'>; subscription: Subscription; invoice: MadeInvoice | null },
    change: { before: Held; after: Held },
  ): void {
    const left = (held: Held, { currentPeriod }: Pick<Current, 'currentPeriod'>) =>
      withTax(unused(periodPrice(this.#ownOf(traveller, held), held), currentPeriod!, this.#now), traveller.spec.taxPercentage)
    if (!traveller.charge) return
    // What is not paid is not given back yet, and what is dead never. Without an invoice there is nothing to give back: it is the same as before.
    const isGiven = made.invoice === null || this.#payments.fundingOf(traveller.charge.invoiceId) === 'given'
    const price = left(change.after, made.subscription) - (isGiven ? left(change.before, made.before) : 0n)
    if (!isGiven) this.#count('change unpaid')
    const { currency } = change.after
    const late = lateUsagePrice(traveller.spec, made.invoice?.lateLines ?? [], currency)
    expect(Number(made.invoice?.total ?? 0), 'the price list').to.equal(inUnits(price + late, currency))
  }

  #remember(traveller: Traveller, { subscription, invoice }: { subscription: Subscription; invoice: MadeInvoice | null }): void {
    if (invoice) traveller.charge = { invoiceId: invoice.id, from: subscription.currentPeriod!.start }
  }

  #ownOf({ spec }: Traveller, { planRefId }: Held): CustomerSpec {
    return planRefId === 'tried' ? { ...spec, overrides: null } : spec
  }

  /** Asks for the estimate, makes the change, and compares: the amounts, line by line. Null: both were refused, for the same reason. */
  async #compare(
    traveller: Traveller,
    kind: string,
    { estimate, change }: { estimate: () => Promise<ChangeEstimate>; change: () => Promise<Subscription> },
  ): Promise<{ subscription: Subscription; invoice: MadeInvoice | null } | null> {
    const estimated = await estimate().catch((error: unknown) => Problem.from(error))
    const outcome = await this.#changed(traveller, change).catch((error: unknown) => Problem.from(error))
    if (estimated instanceof Problem || outcome instanceof Problem) {
      if (outcome instanceof Problem && outcome.code === 'INTERNAL') throw outcome.cause ?? outcome
      const told = (one: unknown) => (one instanceof Problem ? `${one.reason}: ${one.message}` : 'accepted')
      expect(told(estimated), `the estimate of "${kind}" as against the change`).to.equal(told(outcome))
      return null
    }
    const subscription = outcome.after
    const invoice = outcome.made.filter(({ subscriptionId }) => subscriptionId === subscription.id).at(-1) ?? null
    const { total, subTotal, discountAmount: discount, tax, amountDue } = estimated
    if (subscription.status === 'PAYMENT_PENDING' && invoice) {
      // What it takes the place of ends when it is paid: what that makes comes then.
      const lines = estimated.lines.map(({ amount }) => amount)
      expect(lines.slice(lines.length - invoice.lines.length), 'paid first').to.deep.equal(invoice.lines)
      this.#count('paid first')
      return { subscription, invoice }
    }
    // Own ones come last, as they are made.
    const isOwn = ({ subscriptionId }: MadeInvoice) => subscriptionId === subscription.id
    const expected = added([...outcome.made.filter((made) => !isOwn(made)), ...outcome.made.filter(isOwn)])
    expect({ total, subTotal, discount, tax, amountDue, lines: estimated.lines.map(({ amount }) => amount) }, kind).to.deep.equal({
      total: expected.total,
      subTotal: expected.subTotal,
      discount: expected.discount,
      tax: expected.tax,
      amountDue: expected.amountDue,
      lines: expected.lines,
    })
    this.#count(kind)
    return { subscription, invoice }
  }

  /** Reports usage, some of it late, and asks for the next invoice where the clock is about to pass the end of the period. */
  async #foresee(traveller: Traveller, { calls, lateCalls }: StepSpec, next: number): Promise<void> {
    traveller.foreseen = null
    const current = await this.#current(traveller)
    const period = current?.currentPeriod
    if (current?.status !== 'ACTIVE' || !period) return
    const isPaid = !(await this.#payments.isMissing(traveller.id))
    // What is used in the instant of a change is of what was before it.
    if (calls > 0) await this.#report(traveller, calls, period.start + 1_000)
    if (lateCalls !== null && current.startDate < period.start) await this.#report(traveller, lateCalls, period.start - 1_000)
    const { documents, draft, amountDue } = await this.#bench.estimates.nextInvoice(this.#environmentId, current.refId)
    const lines = documents.flatMap((document) => document.lines.map(({ amount }) => amount))
    // What nobody pays may end before.
    if (isPaid) traveller.foreseen = { subscriptionId: current.id, isCertain: period.end <= next, total: draft.total, amountDue, lines }
    const { held } = traveller
    const usage = documents.flatMap((one) => one.lines).find((line) => line.description === 'business: calls')
    if (!usage || held?.planRefId !== 'business' || current.startDate > period.start || usage.period.end !== period.end) return
    // What was used in the instant of the change that began the period was charged with what was before it.
    const sinceChange = usage.period.start - period.start
    expect(sinceChange, 'usage counts from the beginning of its period').to.be.within(0, 5)
    const used = traveller.calls.filter((call) => call.at >= usage.period.start && call.at < period.end)
    const { unitTransformation } = this.#spec
    const price = usagePrice(traveller.spec, held, { calls: used.reduce((sum, { count }) => sum + count, 0), unitTransformation })
    expect(Number(usage.amount), 'the price list of usage').to.equal(inUnits(price, held.currency))
    this.#count('usage')
  }

  async #compareForeseen(traveller: Traveller): Promise<void> {
    const { foreseen } = traveller
    const made = await this.#newInvoices(traveller)
    if (!foreseen) return
    const own = made.filter(({ subscriptionId }) => subscriptionId === foreseen.subscriptionId)
    if (own.length === 0 && !foreseen.isCertain) return
    // Of the first instant that made any, all.
    const documents = own.filter(({ createdAt }) => createdAt === own[0]!.createdAt)
    const { total, amountDue, lines } = foreseen
    const sum = added(documents)
    expect({ total, amountDue, lines }, 'renewal').to.deep.equal({
      total: sum.total,
      amountDue: sum.amountDue,
      lines: documents.flatMap((document) => document.lines),
    })
    this.#count('renewal')
  }

  /** As if calls were counted from raw events, which only those that are may be; here they are reported. */
  async #convertCalls(): Promise<void> {
    const { divide, round } = this.#spec.unitTransformation ?? { divide: null, round: null }
    const data = { unitDivide: divide, unitRounding: round }
    await this.#bench.prisma.feature.updateMany({ where: { environmentId: this.#environmentId, refId: 'calls' }, data })
  }

  /** As if they had been counted; no two at one instant, as all of that are added to its rollup. */
  async #report({ id: customerId, calls: reported }: Traveller, calls: number, around: number): Promise<void> {
    const at = around + reported.length
    reported.push({ count: calls, at })
    await this.#bench.pool.query(
      `INSERT INTO usage_measurement (environment_id, id, customer_id, feature_id, value, behavior, occurred_at)
       VALUES ($1, gen_random_uuid(), $2, $3, $4, 'DELTA', $5)`,
      [this.#environmentId, customerId, this.#featureId, calls, new Date(at)],
    )
    const range = { customerId, featureId: this.#featureId, from: at, to: at + 1 }
    await addMeasurementsToRollups(this.#bench.pool, this.#environmentId, [range])
  }

  /** What is paid for, else what is tried; null: neither. A trial that converted may have taken the place of the other. Time is recorded by the clock. */
  async #current(traveller: Traveller): Promise<Current | null> {
    const { rows } = await this.#bench.pool.query<Current & { start: number | null; end: number | null }>(
      `SELECT id, ref_id AS "refId", status, ${epochMs('start_date')} AS "startDate", ${epochMs('effective_end_date')} AS "effectiveEndDate",
         ${epochMs('current_period_start')} AS start, ${epochMs('current_period_end')} AS end
       FROM subscription WHERE environment_id = $1 AND customer_id = $2 AND status IN ('ACTIVE', 'IN_TRIAL') ORDER BY status = 'IN_TRIAL'`,
      [this.#environmentId, traveller.id],
    )
    const [row] = rows
    if (row?.refId !== traveller.subscriptionRefId) traveller.held = null
    traveller.subscriptionRefId = row?.refId ?? null
    if (!row) return null
    const { start, end, ...current } = row
    if (start !== null && start !== traveller.charge?.from) traveller.charge = await this.#renewedBy(row.id, start)
    return { ...current, currentPeriod: start === null || end === null ? null : { start, end } }
  }

  /** Of several of that instant the last one charges for what begins. */
  async #renewedBy(subscriptionId: string, from: number): Promise<Traveller['charge']> {
    const where = { environmentId: this.#environmentId, subscriptionId, createdAt: new Date(from) }
    const invoice = await this.#bench.prisma.invoice.findFirst({ where, orderBy: { id: 'desc' } })
    return invoice && { invoiceId: invoice.id, from }
  }

  async #changed(traveller: Traveller, change: () => Promise<Subscription>): Promise<{ after: Subscription; made: MadeInvoice[] }> {
    const after = await change()
    return { after, made: await this.#newInvoices(traveller) }
  }

  /** Of the customer, in the order in which they were made, without those that were seen before. */
  async #newInvoices({ id, known, charged }: Traveller): Promise<MadeInvoice[]> {
    const { rows } = await this.#bench.pool.query<MadeInvoice>(
      `SELECT id, subscription_id AS "subscriptionId", currency, sub_total::float8::text AS "subTotal", discount::float8::text AS discount, tax::float8::text AS tax,
         total::float8::text AS total, amount_due::float8::text AS "amountDue", extract(epoch FROM created_at)::float8 * 1000 AS "createdAt",
         ARRAY(SELECT amount::float8::text FROM invoice_line WHERE environment_id = $1 AND invoice_id = invoice.id ORDER BY position) AS lines,
         ARRAY(SELECT amount::float8::text FROM invoice_line
           WHERE environment_id = $1 AND invoice_id = invoice.id AND description LIKE 'Late usage%' ORDER BY position) AS "lateLines"
       FROM invoice WHERE environment_id = $1 AND customer_id = $2 AND id <> ALL ($3) ORDER BY created_at, id`,
      [this.#environmentId, id, [...known]],
    )
    for (const { id: invoiceId, currency, total } of rows) {
      known.add(invoiceId)
      charged[currency] = (charged[currency] ?? 0) + Math.round(Number(total) * 10 ** minorDigits[currency])
    }
    for (const [currency, sum] of Object.entries(charged)) expect(sum, `${currency} given back beyond what was charged`).to.be.at.least(0)
    return rows
  }

  #count(kind: string): void {
    this.cases[kind] = (this.cases[kind] ?? 0) + 1
  }
}

/** Invoices in the currency of the last, as one. */
function added(invoices: readonly MadeInvoice[]) {
  const same = invoices.filter(({ currency }) => currency === invoices.at(-1)!.currency)
  const sum = (amountOf: (invoice: MadeInvoice) => string) =>
    same.reduce((total, invoice) => decimal.add(total, decimal.fromText(amountOf(invoice))), decimal.zero)
  return {
    total: sum(({ total }) => total),
    subTotal: sum(({ subTotal }) => subTotal),
    discount: sum(({ discount }) => discount),
    tax: sum(({ tax }) => tax),
    amountDue: sum(({ amountDue }) => amountDue),
    lines: same.flatMap(({ lines }) => lines),
  }
}

async function atOnce<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items]
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item)
    }),
  )
}
