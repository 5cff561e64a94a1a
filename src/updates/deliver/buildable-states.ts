import type { EntitlementState } from '../../entitlement/rules/state.js'
import type { EntitlementService } from '../../entitlement/service.js'
import { Problem } from '../../kernel/problem.js'

/**
 * The states of those customers whose state can be built; `leftOut` hears of each other, with a reason of its own. Throws what is expected to pass later: that says
 * nothing of a customer.
 */
export async function buildableStates(
  entitlements: Pick<EntitlementService, 'states'>,
  environmentId: string,
  customerIds: readonly string[],
  leftOut: (customerId: string, error: unknown) => void,
): Promise<EntitlementState[]> {
  try {
    return await entitlements.states(environmentId, customerIds)
  } catch (error) {
    const [customerId] = customerIds
    if (customerIds.length === 1 && customerId !== undefined) {
      if (Problem.from(error).code === 'UNAVAILABLE') throw error
      leftOut(customerId, error)
      return []
    }
    // Alone also after what may pass: together they may have taken too long.
    const states: EntitlementState[] = []
    for (const id of customerIds) states.push(...(await buildableStates(entitlements, environmentId, [id], leftOut)))
    return states
  }
}
