import { askedOfBudgets, isUsedUp, usageOfBudgets } from '../entitlement/budget.js'
import { budgetsAt } from '../entitlement/holdings.js'
import type { EpochMs } from '../kernel/clock.js'
import type { Binding } from './bindings.js'
import type { Connection } from './counter-repository.js'
import { readUsages } from './current-usage.js'

/**
 * Those of the customers or resources of whom a budget is used up by what was just counted and was not before, or the other way round after a
 * correction: what they may use is another thing then. In the transaction that counts, after the counters are written.
 */
export async function findCrossed(
  db: Connection,
  environmentId: string,
  bindings: Iterable<Binding>,
  versionOf: (binding: Binding) => EpochMs,
): Promise<Binding[]> {
  const watched = [...bindings].flatMap((binding) => {
    const budgets = budgetsAt(binding.holdings, versionOf(binding)).filter(({ hasSoftLimit }) => !hasSoftLimit)
    return budgets.length > 0 ? [{ binding, budgets }] : []
  })
  if (watched.length === 0) return []
  const all = watched.flatMap(({ budgets }) => budgets)
  const usage = usageOfBudgets(all, await readUsages(db, environmentId, askedOfBudgets(all)))
  const isCrossed = ({ binding, budgets }: (typeof watched)[number]) =>
    budgets.some((budget) => isUsedUp(budget, usage) !== isUsedUp(budget, binding.holdings.budgets!.usage))
  return watched.filter(isCrossed).map(({ binding }) => binding)
}
