import type { LockedCustomer } from '../../changes/counting.js'
import type { EpochMs } from '../../kernel/clock.js'
import type { Queryable } from '../../platform/sql.js'
import type { Binding } from './bindings.js'
import { type AskedSeries, readUsages } from './current-usage.js'
import type { Route } from './series-tracker.js'

/** A customer that may use something else now, because a budget is used up, or is not any more. */
export interface CrossedBudget {
  /** Ours. */
  customerId: string
  /** The caller's. */
  refId: string
  version: EpochMs
}

/**
 * Where a budget is used up by what was just counted, or is not any more after a correction, other things are held: a change of access. In the
 * transaction that counts, after the counters are written.
 */
export async function findCrossedBudgets(
  db: Queryable,
  environmentId: string,
  routes: Iterable<Route>,
  locked: ReadonlyMap<string, LockedCustomer>,
): Promise<CrossedBudget[]> {
  const budgeted = new Set<Binding>()
  for (const { customer, resource } of routes)
    for (const binding of resource ? [customer, resource] : [customer]) if (binding.budgets) budgeted.add(binding)
  const versionOf = ({ customerId }: Binding) => locked.get(customerId)!.version
  const watched = [...budgeted].flatMap((binding) => {
    const watch = binding.budgets!.watchAt(versionOf(binding))
    return watch ? [{ binding, watch }] : []
  })
  if (watched.length === 0) return []
  const usage = await readUsages(db, environmentId, atOneInstant(watched.flatMap(({ watch }) => watch.asked)))
  const crossed = new Map(watched.filter(({ watch }) => watch.isCrossed(usage)).map(({ binding }) => [binding.customerId, binding]))
  return [...crossed.values()].map((binding) => ({
    customerId: binding.customerId,
    refId: binding.holder.customerId,
    version: versionOf(binding),
  }))
}

/** A customer and its resource may ask for different instants: the latest, within all of their periods that go on. */
function atOneInstant(asked: readonly AskedSeries[]): AskedSeries[] {
  const latest = new Map<string, EpochMs>()
  for (const { series, at } of asked) latest.set(series.customerId, Math.max(at, latest.get(series.customerId) ?? at))
  return asked.map((one) => ({ ...one, at: latest.get(one.series.customerId)! }))
}
