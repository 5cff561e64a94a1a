import type { BillingLedger, SavedChange } from '../../billing/ledger.js'
import type { BillingRequest } from '../../billing/rules/request.js'
import type { HeldCustomer } from '../../customer/records/hold.js'
import type { Db } from '../../platform/postgres.js'
import type { ProvisionDecision } from '../rules/provision.js'
import { execute } from '../rules/scheduled.js'
import type { Subscription } from '../rules/subscription.js'

/**
 * Where the decision is a plan change that waits: the subscription with what is agreed about money for then, and nothing that billing has to know of now.
 * Null: it is something else. Fails with what could not be agreed if the change happened now.
 */
export async function agreeLater(
  db: Db,
  billing: Pick<BillingLedger, 'agreeIn'>,
  customer: HeldCustomer,
  { decision, scheduleId, request }: { decision: ProvisionDecision; scheduleId: string; request: BillingRequest | undefined },
): Promise<{ subscription: Subscription; changes: SavedChange[] } | null> {
  const { subscription } = decision
  const waiting = subscription.scheduled.find(({ id }) => id === scheduleId)
  if (!waiting || !('agreed' in waiting.change) || !waiting.change.agreed) return null
  const { executeAt: at } = waiting
  const change = { before: subscription, after: execute(subscription, waiting, at), at, isRenewal: false }
  const billingAgreement = request ? await billing.agreeIn(db, customer, change, request) : null
  const agreed = { ...waiting.change.agreed, billingAgreement }
  const scheduled = subscription.scheduled.map((other) =>
    other === waiting ? { ...waiting, change: { ...waiting.change, agreed } } : other,
  )
  return { subscription: { ...subscription, scheduled }, changes: [] }
}
