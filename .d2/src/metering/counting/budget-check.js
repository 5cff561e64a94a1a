import { askedOfBudgets, isUsedUp, usageOfBudgets } from '../../entitlement/rules/budget.js';
import { budgetsAt } from '../../entitlement/rules/holdings.js';
import { readUsages } from './current-usage.js';
/**
 * Where a budget is used up by what was just counted, or is not any more after a correction, other things are held: a change of access. In the
 * transaction that counts, after the counters are written.
 */
export async function findCrossedBudgets(db, environmentId, routes, locked) {
    const budgeted = new Set();
    for (const { customer, resource } of routes)
        for (const binding of resource ? [customer, resource] : [customer])
            if (binding.hasBudget)
                budgeted.add(binding);
    const versionOf = ({ customerId }) => locked.get(customerId).version;
    const watched = [...budgeted].flatMap((binding) => {
        const budgets = budgetsAt(binding.holdings, versionOf(binding)).filter(({ hasSoftLimit }) => !hasSoftLimit);
        return budgets.length > 0 ? [{ binding, budgets }] : [];
    });
    if (watched.length === 0)
        return [];
    const all = watched.flatMap(({ budgets }) => budgets);
    const usage = usageOfBudgets(all, await readUsages(db, environmentId, askedOfBudgets(all)));
    const isCrossed = ({ binding, budgets }) => budgets.some((budget) => isUsedUp(budget, usage) !== isUsedUp(budget, binding.holdings.budgets.usage));
    const crossed = new Map(watched.filter(isCrossed).map(({ binding }) => [binding.customerId, binding]));
    return [...crossed.values()].map((binding) => ({
        customerId: binding.customerId,
        refId: binding.holdings.customerRefId,
        version: versionOf(binding),
    }));
}
//# sourceMappingURL=budget-check.js.map