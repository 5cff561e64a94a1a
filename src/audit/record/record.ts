import type pg from 'pg'
import { newId } from '../../kernel/id.js'
import type { Db } from '../../platform/postgres.js'
import { asQueryable, type Queryable } from '../../platform/sql.js'
import { beforeCommit } from '../../platform/transaction.js'
import { differenceOf, joined } from '../model/difference.js'
import type { AuditedChange, Origin } from '../model/entry.js'
import { currentOrigin } from './origin.js'

interface Gathered extends AuditedChange {
  origin: Origin
}

/** What transactions that are under way have changed so far. */
const gathered = new WeakMap<object, Gathered[]>()

/**
 * Writes the change down in its transaction: all of a transaction in one statement, last. What one origin does to one entity is one entry, and what
 * changes nothing is none.
 * @throws Error outside of a transaction: the change could be there without its entry
 */
export function recordAudit(db: Db | pg.PoolClient, change: AuditedChange): void {
  const origin = currentOrigin()
  const all = gathered.get(db)
  if (!all) {
    const entries: Gathered[] = [{ ...change, origin }]
    gathered.set(db, entries)
    beforeCommit(db, () => insertEntries('$queryRawUnsafe' in db ? asQueryable(db as Db) : (db as pg.PoolClient), entries))
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

/** The time in an id is that of the entry, by the clock of the database: an id says where its entry stands, and in which month. */
async function insertEntries(db: Queryable, entries: readonly Gathered[]): Promise<void> {
  const rows = entries.flatMap(({ environmentId, kind, id, origin, ...change }) => {
    const difference = differenceOf(change)
    const { actor, operation, address, traceId } = origin
    return difference
      ? {
          environment_id: environmentId,
          id: newId().replaceAll('-', ''),
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
  if (rows.length === 0) return
  await db.query({
    name: 'audit_insert_entries',
    text: `
      INSERT INTO audit_entry (environment_id, id, at, trace_id, actor_kind, actor_id, actor_name, address, operation, entity_kind, entity_id, before, after)
      SELECT environment_id, (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || substr(id, 13))::uuid, at,
        trace_id, actor_kind, actor_id, actor_name, address, operation, entity_kind, entity_id, before, after
      FROM date_trunc('milliseconds', clock_timestamp()) AS at, jsonb_to_recordset($1::jsonb) AS given (environment_id uuid, id text, trace_id text,
        actor_kind audit_actor_kind, actor_id text, actor_name text, address text, operation text, entity_kind text, entity_id text, before jsonb, after jsonb)`,
    values: [JSON.stringify(rows)],
  })
}
