import pg from 'pg'
import { newId } from '../../kernel/id.js'
import type { Db } from '../../platform/postgres.js'
import { withCommit } from '../../platform/transaction.js'
import { differenceOf, joined } from '../model/difference.js'
import type { AuditedChange, Origin } from '../model/entry.js'
import { currentOrigin } from './origin.js'

interface Gathered extends AuditedChange {
  origin: Origin
}

const { escapeLiteral } = pg

/** What transactions that are under way have changed so far. */
const gathered = new WeakMap<object, Gathered[]>()

/**
 * Writes the change down in its transaction: all of a transaction in one statement, together with the commit. What one origin does to one entity is one entry, and what
 * changes nothing is none.
 * @throws Error outside of a transaction: the change could be there without its entry
 */
export function recordAudit(db: Db | pg.PoolClient, change: AuditedChange): void {
  const origin = currentOrigin()
  const all = gathered.get(db)
  if (!all) {
    const entries: Gathered[] = [{ ...change, origin }]
    gathered.set(db, entries)
    withCommit(db, () => statementOf(entries))
    return
  }
  const { environmentId, kind, id } = change
  const index = all.findLastIndex((other) => other.kind === kind && other.id === id && other.environmentId === environmentId)
  const last = all[index]
  if (last && isSameActor(last.origin, origin)) all[index] = { ...last, ...joined(last, change) }
  else all.push({ ...change, origin })
}

const isSameActor = ({ actor: a, operation }: Origin, { actor: b, operation: other }: Origin) =>
  a.kind === b.kind && a.id === b.id && a.name === b.name && operation === other

/** Null: nothing is different. */
function statementOf(entries: readonly Gathered[]): string | null {
  // Of an id the time is replaced. What is left of those that were made in two milliseconds is not in their order by itself.
  const ids = entries.map(() => newId().replaceAll('-', '')).toSorted((a, b) => (a.slice(16) < b.slice(16) ? -1 : 1))
  const rows = entries.flatMap(({ environmentId, kind, id, origin, ...change }, index) => {
    const difference = differenceOf(change)
    const { actor, operation, address, traceId } = origin
    return difference
      ? {
          environment_id: environmentId,
          id: ids[index],
          trace_id: traceId,
          actor_kind: actor.kind,
          actor_id: actor.id,
          actor_name: actor.name,
          address,
          operation,
          entity_kind: kind,
          entity_id: id,
          ...difference,
        }
      : []
  })
  return rows.length === 0 ? null : `SELECT record_audit(${escapeLiteral(JSON.stringify(rows))}::jsonb)`
}
