import { recordEvents } from '../../changes/events.js'
import { refIdsOfCustomers } from '../../customer/records/customers.js'
import type { Db } from '../../platform/postgres.js'
import { type Step, stepEvents } from '../rules/events.js'

/** Tells of what happened to one subscription, in its order. */
export async function recordSteps(db: Db, steps: readonly Step[]): Promise<void> {
  const [first] = steps
  if (!first) return
  const { environmentId, customerId } = first.after
  await recordEvents(db, environmentId, async () => {
    const payers = steps.flatMap(({ after: { payingCustomerId } }) => payingCustomerId ?? [])
    const refIds = await refIdsOfCustomers(db, environmentId, [customerId, ...payers])
    return steps.flatMap((step) => stepEvents(step, (id) => refIds.get(id)!)).map((event) => ({ ...event, customerId }))
  })
}
