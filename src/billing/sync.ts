import { setTimeout } from 'node:timers/promises'
import { byRule } from '../audit/record/origin.js'
import { recordEvents } from '../changes/events.js'
import { refIdsOfCustomers } from '../customer/records/customers.js'
import type { EpochMs } from '../kernel/clock.js'
import { Problem } from '../kernel/problem.js'
import { inLanes, LeftAlone } from '../platform/due-sweep.js'
import { type Db, type PrismaClient } from '../platform/postgres.js'
import { inTransaction } from '../platform/transaction.js'
import type { Subscription } from '../subscription/rules/subscription.js'
import type { BillingLedger } from './ledger.js'
import { findEntries, insertEntries } from './records/balance.js'
import { findLateUsageDue, findNextBilling, findOverduePayments, findUncollected } from './records/due.js'
import {
  claimIntent,
  claimOf,
  countIntents,
  dropCreation,
  findWaiting,
  findWaitingVoid,
  finishIntent,
  type Intent,
  type IntentScope,
  insertIntent,
  isCallUnderWay,
  postponeIntent,
  reviveIntents,
  voidOf,
  type Waiting,
} from './records/intents.js'
import { clearFailure, clearPaymentDeadline, findInvoice, findTrouble, mirrorInvoice, saveSyncError } from './records/invoices.js'
import { entriesAfter, fateOf } from './rules/balance.js'
import type { Draft, Invoice } from './rules/billing.js'
import { newsEvent, toldInvoice } from './rules/events.js'
import { collectionDays, consequenceOf, hasNeverBegun, type PaymentConsequence } from './rules/payment-collection.js'
import { invoiceNotFound } from './rules/problems.js'
import type { BillingProvider, Call, KnownInvoice, ProviderInvoice } from './rules/provider.js'

/**
 * Changes a subscription (our id) by what became of a payment, in one transaction under its customer's state row. `decide` gets it with its status of
 * now: a final one stays what it is.
 */
export type SettlePayment = (
  environmentId: string,
  subscriptionId: string,
  decide: (db: Db, subscription: Subscription, now: EpochMs) => Promise<Pick<PaymentConsequence, 'trigger' | 'paymentCollection'> | null>,
) => Promise<void>

/** A call is claimed when it is made, for longer than it may take, so that two never make it at once; the key makes it harmless if they do. */
const callTimeoutMs = 10_000
const leaseMs = 30_000
const firstBackoffMs = 1_000
const maxBackoffMs = 10 * 60_000
/** For calls that another process is making; little beside what one takes. */
const lookAgainMs = 5
/** Calls that a process makes at the same time: they wait for a provider far away, and use a connection of the database before and after that only. */
const callsAtATime = 16
/** Those of one environment among them: what its provider keeps waiting holds up no other. */
const callsOfOne = 4
/** Environments whose sweeps are worked off at the same time. */
const sweepsAtATime = 4

/**
 * Makes the calls that the ledger wrote down, and takes in what the provider tells. A call is claimed under a lease, made outside of any transaction,
 * and finished in a second one that reads the status again.
 */
export class BillingSync {
  readonly #prisma: PrismaClient
  readonly #provider: BillingProvider
  readonly #settle: SettlePayment
  readonly #ledger: Pick<BillingLedger, 'chargeLateUsageIn'>
  readonly #leftAlone = new LeftAlone()

  constructor(parts: {
    prisma: PrismaClient
    provider: BillingProvider
    settle: SettlePayment
    ledger: Pick<BillingLedger, 'chargeLateUsageIn'>
  }) {
    this.#prisma = parts.prisma
    this.#provider = parts.provider
    this.#settle = parts.settle
    this.#ledger = parts.ledger
  }

  /**
   * Makes calls that wait, one after the other; answers how many. What fails is tried again later, and is visible as the subscription's sync error until then;
   * never throws for it.
   */
  async deliver({ limit = 50, of, signal }: { limit?: number; of: IntentScope; signal?: AbortSignal }): Promise<number> {
    let made = 0
    for (; made < limit && !signal?.aborted; made++) {
      const intent = await claimIntent(this.#prisma, { leaseMs, of })
      if (!intent) break
      await this.#deliver(intent, signal)
    }
    return made
  }

  /**
   * Makes the calls that wait in any environment, several at a time, few of one environment and one of a payer, until none waits and none is under way.
   * While some take long, it looks for others at least every `lookEveryMs`. Answers how many it has made.
   * @throws the first failure to note what became of a call, when those under way have ended
   */
  async deliverEverywhere({ lookEveryMs = 1_000, signal }: { lookEveryMs?: number; signal?: AbortSignal } = {}): Promise<number> {
    const underWay = new Map<Promise<void>, Waiting>()
    const isUnderWay = (one: Waiting) =>
      [...underWay.values()].some((other) => other.subscriptionId === one.subscriptionId || other.customerId === one.customerId)
    const failures: unknown[] = []
    let made = 0
    try {
      for (;;) {
        const limit = signal?.aborted ? 0 : callsAtATime - underWay.size
        const waiting =
          limit === 0
            ? []
            : await findWaiting(this.#prisma, { environmentId: null, underWay: [...underWay.values()], mostOfOne: callsOfOne, limit })
        for (const one of waiting) {
          if (isUnderWay(one)) continue
          const intent = await claimOf(this.#prisma, leaseMs, one)
          if (!intent) continue
          // Noted at once: it may fail while another one is being claimed, when nobody waits for it.
          const call: Promise<void> = this.#deliver(intent, signal)
            .catch((error: unknown) => void failures.push(error))
            .finally(() => underWay.delete(call))
          underWay.set(call, intent)
          made += 1
        }
        if (failures.length > 0) throw failures[0]
        if (underWay.size === 0) return made
        const pause = new AbortController()
        const pauseEnds = setTimeout(lookEveryMs, undefined, { signal: pause.signal }).catch(() => undefined)
        await Promise.race([pauseEnds, ...underWay.keys()]).finally(() => pause.abort())
      }
    } finally {
      await Promise.all(underWay.keys())
    }
  }

  /** The same until nothing waits of the subscription, or something did not succeed. */
  async deliverAll(environmentId: string, subscriptionId: string, signal?: AbortSignal): Promise<void> {
    for (let round = 0; round < 10; round++) if ((await this.deliver({ of: { environmentId, subscriptionId }, signal })) === 0) return
  }

  /** News of the provider: at least once, in any order. Fails retryably for an invoice that we do not know by its identifier yet. */
  async hear(environmentId: string, news: ProviderInvoice): Promise<void> {
    const invoice = await findInvoice(this.#prisma, environmentId, { billingId: news.billingId })
    if (!invoice) throw invoiceNotFound(news.billingId)
    await this.#take(invoice, news, null)
    await this.deliverAll(environmentId, invoice.subscriptionId)
  }

  /** Has calls made again that the provider refused, when somebody has put right why; answers how many. The billing worker makes them. */
  retry(environmentId: string): Promise<number> {
    return inTransaction(this.#prisma, (db) => reviveIntents(db, environmentId))
  }

  /** When billing has something to do by itself next in an environment: after an instant (null: whenever), and not after `until`; null: not until then. */
  nextDue(environmentId: string, { after, until }: { after: EpochMs | null; until: EpochMs }): Promise<EpochMs | null> {
    return findNextBilling(this.#prisma, environmentId, { after, until, days: collectionDays })
  }

  /**
   * Does all that is due in an environment by its clock, as the worker would, and waits for what the worker is doing. What the provider did not take is
   * left for later.
   */
  async applyDue(environmentId: string): Promise<void> {
    while (
      (await this.sweepDeadlines({ environmentId })) > 0 ||
      (await this.sweepLateUsage({ environmentId })) > 0 ||
      (await this.deliver({ of: { environmentId } })) > 0 ||
      (await isCallUnderWay(this.#prisma, environmentId))
    )
      await setTimeout(lookAgainMs)
  }

  /** Ends what nobody has paid in time: writes down that its invoice is taken back, which comes first. */
  async sweepDeadlines({ limit = 100, environmentId = null }: { limit?: number; environmentId?: string | null } = {}): Promise<number> {
    const unpaid = await findOverduePayments(this.#prisma, limit + this.#leftAlone.size, environmentId)
    const uncollected = await findUncollected(this.#prisma, collectionDays, limit + this.#leftAlone.size, environmentId)
    return this.#sweep([...unpaid, ...uncollected], environmentId, (overdue) =>
      inTransaction(this.#prisma, async (db) => {
        await insertIntent(db, voidOf(overdue))
        await clearPaymentDeadline(db, overdue.environmentId, overdue.subscriptionId)
        await clearFailure(db, overdue.environmentId, overdue.invoiceId)
      }),
    )
  }

  /** Charges what came late of subscriptions that have ended, once nothing can come any more; answers how many there were to look at. */
  async sweepLateUsage({ limit = 100, environmentId = null }: { limit?: number; environmentId?: string | null } = {}): Promise<number> {
    const due = await findLateUsageDue(this.#prisma, limit + this.#leftAlone.size, environmentId)
    return this.#sweep(due, environmentId, (ended) =>
      this.#settle(ended.environmentId, ended.subscriptionId, async (db, subscription, now) => {
        await byRule('lateUsage', () => this.#ledger.chargeLateUsageIn(db, subscription, now))
        return null
      }),
    )
  }

  /**
   * Environments are worked off beside each other. One that fails holds up no other, and is left alone for a while, unless somebody waits for all of one
   * environment. Answers how many were done.
   * @throws the first failure, when all have had their turn
   */
  async #sweep<Due extends { environmentId: string; subscriptionId: string; invoiceId?: string }>(
    due: readonly Due[],
    environmentId: string | null,
    work: (one: Due) => Promise<void>,
  ): Promise<number> {
    const failures: unknown[] = []
    let done = 0
    const sweepOne = async (one: Due) => {
      const key = `${one.environmentId} ${one.subscriptionId} ${one.invoiceId ?? 'late usage'}`
      if (environmentId === null && this.#leftAlone.has(key)) return
      try {
        await work(one)
        this.#leftAlone.succeeded(key)
        done += 1
      } catch (error) {
        this.#leftAlone.failed(key)
        failures.push(error)
      }
    }
    const byEnvironment = new Map<string, Due[]>()
    for (const one of due) byEnvironment.set(one.environmentId, [...(byEnvironment.get(one.environmentId) ?? []), one])
    await inLanes(sweepsAtATime, byEnvironment.values(), async (all) => {
      for (const one of all) await sweepOne(one)
    })
    if (failures.length > 0) throw failures[0]
    return done
  }

  counts(): Promise<{ waiting: number; givenUp: number }> {
    return countIntents(this.#prisma)
  }

  async #deliver(intent: Intent, signal: AbortSignal | undefined): Promise<void> {
    try {
      const invoice = await findInvoice(this.#prisma, intent.environmentId, { id: intent.invoiceId })
      if (!invoice) throw invoiceNotFound(intent.invoiceId)
      const outcome = await this.#outcome(intent, invoice, signal)
      await byRule('billingCall', () => this.#take(invoice, outcome, intent))
    } catch (error) {
      const problem = Problem.from(error)
      const isRetryable = problem.isRetryable || problem.code === 'INTERNAL'
      const backoffMs = Math.min(maxBackoffMs, firstBackoffMs * 2 ** Math.min(intent.attempts, 20))
      if (!(await postponeIntent(this.#prisma, intent, problem.message, isRetryable ? backoffMs : null))) return
      const text = isRetryable ? 'The billing provider could not be reached; it is tried again.' : problem.message
      await saveSyncError(this.#prisma, intent.environmentId, intent.subscriptionId, text)
    }
  }

  /** Makes the call, unless there is nothing to make it about. */
  async #outcome(intent: Intent, invoice: Invoice, signal: AbortSignal | undefined): Promise<KnownInvoice> {
    const { kind, environmentId } = intent
    // Calls are made in their order: by now the provider would have the invoice, had it not refused to make it.
    if (kind === 'VOID' && invoice.billingId === null)
      return { ...invoice, status: 'CANCELED', requiresAction: false, revision: invoice.providerRevision + 1 }
    const isUnwanted = kind === 'CREATE_INVOICE' && (await findWaitingVoid(this.#prisma, environmentId, invoice.id)) !== null
    return this.#call(intent, isUnwanted ? { ...invoice, collectionMethod: 'INVOICE' } : invoice, signal)
  }

  #call(intent: Intent, invoice: Invoice, signal: AbortSignal | undefined): Promise<ProviderInvoice> {
    const { environmentId, customerId, idempotencyKey } = intent
    const timeout = AbortSignal.timeout(callTimeoutMs)
    const call: Call = { environmentId, customerId, idempotencyKey, signal: signal ? AbortSignal.any([signal, timeout]) : timeout }
    if (intent.kind === 'CREATE_INVOICE') return this.#provider.createInvoice(call, { ...pick(invoice), draft: toDraft(invoice) })
    const { billingId } = invoice
    if (billingId === null) throw invoiceNotFound(invoice.id)
    if (intent.kind === 'COLLECT') return this.#provider.collect(call, { billingId })
    if (intent.kind === 'VOID') return this.#provider.voidInvoice(call, { billingId })
    return this.#provider.refund(call, { billingId })
  }

  /** The second transaction: the mirror, the subscription and what follows, together. Older news than the mirror's change nothing. */
  async #take({ environmentId, id, subscriptionId, customerId }: Invoice, news: KnownInvoice, intent: Intent | null): Promise<void> {
    await this.#settle(environmentId, subscriptionId, async (db, subscription, now) => {
      const before = (await findInvoice(db, environmentId, { id }))!
      const { collectionMethod } = before
      // Of what was taken back the provider may tell before it answers the call.
      const withdrawn = news.status === 'CANCELED' ? await findWaitingVoid(db, environmentId, id) : null
      const isTakenBack = intent?.kind === 'VOID' || withdrawn !== null
      const endsBy = withdrawn?.endsBy ?? null
      const consequence = consequenceOf({ subscription, before, news, collectionMethod, isTakenBack, endsBy, now })
      // A provider may forget why the payment was refused, when it takes the invoice back.
      const errorMessage = news.errorMessage ?? (news.status === 'CANCELED' ? before.errorMessage : null)
      const isNews = await mirrorInvoice(db, before, { ...news, errorMessage }, consequence.failedSince)
      if (intent) await finishIntent(db, intent)
      if (news.billingId === null) await dropCreation(db, environmentId, id)
      if (!isNews) return null
      await tell(db, subscription, before, { ...before, ...news, errorMessage })
      const { next, trigger, visibleError } = consequence
      const fate = fateOf(news, { isRefused: next?.kind === 'REFUND' })
      if (fate) {
        const entries = await findEntries(db, environmentId, id)
        const following = entriesAfter({ invoiceId: id, fate, entries, hasNeverBegun: hasNeverBegun(subscription) })
        await insertEntries(db, environmentId, following, now)
      }
      if (trigger !== null) await clearPaymentDeadline(db, environmentId, subscriptionId)
      // What somebody has to know stays until the next thing that succeeds; giving a payment back is told by it and does not end it.
      if (visibleError !== null || (intent && intent.kind !== 'REFUND'))
        await saveSyncError(db, environmentId, subscriptionId, visibleError)
      if (next) {
        const idempotencyKey = `${next.kind.toLowerCase()}:${id}${next.kind === 'COLLECT' ? `:${news.attemptCount}` : ''}`
        const notBefore = next.kind === 'COLLECT' ? now + next.delayMs : null
        const call = { environmentId, subscriptionId, customerId, kind: next.kind, idempotencyKey, invoiceId: id, endsBy: null }
        await insertIntent(db, call, { notBefore })
      }
      // An older invoice may be in trouble still: it says how payment stands, whatever became of this one.
      const paymentCollection = (await findTrouble(db, environmentId, subscriptionId)) ?? consequence.paymentCollection
      return { trigger, paymentCollection }
    })
  }
}

async function tell(
  db: Db,
  { environmentId, customerId, refId: subscriptionId }: Subscription,
  before: Invoice,
  after: Invoice,
): Promise<void> {
  const type = newsEvent(before, after)
  if (!type) return
  await recordEvents(db, environmentId, async () => {
    const payer = (await refIdsOfCustomers(db, environmentId, [after.customerId])).get(after.customerId)!
    return [{ type, customerId, data: toldInvoice(after, { customerId: payer, subscriptionId }) }]
  })
}

const pick = ({ amountDue, collectionMethod, dueDate }: Invoice) => ({ amountDue, collectionMethod, dueDate })

function toDraft({ reason, currency, periodStart, periodEnd, lines, subTotal, discount, tax, total }: Invoice): Draft {
  return {
    reason,
    currency,
    period: { start: periodStart, end: periodEnd },
    lines,
    subTotal,
    discount,
    tax,
    total,
  }
}
