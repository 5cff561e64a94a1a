import type { EpochMs } from '../kernel/clock.js'
import { invalidInput } from '../kernel/problem.js'
import { column, nullable } from '../platform/list/columns.js'
import { type List, readPage, withRecords } from '../platform/list/page.js'
import type { Filter, Page, Paging } from '../platform/list/request.js'
import { type Db, Prisma, type PrismaClient } from '../platform/postgres.js'
import { type ActorKind, type AuditEntry, type EntityKind, type Fields, operatorActor } from './model/entry.js'

/** Which entries. Absent and null mean the same. */
export interface AuditFilter {
  entityKind?: EntityKind | null
  /** As entries name it. */
  entityId?: string | null
  actorKind?: ActorKind | null
  /** Name or id. */
  actor?: string | null
  operation?: string | null
  /** Of [from, to). */
  from?: EpochMs | null
  to?: EpochMs | null
}

const entries: List = {
  from: Prisma.sql`audit_entry AS entry`,
  id: column('uuid', 'entry.id'),
  defaultSort: { field: 'at', direction: 'DESC' },
  columns: {
    actorId: nullable('text', 'entry.actor_id'),
    actorKind: column('text', 'entry.actor_kind::text'),
    actorName: column('text', 'entry.actor_name'),
    at: column('time', 'entry.at'),
    entityId: column('text', 'entry.entity_id'),
    entityKind: column('text', 'entry.entity_kind'),
    operation: column('text', 'entry.operation'),
  },
}

/** Entries of an export that are read at a time. */
const exportedAtOnce = 500

/** Reads what `recordAudit` has written. */
export class AuditLog {
  readonly #prisma: PrismaClient

  constructor(prisma: PrismaClient) {
    this.#prisma = prisma
  }

  /** The latest first. */
  async page(environmentId: string, filter: AuditFilter, paging: Paging | null): Promise<Page<AuditEntry>> {
    const { from = null, to = null } = filter
    if (from !== null && to !== null && from >= to) throw invalidInput('from must be before to', { path: 'from' })
    const scope = Prisma.sql`entry.environment_id = ${environmentId}::uuid`
    const page = await readPage(this.#prisma, entries, scope, { filter: toFilter(filter), paging })
    return withRecords(page, async (ids) => new Map((await load(this.#prisma, environmentId, ids)).map((entry) => [entry.id, entry])))
  }

  /** From the first to the last of [from, to), a few at a time. What is written meanwhile may be left out; nothing that was there is. */
  async *export(environmentId: string, { from = null, to = null }: Pick<AuditFilter, 'from' | 'to'>): AsyncGenerator<AuditEntry[]> {
    let last = { at: from ?? 0, id: '00000000-0000-0000-0000-000000000000' }
    const until = to === null ? Prisma.empty : Prisma.sql`AND entry.at < ${new Date(to)}`
    for (;;) {
      const rows = await this.#prisma.$queryRaw<Row[]>(Prisma.sql`
        SELECT ${selected} FROM audit_entry AS entry
        WHERE entry.environment_id = ${environmentId}::uuid AND (entry.at, entry.id) > (${new Date(last.at)}, ${last.id}::uuid) ${until}
        ORDER BY entry.at, entry.id LIMIT ${exportedAtOnce}`)
      if (rows.length > 0) yield rows.map(fromRow)
      if (rows.length < exportedAtOnce) return
      last = { at: rows.at(-1)!.at.getTime(), id: rows.at(-1)!.id }
    }
  }
}

function toFilter({ entityKind, entityId, actorKind, actor, operation, from, to }: AuditFilter): Filter {
  const equal = (value: string | null | undefined) => (value === null || value === undefined ? undefined : { eq: value })
  const at = { ...(typeof from === 'number' && { gte: from }), ...(typeof to === 'number' && { lt: to }) }
  return {
    entityKind: equal(entityKind),
    entityId: equal(entityId),
    actorKind: equal(actorKind),
    // Rare among all entries, and found by its name.
    actorName: actorKind === operatorActor.kind ? { eq: operatorActor.name } : undefined,
    operation: equal(operation),
    at: Object.keys(at).length > 0 ? at : undefined,
    or: equal(actor) && [{ actorName: equal(actor)! }, { actorId: equal(actor)! }],
  }
}

interface Row {
  id: string
  environment_id: string
  at: Date
  trace_id: string | null
  actor_kind: ActorKind
  actor_id: string | null
  actor_name: string
  address: string | null
  operation: string
  entity_kind: EntityKind
  entity_id: string
  before: Fields | null
  after: Fields | null
}

const selected = Prisma.raw(`entry.id, entry.environment_id, entry.at, entry.trace_id, entry.actor_kind::text AS actor_kind, entry.actor_id,
  entry.actor_name, entry.address, entry.operation, entry.entity_kind, entry.entity_id, entry.before, entry.after`)

/** An id begins with the time of its entry. */
const timeOf = (id: string): Date => new Date(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16))

async function load(db: Db, environmentId: string, ids: readonly string[]): Promise<AuditEntry[]> {
  const rows = await db.$queryRaw<Row[]>(Prisma.sql`
    SELECT ${selected} FROM unnest(${ids.map(timeOf)}::timestamptz[], ${[...ids]}::uuid[]) AS wanted (at, id)
    JOIN audit_entry AS entry ON entry.environment_id = ${environmentId}::uuid AND entry.at = wanted.at AND entry.id = wanted.id`)
  return rows.map(fromRow)
}

const fromRow = (row: Row): AuditEntry => ({
  id: row.id,
  environmentId: row.environment_id,
  at: row.at.getTime(),
  actor: { kind: row.actor_kind, id: row.actor_id, name: row.actor_name },
  operation: row.operation,
  address: row.address,
  traceId: row.trace_id,
  entityKind: row.entity_kind,
  entityId: row.entity_id,
  before: row.before,
  after: row.after,
})
