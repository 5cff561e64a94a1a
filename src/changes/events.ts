/** Events for the host application, written with the change that they tell of. */
import pg from 'pg'
import { newId } from '../kernel/id.js'
import { type EventPayload, type EventType, eventCatalog } from '../notifications/model/catalog.js'
import { currentSpan } from '../platform/context/tracing.js'
import { type Db, Prisma } from '../platform/postgres.js'
import { beforeCommit, isUnderWay, withCommit } from '../platform/transaction.js'

/** `customerId`: ours; null: the event is of no customer. */
export type NewEvent = {
  [Type in EventType]: { type: Type; customerId: string | null; data: EventPayload<Type> /** Default: a new one. */; id?: string }
}[EventType]

/** Makes the events; is asked only where somebody hears of them. */
export type MakeEvents = () => readonly NewEvent[] | Promise<readonly NewEvent[]>

interface Waiting {
  environmentId: string
  make: MakeEvents
  /** Of the change, which its deliveries go on from; null: nothing is traced. */
  traceparent: string | null
}

const { escapeLiteral } = pg

const waitingIn = new WeakMap<Db, Waiting[]>()
const hearing = new WeakMap<Db, Map<string, boolean>>()

/** What a statement of the transaction has read anyway: whether the environment has endpoints. Then nobody has to ask again. */
export function knowHearing(db: Db, environmentId: string, isHeard: boolean): void {
  if (!isUnderWay(db)) return
  const known = hearing.get(db) ?? new Map<string, boolean>()
  hearing.set(db, known.set(environmentId, isHeard))
}

const namedIn = new WeakMap<Db, Map<string, string>>()

/** What the host application calls a customer (our id), for events that name it: then nobody has to look it up. */
export function knowCustomer(db: Db, id: string, refId: string): void {
  if (!isUnderWay(db)) return
  const known = namedIn.get(db) ?? new Map<string, string>()
  namedIn.set(db, known.set(id, refId))
}

export const knownRefId = (db: Db, customerId: string): string | undefined => namedIn.get(db)?.get(customerId)

/**
 * Events of the change that the transaction makes. They are made and written as the last of it, all in one statement, in the order in which they were
 * recorded; where the environment has no endpoint that is nothing.
 */
export async function recordEvents(db: Db, environmentId: string, make: MakeEvents): Promise<void> {
  const one: Waiting = { environmentId, make, traceparent: currentSpan()?.context.traceparent ?? null }
  const waiting = waitingIn.get(db)
  if (waiting) {
    waiting.push(one)
    return
  }
  const begun = [one]
  if (beforeCommit(db, () => writeEvents(db, begun))) waitingIn.set(db, begun)
  else await writeEvents(db, begun)
}

async function writeEvents(db: Db, waiting: readonly Waiting[]): Promise<void> {
  for (const environmentId of new Set(waiting.map((one) => one.environmentId))) {
    if (!(await isHeard(db, environmentId))) continue
    const events: (NewEvent & Pick<Waiting, 'traceparent'>)[] = []
    for (const { make, traceparent, ...one } of waiting)
      if (one.environmentId === environmentId) for (const event of await make()) events.push({ ...event, traceparent })
    if (events.length > 0) await insertEvents(db, environmentId, events)
  }
}

async function isHeard(db: Db, environmentId: string): Promise<boolean> {
  const known = hearing.get(db)?.get(environmentId)
  if (known !== undefined) return known
  const rows = await db.$queryRaw<{ hears_events: boolean }[]>(
    Prisma.sql`SELECT hears_events FROM environment WHERE id = ${environmentId}::uuid`,
  )
  return rows[0]?.hears_events ?? false
}

/** Sent with the commit, where there is one to come. */
async function insertEvents(db: Db, environmentId: string, events: readonly (NewEvent & Pick<Waiting, 'traceparent'>)[]): Promise<void> {
  const rows = events.map(({ id = newId(), type, customerId, data, traceparent }, ord) => {
    return { id, ord, type, payload_version: eventCatalog[type].version, customer_id: customerId, payload: data, traceparent }
  })
  const statement = `SELECT record_events(${escapeLiteral(environmentId)}::uuid, ${escapeLiteral(JSON.stringify(rows))}::jsonb)`
  if (isUnderWay(db)) withCommit(db, () => statement)
  else await db.$executeRawUnsafe(statement)
}

/** Forgets events, with what belongs to them; answers how many. */
export async function deleteEvents(db: Db, events: readonly { environmentId: string; id: string }[]): Promise<number> {
  return db.$executeRaw(Prisma.sql`
    DELETE FROM notification_event AS event
    USING unnest(${events.map(({ environmentId }) => environmentId)}::uuid[], ${events.map(({ id }) => id)}::uuid[]) AS old (environment_id, id)
    WHERE event.environment_id = old.environment_id AND event.id = old.id`)
}
