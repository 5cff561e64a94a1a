import type { EntitlementState } from '../../entitlement/rules/state.js'
import type { EntitlementService } from '../../entitlement/service.js'
import { Problem } from '../../kernel/problem.js'
import { tookTooLong } from '../../kernel/store-errors.js'

/** When so many take too long one after the other it is not their fault. */
const mostInTrouble = 3

/**
 * The states of those customers whose state can be built; `leftOut` hears of each other, with a reason of its own. Throws what is expected to pass later: that says
 * nothing of a customer, unless it alone takes too long.
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
    if (customerIds.length === 1 && mayPass(error)) throw error
  }
  // Alone also after what may pass: one of them may take longer than a statement may, or all together.
  const states: EntitlementState[] = []
  const tooLong: { customerId: string; error: unknown }[] = []
  let inARow = 0
  for (const customerId of customerIds) {
    try {
      states.push(...(await entitlements.states(environmentId, [customerId])))
      inARow = 0
    } catch (error) {
      if (!mayPass(error)) leftOut(customerId, error)
      else if (!tookTooLong(error) || ++inARow === mostInTrouble) throw error
      else tooLong.push({ customerId, error })
    }
  }
  if (states.length === 0 && tooLong.length > 0) throw tooLong[0]!.error
  for (const { customerId, error } of tooLong) leftOut(customerId, error)
  return states
}

const mayPass = (error: unknown) => Problem.from(error).code === 'UNAVAILABLE'
