import { askedOfBudgets, isUsedUp, usageOfBudgets } from '../../entitlement/rules/budget.js'
import { budgetsAt } from '../../entitlement/rules/holdings.js'
import { tellCustomers } from '../corrections/recomputation-repository.js'
import type { Binding } from './bindings.js'
import type { Connection, LockedCustomer } from './counter-repository.js'
import { writeVersions } from './counter-write-repository.js'
import { readUsages } from './current-usage.js'
import type { Route } from './series-tracker.js'

/**
 * Where a budget is used up by what was just counted, or is not any more after a correction, other things are held: a change of access, which gets its
 * version and its message. In the transaction that counts, after the counters are written. Answers the customers (our ids) of whom that is so.
 */
export async function recordCrossedBudgets(
  db: Connection,
  environmentId: string,
  routes: Iterable<Route>,
  locked: ReadonlyMap<string, LockedCustomer>,
): Promise<Set<string>> {
  const budgeted = new Set<Binding>()
  for (const { customer, resource } of routes)
    for (const binding of resource ? [customer, resource] : [customer]) if (binding.hasBudget) budgeted.add(binding)
  const versionOf = ({ customerId }: Binding) => locked.get(customerId)!.version
  const watched = [...budgeted].flatMap((binding) => {
    const budgets = budgetsAt(binding.holdings, versionOf(binding)).filter(({ hasSoftLimit }) => !hasSoftLimit)
    return budgets.length > 0 ? [{ binding, budgets }] : []
  })
  if (watched.length === 0) return new Set()
  const all = watched.flatMap(({ budgets }) => budgets)
  const usage = usageOfBudgets(all, await readUsages(db, environmentId, askedOfBudgets(all)))
  const isCrossed = ({ binding, budgets }: (typeof watched)[number]) =>
    budgets.some((budget) => isUsedUp(budget, usage) !== isUsedUp(budget, binding.holdings.budgets!.usage))
  const crossed = new Map(watched.filter(isCrossed).map(({ binding }) => [binding.customerId, binding]))
  if (crossed.size === 0) return new Set()
  const changed = [...crossed.values()].map((binding) => ({
    customerId: binding.customerId,
    refId: binding.holdings.customerRefId,
    version: versionOf(binding),
    isAccess: true,
  }))
  await writeVersions(db, environmentId, changed)
  await tellCustomers(db, environmentId, changed)
  return new Set(crossed.keys())
}
