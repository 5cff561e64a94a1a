import pg from 'pg'
import { newId } from '../../kernel/id.js'
import { type Db, Prisma } from '../../platform/postgres.js'
import { withCommit } from '../../platform/transaction.js'
import { differenceOf, joined } from '../model/difference.js'
import type { AuditedChange, Origin } from '../model/entry.js'
import { currentOrigin } from './origin.js'

interface Gathered extends AuditedChange {
  origin: Origin
}

const { escapeLiteral } = pg

interface Recorded {
  entries: Gathered[]
  /** Where the last entry of an entity is. */
  last: Map<string, number>
}

/** What transactions that are under way have changed so far, and not written. */
const recorded = new WeakMap<object, Recorded>()

/**
 * Writes the change down in its transaction: all of a transaction in one statement, together with the commit, unless it is written before (writeAudit). What one origin
 * does to one entity until then is one entry, and what changes nothing is none.
 * @throws Error outside of a transaction: the change could be there without its entry
 */
export function recordAudit(db: Db | pg.PoolClient, change: AuditedChange): void {
  const origin = currentOrigin()
  const { entries, last } = recordedIn(db)
  const entity = JSON.stringify([change.environmentId, change.kind, change.id])
  const index = last.get(entity)
  const before = index === undefined ? undefined : entries[index]!
  if (before && isSameActor(before.origin, origin)) entries[index!] = { ...before, ...joined(before, change) }
  else last.set(entity, entries.push({ ...change, origin }) - 1)
}

/** Writes what was recorded so far, for who records so much that all of it should not be written in one piece. */
export async function writeAudit(db: Db): Promise<void> {
  const { entries, last } = recordedIn(db)
  if (entries.length === 0) return
  const rows = rowsOf(entries.splice(0))
  last.clear()
  if (rows.length > 0) await db.$executeRaw(Prisma.sql`SELECT record_audit(${JSON.stringify(rows)}::jsonb)`)
}

function recordedIn(db: Db | pg.PoolClient): Recorded {
  const known = recorded.get(db)
  if (known) return known
  const made: Recorded = { entries: [], last: new Map() }
  withCommit(db, () => {
    const rows = rowsOf(made.entries)
    return rows.length === 0 ? null : `SELECT record_audit(${escapeLiteral(JSON.stringify(rows))}::jsonb)`
  })
  recorded.set(db, made)
  return made
}

const isSameActor = ({ actor: a, operation }: Origin, { actor: b, operation: other }: Origin) =>
  a.kind === b.kind && a.id === b.id && a.name === b.name && operation === other

/** Without those where nothing is different. */
function rowsOf(entries: readonly Gathered[]): object[] {
  // Of an id the time is replaced. What is left of those that were made in two milliseconds is not in their order by itself.
  const ids = entries.map(() => newId().replaceAll('-', '')).toSorted((a, b) => (a.slice(16) < b.slice(16) ? -1 : 1))
  return entries.flatMap(({ environmentId, kind, id, origin, ...change }, index) => {
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
}
