import type { BilledSubscription, BillingLedger, SavedChange } from '../billing/ledger.js'
import { findBalance } from '../billing/records/balance.js'
import { findAccounts, findInvoices } from '../billing/records/invoices.js'
import { findCustomerDiscount } from '../billing/records/redemptions.js'
import { type Account, discountAt, isCharged, newAccount } from '../billing/rules/account.js'
import { balanceAfter } from '../billing/rules/balance.js'
import type { Discount, Draft, Invoice, Terms } from '../billing/rules/billing.js'
import { type Charge, chargesOf, currencyOf } from '../billing/rules/charges.js'
import { payerOf } from '../billing/rules/credit.js'
import { type Estimate, estimateOf, joined, paidFrom } from '../billing/rules/estimate.js'
import { totalled } from '../billing/rules/invoice.js'
import type { BillingProvider } from '../billing/rules/provider.js'
import { usualTerms } from '../billing/rules/request.js'
import { withTaxRates } from '../billing/tax.js'
import type { EpochMs } from '../kernel/clock.js'
import * as decimal from '../kernel/decimal.js'
import { type Db, Prisma, type PrismaClient } from '../platform/postgres.js'
import { inSnapshot } from '../platform/transaction.js'
import { advance } from '../subscription/rules/advance.js'
import { billingPeriodAt, firstPeriod } from '../subscription/rules/billing-period.js'
import { isSameSlot } from '../subscription/rules/coexistence.js'
import { apply } from '../subscription/rules/lifecycle.js'
import { planChangeType } from '../subscription/rules/plan-change.js'
import { invalidSubscriptionStatus } from '../subscription/rules/problems.js'
import { isFinal, type Subscription } from '../subscription/rules/subscription.js'
import { agreeLater } from '../subscription/use-cases/agree-later.js'
import type { UpdateSubscription } from '../subscription/use-cases/change.js'
import type { ProvisionSubscription } from '../subscription/use-cases/references.js'
import { type Preview, type SubscriptionPreviews, toChanges } from './previews.js'

export interface ChangeEstimate extends Estimate {
  /** Whether it leads to a cheaper plan; null: there is no plan before it. */
  isPlanDowngrade: boolean | null
  /** Whether changes of the subscription are yet to come. */
  hasScheduledUpdates: boolean
}

/** The invoices that come next, all of one instant, and what their lines are made of. */
export interface NextInvoice {
  /** In the order in which they are made. */
  documents: Draft[]
  /** Added up, in the currency of the last; nothing in it where there is none. */
  draft: Draft
  /** What the customer has to its credit, what of it they use, and what is still to be paid. */
  balance: decimal.Decimal
  used: decimal.Decimal
  amountDue: decimal.Decimal
  at: EpochMs
  /** As it is charged. */
  terms: Terms
  /** That holds for the draft; null: none. */
  discount: Discount | null
  /** As it is now. */
  subscription: Subscription
  /** By id of the price: what lines charge by. */
  charges: ReadonlyMap<string, Charge>
}

/** An answer about what is not sold for money has to name one. */
const fallbackCurrency = 'USD'

/** Answers what changes would cost. Everything is read in a transaction that cannot write. */
export class EstimateService {
  readonly #prisma: PrismaClient
  readonly #previews: SubscriptionPreviews
  readonly #ledger: BillingLedger
  readonly #provider: Pick<BillingProvider, 'findTaxRates'>

  constructor(parts: {
    prisma: PrismaClient
    previews: SubscriptionPreviews
    ledger: BillingLedger
    provider: Pick<BillingProvider, 'findTaxRates'>
  }) {
    this.#prisma = parts.prisma
    this.#previews = parts.previews
    this.#ledger = parts.ledger
    this.#provider = parts.provider
  }

  /** Of a new subscription, or of what provisioning changes about the one that is there. */
  async provision(environmentId: string, asked: ProvisionSubscription & { customerRefId: string }): Promise<ChangeEstimate> {
    const request = { ...asked, billing: await withTaxRates(this.#provider, environmentId, asked.billing ?? {}) }
    return this.#read(async (db) => {
      const preview = await this.#previews.provision(db, environmentId, request)
      const { subscription, now, decision, scheduleId } = preview
      const agreesLater = { decision, scheduleId, request: request.billing }
      // What is agreed for a plan change that waits changes nothing now; it is refused now if it cannot be agreed.
      const later = await agreeLater(db, { agreeIn: this.#checkAgreement }, { ...preview.customer, now }, agreesLater)
      if (later) return this.#estimate(db, { ...preview, ...later }, {})
      if (subscription.status !== 'NOT_STARTED' || preview.decision.kind !== 'create') return this.#estimate(db, preview, request.billing)
      // It is charged when it starts: what it would cost then, with what is held now.
      const { startDate } = subscription
      const started: Subscription = { ...subscription, status: 'ACTIVE', currentPeriod: firstPeriod(subscription, startDate) }
      const inForce =
        (await this.#openAt(db, preview, startDate)).find((other) => other.status === 'ACTIVE' && isSameSlot(other, started)) ?? null
      const at = Math.max(startDate, now)
      const change: SavedChange = { before: null, after: started, at, isRenewal: false, inForce }
      // What is not charged settles nothing by an invoice of its own: that is what the other one's end does.
      const ended = inForce && !isCharged(started) ? [{ before: inForce, after: apply(inForce, 'replace', at), at, isRenewal: false }] : []
      const changes = [...preview.changes.filter(isWithdrawn), ...ended, change]
      return this.#estimate(db, { ...preview, changes, subscription: started, before: inForce }, request.billing)
    })
  }

  async update(environmentId: string, asked: UpdateSubscription): Promise<ChangeEstimate> {
    const request = { ...asked, billing: await withTaxRates(this.#provider, environmentId, asked.billing ?? {}) }
    return this.#read(async (db) => this.#estimate(db, await this.#previews.update(db, environmentId, request), request.billing))
  }

  /**
   * What the next instant makes at which time makes invoices of it, with the usage of now: the end of the running period, or a change that waits for an
   * earlier one.
   */
  nextInvoice(environmentId: string, subscriptionRefId: string): Promise<NextInvoice> {
    return this.#read(async (db) => {
      const { customer, due, open, subscription, now } = await this.#previews.held(db, environmentId, subscriptionRefId)
      const period = billingPeriodAt(subscription, now)
      if (!period) throw invalidSubscriptionStatus(subscriptionRefId, subscription.status, 'invoiced')
      const billed = await this.#ledger.draftIn(db, customer, [...due, ...toChanges(advance(open, period.end))])
      const later = billed.filter((one) => one.subscription.id === subscription.id && one.at > now)
      const at = later.find(({ drafts }) => drafts.length > 0)?.at ?? period.end
      const own = later.filter((one) => one.at === at)
      const payerId = payerOf(subscription)
      const documents = documentsOf(own).flatMap((one) => (one.payerId === payerId ? [one.draft] : []))
      const account = own.at(-1)?.account ?? (await this.#account(db, customer, subscription))
      const { terms, standing } = account
      const currency = documents.at(-1)?.currency ?? currencyOf(subscription, customer.billingCurrency) ?? fallbackCurrency
      const nothing = { reason: 'BILLING_CYCLE', currency, period, lines: [], discount: decimal.zero, tax: decimal.zero } as const
      const balance = await this.#balance(db, { environmentId, payerId, currency }, billed, documents)
      const customerDiscount = await findCustomerDiscount(db, environmentId, customer.id)
      return {
        documents,
        draft: joined(documents) ?? totalled({ ...nothing, lines: [] }),
        balance,
        ...paidFrom(balance, totalsIn(currency, documents)),
        at: now,
        terms,
        discount: discountAt(account, { customerDiscount, period: standing?.period ?? { start: at }, at }),
        subscription,
        charges: chargesIn([subscription, ...own.map((one) => one.subscription)], terms, documents),
      }
    })
  }

  readonly #checkAgreement: BillingLedger['agreeIn'] = async (db, customer, change, request) =>
    this.#ledger.draftIn(db, customer, [change], request)

  async #estimate(
    db: Db,
    { customer, now, due, changes, subscription, before }: Preview,
    billing: ProvisionSubscription['billing'],
  ): Promise<ChangeEstimate> {
    const { environmentId } = subscription
    const billed = await this.#ledger.draftIn(db, customer, [...due, ...changes], billing)
    const isAsked = (one: BilledSubscription) => changes.some(({ after }) => after === one.subscription)
    const own = billed.filter((one) => one.subscription.id === subscription.id && isAsked(one)).at(-1)
    const account = own?.account ?? (await this.#account(db, customer, subscription))
    const payerId = payerOf(subscription)
    // Also of what it takes the place of: its usage is charged in the same instant.
    const drafts = documentsOf(billed.filter(isAsked)).flatMap((one) => (one.payerId === payerId ? [one.draft] : []))
    const at = changes.at(-1)?.at ?? now
    const currency = drafts.at(-1)?.currency ?? account.terms.currency
    const payer = { environmentId, payerId, currency: currency ?? fallbackCurrency }
    const balance = currency === null ? decimal.zero : await this.#balance(db, payer, billed, drafts, changes.filter(isWithdrawn))
    const estimate = estimateOf({
      account,
      drafts,
      content: subscription,
      period: billingPeriodAt(subscription, at) ?? firstPeriod(subscription, at),
      at,
      balance,
      customerDiscount: await findCustomerDiscount(db, environmentId, customer.id),
      fallbackCurrency: customer.billingCurrency ?? fallbackCurrency,
    })
    const planned = subscription.scheduled.flatMap(({ change }) => ('plan' in change ? [change] : [])).at(-1) ?? subscription
    const isPlanDowngrade =
      before && before.plan.packageId !== planned.plan.packageId ? planChangeType(before, planned) === 'DOWNGRADE' : null
    return { ...estimate, isPlanDowngrade: before && (isPlanDowngrade ?? false), hasScheduledUpdates: subscription.scheduled.length > 0 }
  }

  /**
   * What the payer has to its credit when the documents come: others that the same change makes before them use it first, and what the invoices have used of it
   * that are taken back before comes back.
   */
  async #balance(
    db: Db,
    { environmentId, payerId, currency }: { environmentId: string; payerId: string; currency: string },
    billed: readonly BilledSubscription[],
    [first]: readonly Draft[],
    withdrawn: readonly SavedChange[] = [],
  ): Promise<decimal.Decimal> {
    const drafts = documentsOf(billed)
    const index = drafts.findIndex(({ draft }) => draft === first)
    const before = drafts.slice(0, index === -1 ? undefined : index).filter((other) => other.payerId === payerId)
    const totals = totalsIn(
      currency,
      before.map(({ draft }) => draft),
    )
    const ids = withdrawn.map(({ after }) => after.id)
    const unpaid = ids.length === 0 ? [] : (await findInvoices(db, environmentId, ids)).filter(isUnpaid)
    const own = unpaid.filter((invoice) => invoice.customerId === payerId && invoice.currency === currency)
    const returned = own.reduce((sum, { creditApplied }) => decimal.add(sum, creditApplied), decimal.zero)
    return totals.reduce(balanceAfter, decimal.add(await findBalance(db, environmentId, payerId, currency), returned))
  }

  async #account(db: Db, customer: Preview['customer'], subscription: Subscription): Promise<Account> {
    const stored = await findAccounts(db, subscription.environmentId, [subscription.id])
    return (
      stored.get(subscription.id)?.account ?? newAccount({ ...usualTerms, currency: currencyOf(subscription, customer.billingCurrency) })
    )
  }

  async #openAt(db: Db, { subscription, changes, customer }: Preview, at: EpochMs): Promise<Subscription[]> {
    const held = await this.#previews.open(db, customer)
    const ended = new Set(changes.filter(({ after }) => after.id !== subscription.id).map(({ after }) => after.id))
    const left = held.filter(({ id }) => !ended.has(id))
    return advance(left, at).subscriptions
  }

  #read<T>(work: (db: Db) => Promise<T>): Promise<T> {
    return inSnapshot(this.#prisma, async (db) => {
      await db.$executeRaw(Prisma.sql`SET TRANSACTION READ ONLY`)
      return work(db)
    })
  }
}

/** It waits for its first payment and is not wanted any more: its invoice is taken back before anything else happens. */
const isWithdrawn = ({ before, after }: SavedChange): boolean => before?.status === 'PAYMENT_PENDING' && isFinal(after.status)

const isUnpaid = ({ status }: Pick<Invoice, 'status'>): boolean => status === 'OPEN' || status === 'FAILED'

/** With whom they are for. */
const documentsOf = (billed: readonly BilledSubscription[]) =>
  billed.flatMap(({ drafts, subscription }) => drafts.map((draft) => ({ draft, payerId: draft.payerId ?? payerOf(subscription) })))

const totalsIn = (currency: string, drafts: readonly Draft[]): decimal.Decimal[] =>
  drafts.filter((draft) => draft.currency === currency).map(({ total }) => total)

/** The period that ends is charged by what is held in it, the one that begins by what is held then. */
function chargesIn(contents: readonly Subscription[], terms: Terms, documents: readonly Draft[]): NextInvoice['charges'] {
  const currencies = new Set(documents.map(({ currency }) => currency))
  const charges = contents.flatMap((content) =>
    [...currencies].flatMap((currency) => {
      const { fixed, usage } = chargesOf(content, { ...terms, currency })
      return [...fixed, ...usage]
    }),
  )
  return new Map(charges.map((charge) => [charge.price.id, charge]))
}
