import { type Db, Prisma } from '../../../platform/postgres.js'
import type { HolderChange, ToldHolder } from '../rules/holdings.js'
import type { Told } from '../rules/told.js'

const customerItself = '00000000-0000-0000-0000-000000000000'

/** What was told of customers (our ids) and their resources. */
export async function findTold(db: Db, environmentId: string, customerIds: readonly string[]): Promise<Map<string, ToldHolder[]>> {
  const rows = await db.$queryRaw<{ customer_id: string; part_id: string; ref_id: string | null; entitlements: Told }[]>(Prisma.sql`
    SELECT told.customer_id, told.part_id, resource.ref_id, told.entitlements FROM told_entitlements AS told
    LEFT JOIN customer_resource AS resource
      ON resource.environment_id = ${environmentId}::uuid AND resource.customer_id = told.customer_id AND resource.id = told.part_id
    WHERE told.environment_id = ${environmentId}::uuid AND told.customer_id = ANY(${[...customerIds]}::uuid[])`)
  const told = new Map<string, ToldHolder[]>()
  for (const { customer_id, part_id, ref_id, entitlements } of rows) {
    const resource = part_id === customerItself ? null : { id: part_id, refId: ref_id ?? part_id }
    told.set(customer_id, [...(told.get(customer_id) ?? []), { resource, told: entitlements }])
  }
  return told
}

/** `isFirst`: what is there already stays. */
export async function saveTold(
  db: Db,
  environmentId: string,
  changes: readonly ({ customerId: string } & HolderChange)[],
  { isFirst = false } = {},
): Promise<void> {
  const kept = changes.filter(({ told }) => told !== null)
  const gone = changes.filter(({ told }) => told === null)
  const partsOf = (some: typeof changes) => some.map(({ resource }) => resource?.id ?? customerItself)
  if (kept.length > 0)
    await db.$executeRaw(Prisma.sql`
      INSERT INTO told_entitlements AS told (environment_id, customer_id, part_id, entitlements)
      SELECT ${environmentId}::uuid, customer_id, part_id, entitlements
      FROM unnest(${kept.map(({ customerId }) => customerId)}::uuid[], ${partsOf(kept)}::uuid[], ${kept.map(({ told }) => JSON.stringify(told))}::jsonb[])
        AS given (customer_id, part_id, entitlements) ORDER BY customer_id, part_id
      ON CONFLICT (environment_id, customer_id, part_id) DO UPDATE
        SET entitlements = CASE WHEN ${isFirst} THEN told.entitlements ELSE excluded.entitlements END`)
  if (gone.length > 0)
    await db.$executeRaw(Prisma.sql`
      DELETE FROM told_entitlements AS told
      USING unnest(${gone.map(({ customerId }) => customerId)}::uuid[], ${partsOf(gone)}::uuid[]) AS given (customer_id, part_id)
      WHERE told.environment_id = ${environmentId}::uuid AND told.customer_id = given.customer_id AND told.part_id = given.part_id`)
}

/** Who is to be told of the environment. */
export interface Listening {
  /** It has alerts. */
  watchesUsage: boolean
  hearsEvents: boolean
  /** Customers (our ids) that were made when somebody heard already. */
  newCustomers: ReadonlySet<string>
}

export async function findListening(db: Db, environmentId: string, customerIds: readonly string[]): Promise<Listening> {
  const [row] = await db.$queryRaw<{ watches_usage: boolean; hears_events: boolean; ids: string[] | null }[]>(Prisma.sql`
    SELECT watches_usage, hears_events, (
      SELECT array_agg(customer.id) FROM customer
      WHERE customer.environment_id = ${environmentId}::uuid AND customer.id = ANY(${[...customerIds]}::uuid[])
        AND customer.created_at > (SELECT min(endpoint.created_at) FROM webhook_endpoint AS endpoint WHERE endpoint.environment_id = ${environmentId}::uuid)
    ) AS ids FROM environment WHERE id = ${environmentId}::uuid`)
  return { watchesUsage: row?.watches_usage ?? false, hearsEvents: row?.hears_events ?? false, newCustomers: new Set(row?.ids ?? []) }
}
