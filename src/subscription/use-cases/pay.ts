import type { SavedChange } from '../../billing/ledger.js'
import type { SettlePayment } from '../../billing/sync.js'
import { recordAccessChange } from '../../changes/access.js'
import { inTransaction } from '../../platform/transaction.js'
import { type RecordsParts, SubscriptionRecords } from '../records/frame.js'
import { insertSubscription, saveSubscription } from '../records/subscriptions.js'
import { freeFollowUp } from '../rules/follow-up.js'
import { apply, transition } from '../rules/lifecycle.js'
import { decidePaid } from '../rules/payment.js'
import { isFinal } from '../rules/subscription.js'

/** What payments do to subscriptions. What has ended stays ended. */
export function settlePayments(parts: RecordsParts): SettlePayment {
  const records = new SubscriptionRecords(parts)
  return async (environmentId, subscriptionId, decide) => {
    const changed = await inTransaction(parts.prisma, async (db) => {
      // load
      const found = await records.byId(db, environmentId, subscriptionId)
      const customer = await records.hold(db, environmentId, { id: found.customerId }, { evenArchived: true })
      const held = await records.recordDue(db, customer)
      const before = held.all.find(({ id }) => id === subscriptionId) ?? (await records.byId(db, environmentId, subscriptionId))
      // decide
      const outcome = await decide(db, before, customer.now)
      const trigger = outcome?.trigger && transition(before, outcome.trigger) ? outcome.trigger : null
      const { subscription: moved, ended } =
        trigger === 'paid'
          ? decidePaid(before, held.open, customer.now)
          : { subscription: trigger ? apply(before, trigger, customer.now) : before, ended: [] }
      const after = {
        ...moved,
        paymentCollection: isFinal(moved.status) ? moved.paymentCollection : (outcome?.paymentCollection ?? moved.paymentCollection),
      }
      // save
      const changes: SavedChange[] = []
      for (const subscription of ended) {
        const other = held.open.find(({ id }) => id === subscription.id)!
        await saveSubscription(db, other, subscription)
        changes.push({ before: other, after: subscription, at: customer.now, isRenewal: false })
      }
      if (after.status === before.status && after.paymentCollection === before.paymentCollection) {
        if (held.isAccessChanged) await recordAccessChange(db, customer)
        return held.changed
      }
      await saveSubscription(db, before, after)
      const free = isFinal(after.status) ? freeFollowUp({ before, after }, held.open) : null
      if (free) await insertSubscription(db, free)
      await parts.billing.recordIn(db, customer, [...changes, { before, after, at: customer.now, isRenewal: false }])
      // record the change message
      await recordAccessChange(db, customer)
      return [...held.changed, after]
    })
    records.wake(changed)
  }
}
