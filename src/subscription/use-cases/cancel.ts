import type { BillingLedger } from '../../billing/ledger.js'
import type { BillingRequest } from '../../billing/rules/request.js'
import type { HeldCustomer } from '../../customer/records/hold.js'
import type { EpochMs } from '../../kernel/clock.js'
import type { Db } from '../../platform/postgres.js'
import { type RecordsParts, SubscriptionRecords } from '../records/frame.js'
import { saveSubscription } from '../records/subscriptions.js'
import { type CancellationTime, decideCancellation } from '../rules/cancel.js'
import { apply } from '../rules/lifecycle.js'
import type { Subscription } from '../rules/subscription.js'
import type { ProvisionParts } from './provision.js'
import type { SubscriptionReads } from './read.js'

interface CancellationParts extends RecordsParts {
  billing: RecordsParts['billing'] & Pick<BillingLedger, 'withdrawIn'>
  makeCalls: ProvisionParts['makeCalls']
  reads: SubscriptionReads
}

/** Ends that somebody asks for. */
export class CancellationService {
  readonly #billing: CancellationParts['billing']
  readonly #makeCalls: CancellationParts['makeCalls']
  readonly #reads: SubscriptionReads
  readonly #records: SubscriptionRecords

  constructor(parts: CancellationParts) {
    this.#billing = parts.billing
    this.#makeCalls = parts.makeCalls
    this.#reads = parts.reads
    this.#records = new SubscriptionRecords(parts)
  }

  /**
   * Not safe to repeat: what has ended already is refused, so that the caller learns of it. What waits for its first payment ends when its invoice was
   * taken back: if that turns out to be paid, the running subscription is canceled as was asked; if the provider is away, it is answered as it still is.
   */
  async cancel(
    environmentId: string,
    request: {
      subscriptionRefId: string
      time?: CancellationTime | null
      endDate?: EpochMs | null
      revokesEntitlements?: boolean
      billing?: BillingRequest
    },
  ): Promise<Subscription> {
    const { subscriptionRefId, time = null, endDate = null, revokesEntitlements, billing } = request
    const change = () =>
      this.#records.change(
        environmentId,
        subscriptionRefId,
        async (subscription, { db, customer: { now } }) => {
          const isWithdrawn = subscription.status === 'PAYMENT_PENDING' && (await this.#billing.withdrawIn(db, subscription, 'cancel'))
          return isWithdrawn ? subscription : decideCancellation({ subscription, time, endDate, revokesEntitlements, now })
        },
        billing,
      )
    const changed = await change()
    if (changed.status !== 'PAYMENT_PENDING') return changed
    await this.#makeCalls(environmentId, changed.id)
    const settled = await this.#reads.get(environmentId, subscriptionRefId)
    return settled.status === 'ACTIVE' ? change() : settled
  }

  /**
   * Cancels everything that is not final, for a customer that is being archived. In the caller's transaction, which holds the customer's state row and
   * records the change.
   */
  async archiveIn(db: Db, customer: Pick<HeldCustomer, 'environmentId' | 'id' | 'billingCurrency' | 'now'>): Promise<void> {
    const { open } = await this.#records.recordDue(db, customer)
    const changes = open.map((before) => ({ before, after: apply(before, 'archive', customer.now), at: customer.now, isRenewal: false }))
    for (const { before, after } of changes) await saveSubscription(db, before, after)
    await this.#billing.recordIn(db, customer, changes)
  }
}
