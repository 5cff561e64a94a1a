/** Repeats for customers that have been archived since: who they are of, and what they are answered. Nothing is counted for them. */
import type { LockedCustomer } from '../../../changes/counting.js'
import * as decimal from '../../../kernel/decimal.js'
import type { Problem } from '../../../kernel/problem.js'
import type { Queryable } from '../../../platform/sql.js'
import { Binding } from '../../counting/bindings.js'
import { readUsages } from '../../counting/current-usage.js'
import { type FoundHolder, findHolders } from '../../counting/holder-repository.js'
import { type Holder, holderKey } from '../../model/holder.js'
import type { ReportedUsage, ReportItem } from '../../model/report.js'
import { seriesKey, unentitledSeries } from '../../model/series.js'
import { toAnsweredUnits } from '../../model/unit-transformation.js'
import { isItemStored } from './late-calls.js'
import type { ArchivedItem } from './report-plan.js'
import type { KnownFacts } from './report-repository.js'

/** By `holderKey`, of those items that are stored and have no binding. Asks the database only when there are some. */
export async function findHoldersOfRepeats(
  db: Queryable,
  environmentId: string,
  { items, facts, bindings }: { items: readonly ReportItem[]; facts: KnownFacts; bindings: ReadonlyMap<string, Binding | Problem> },
): Promise<Map<string, FoundHolder>> {
  const isBound = (holder: Holder) => bindings.get(holderKey(holder)) instanceof Binding
  const areBound = (item: ReportItem) => isBound({ ...item, resourceId: null }) && isBound(item)
  const repeats = items.filter((item) => !areBound(item) && isItemStored(facts, environmentId, item))
  return repeats.length === 0 ? new Map() : findHolders(db, environmentId, repeats)
}

/** The usage as it is now: of nobody who is entitled, so a lifetime sum without a period. The customers are locked. */
export async function readUsagesOfArchived(
  db: Queryable,
  environmentId: string,
  items: readonly ArchivedItem[],
  locked: ReadonlyMap<string, LockedCustomer>,
): Promise<Map<ArchivedItem, ReportedUsage>> {
  const asked = items.map(({ customerId, feature }) => ({
    series: unentitledSeries(customerId, null, feature.id),
    period: { start: null, end: null },
    at: locked.get(customerId)!.accessVersion,
  }))
  const usages = await readUsages(db, environmentId, asked)
  return new Map(
    items.map((planned, index) => {
      const { item, feature, measurementId } = planned
      const { series, at } = asked[index]!
      const usage = usages.get(seriesKey(series))?.currentUsage ?? decimal.zero
      return [
        planned,
        {
          id: measurementId,
          customerId: item.customerId,
          resourceId: item.resourceId,
          featureId: item.featureId,
          currentUsage: toAnsweredUnits(decimal.max(usage, decimal.zero), feature.unitTransformation),
          periodStart: null,
          periodEnd: null,
          timestamp: at,
          // It is no usage of an entitlement that somebody may hold.
          isAccessChanged: true,
        },
      ]
    }),
  )
}
