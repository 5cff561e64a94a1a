/**
 * Calls of a batch whose deadline has passed when the locks of their customers are held. Whoever counts them has these locks and looks at the deadline under
 * them: so what is not stored by now never will be, and that can be told.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Queryable, readTime } from '../../../platform/sql.js'
import { notCountedInTime, outcomeUnknown, toPlainProblem } from '../../model/problems.js'
import { type ReportItem, reportIdentity } from '../../model/report.js'
import type { Call, ReportAnswer } from '../../wire/call.js'
import type { ArchivedItem, PlannedItem } from './report-plan.js'
import { type KnownFacts, lookUpFacts } from './report-repository.js'

export interface PlannedCall {
  /** Its position in the batch. */
  index: number
  items: (PlannedItem | ArchivedItem)[]
}

/** Calls that came too late hold the keys of others that did not: those are to be planned without them. Nothing was written. */
export class LateFirst extends Error {
  override readonly name = 'LateFirst'
  constructor(readonly calls: ReadonlyMap<number, ReportAnswer>) {
    super('calls that came too late are the first with their key')
  }
}

export const keyHashes = (environmentId: string, items: readonly ReportItem[]): Buffer[] =>
  items.flatMap(({ idempotencyKey }) => (idempotencyKey === null ? [] : [reportIdentity(environmentId, idempotencyKey)]))

/** What is stored of the items; features are not looked up. */
export const lookUpStored = (db: Queryable, environmentId: string, items: readonly ReportItem[]): Promise<KnownFacts> =>
  lookUpFacts(db, environmentId, {
    featureRefIds: [],
    keyHashes: keyHashes(environmentId, items),
    measurementIds: items.map(({ id }) => id),
  })

export function isItemStored({ keys, stored }: Pick<KnownFacts, 'keys' | 'stored'>, environmentId: string, item: ReportItem): boolean {
  if (stored.has(item.id)) return true
  return item.idempotencyKey !== null && keys.has(reportIdentity(environmentId, item.idempotencyKey).toString('hex'))
}

/**
 * What the late calls are answered, by their position. Null: one of them is stored, and was not known to be: the batch is to be planned anew. Of a call that is
 * stored in part (its other keys were used before) it cannot be said that nothing was counted. Fails with LateFirst when other calls of the batch have keys of
 * theirs, and were planned as their repeats.
 */
export async function judgeLate(
  db: Queryable,
  environmentId: string,
  { calls, late }: { calls: readonly Call<ReportItem>[]; late: readonly PlannedCall[] },
): Promise<Map<number, ReportAnswer> | null> {
  if (late.length === 0) return new Map()
  // The time that they were found late by may be ahead by a moment, and somebody else may count them until then.
  await sleep(Math.max(0, Math.max(...late.map(({ index }) => calls[index]!.deadline)) - (await readTime(db))))
  const items = late.flatMap((call) => call.items.map(({ item }) => item))
  const facts = await lookUpStored(db, environmentId, items)
  const isThere = ({ item }: Pick<PlannedItem, 'item'>) => isItemStored(facts, environmentId, item)
  if (late.some((call) => call.items.some((planned) => !planned.isRepeat && isThere(planned)))) return null
  const [notCounted, unknown] = [notCountedInTime(), outcomeUnknown([])].map(
    (problem): ReportAnswer => ({ problem: toPlainProblem(problem) }),
  )
  const answers = new Map(late.map((call) => [call.index, call.items.some(isThere) ? unknown! : notCounted!]))
  const keys = new Set(items.flatMap(({ idempotencyKey }) => idempotencyKey ?? []))
  const isShared = calls.some((call, index) => !answers.has(index) && call.items.some((item) => keys.has(item.idempotencyKey ?? '')))
  if (isShared) throw new LateFirst(answers)
  return answers
}
