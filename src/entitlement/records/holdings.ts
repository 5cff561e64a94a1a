import { chargesOf, type SoldTerms } from '../../billing/rules/charges.js'
import type { Feature } from '../../catalog/model/feature.js'
import type { CatalogService } from '../../catalog/service.js'
import type { Clock, EpochMs } from '../../kernel/clock.js'
import * as decimal from '../../kernel/decimal.js'
import { readCurrentUsage } from '../../metering/counting/current-usage.js'
import type { Holder } from '../../metering/model/holder.js'
import type { FormerZone } from '../../metering/model/zone-change.js'
import { type Db, Prisma } from '../../platform/postgres.js'
import { advance } from '../../subscription/rules/advance.js'
import type { Subscription } from '../../subscription/rules/subscription.js'
import { sellsUnitsEver } from '../rules/bought.js'
import { askedOfBudgets, type BudgetFacts, runningBudgets, usageOfBudgets } from '../rules/budget.js'
import type { HeldPromotional } from '../rules/grants.js'
import type { Holdings } from '../rules/holdings.js'
import type { StateBasis } from '../rules/state.js'

/** Where holdings are read from besides this domain's own tables. */
export interface HoldingsSources {
  clock: Clock
  catalog: CatalogService
  /** The customers' (our ids) subscriptions that are not final as stored, oldest first. */
  openSubscriptions(db: Db, environmentId: string, customerIds: string[]): Promise<Subscription[]>
  /** What was agreed about the prices of subscriptions, by our id; those that were never charged are left out. */
  soldTerms(db: Db, environmentId: string, subscriptionIds: readonly string[]): Promise<Map<string, SoldTerms>>
}

/** Rows of Prisma per statement; more holders are read in several. */
const holdersPerRead = 500

/**
 * Everything that decides what customers or their resources may use, in the order of the holders; for many it takes as many statements as for one. The
 * versions are read first: run it in a REPEATABLE READ transaction, or under the customers' state rows, so that version and facts belong together.
 */
export async function loadHoldings(
  db: Db,
  sources: HoldingsSources,
  environmentId: string,
  holders: readonly Holder[],
): Promise<Holdings[]> {
  const holdings: Holdings[] = []
  for (let start = 0; start < holders.length; start += holdersPerRead)
    holdings.push(...(await loadTogether(db, sources, environmentId, holders.slice(start, start + holdersPerRead))))
  return holdings
}

async function loadTogether(db: Db, sources: HoldingsSources, environmentId: string, holders: readonly Holder[]): Promise<Holdings[]> {
  const { catalog, openSubscriptions } = sources
  const rows = await db.customer.findMany({
    where: { environmentId, refId: { in: [...new Set(holders.map(({ customerId }) => customerId))] } },
    select: { id: true, refId: true, timezone: true, formerTimezones: true, billingCurrency: true, archivedAt: true, state: true },
  })
  const customers = new Map(rows.map((row) => [row.refId, row]))
  const customerIds = rows.map(({ id }) => id)
  const resourceRefIds = new Set(holders.flatMap(({ resourceId }) => resourceId ?? []))
  const resources =
    resourceRefIds.size === 0
      ? []
      : await db.customerResource.findMany({
          where: { environmentId, customerId: { in: customerIds }, refId: { in: [...resourceRefIds] } },
          select: { id: true, customerId: true, refId: true },
        })
  const subscriptions = customerIds.length === 0 ? [] : await openSubscriptions(db, environmentId, customerIds)
  const promotional =
    customerIds.length === 0
      ? []
      : await db.promotionalEntitlement.findMany({
          where: { environmentId, customerId: { in: customerIds }, revokedAt: null },
          orderBy: [{ startDate: 'asc' }, { id: 'asc' }],
        })
  const isNamedAlone = promotional.length > 0 || subscriptions.some(({ ownEntitlements }) => ownEntitlements.length > 0)
  const features = isNamedAlone ? await featuresById(db, catalog, environmentId) : new Map<string, Feature>()
  const basePlans = await catalog.versions(db, environmentId, baseVersionIds(subscriptions))
  const sellers = subscriptions.filter(sellsUnitsEver)
  const soldTerms = sellers.length === 0 ? undefined : await sources.soldTerms(db, environmentId, idsOf(sellers))
  const subscriptionsOf = byCustomer(subscriptions)
  const budgeted = rows.flatMap(({ id, state }) => {
    const own = subscriptionsOf.get(id) ?? []
    // In the billing period that runs, also where nobody has recorded yet that it began.
    return own.some(({ budget }) => budget) ? advance(own, Math.max(sources.clock.now(), Number(state?.version ?? 0))).subscriptions : []
  })
  const budgets = await loadBudgets(db, sources, environmentId, budgeted)
  const promotionalOf = byCustomer(promotional)
  const resourcesOf = byCustomer(resources)
  return holders.map(({ customerId: customerRefId, resourceId: resourceRefId }): Holdings => {
    const customer = customers.get(customerRefId)
    const facts = { environmentId, customerRefId, resourceRefId }
    if (!customer) {
      const nothing = { subscriptions: [], promotional: [], features: new Map(), basePlans: new Map() }
      return { ...facts, ...nothing, customer: null, resource: null, version: 0, accessVersion: 0 }
    }
    const resource = resourcesOf.get(customer.id)?.find(({ refId }) => refId === resourceRefId)
    return {
      ...facts,
      customer: {
        id: customer.id,
        timeZone: customer.timezone ?? 'UTC',
        formerTimeZones: (customer.formerTimezones ?? []) as unknown as FormerZone[],
        currency: customer.billingCurrency,
        isArchived: customer.archivedAt !== null,
      },
      resource: resource ? { id: resource.id } : null,
      version: Number(customer.state?.version ?? 0),
      accessVersion: Number(customer.state?.accessVersion ?? 0),
      subscriptions: subscriptionsOf.get(customer.id) ?? [],
      promotional: (promotionalOf.get(customer.id) ?? []).flatMap((row) => toHeldPromotional(row, features)),
      features,
      basePlans,
      ...(soldTerms && { soldTerms }),
      ...(budgets && subscriptionsOf.get(customer.id)?.some(({ budget }) => budget) && { budgets }),
    }
  })
}

/**
 * What the budgets of the subscriptions, with their status of now, depend on: with the usage of the billing periods that run. Undefined: none has a budget, and nothing was
 * read.
 */
export async function loadBudgets(
  db: Db,
  { catalog, soldTerms }: Pick<HoldingsSources, 'catalog' | 'soldTerms'>,
  environmentId: string,
  subscriptions: readonly Subscription[],
): Promise<BudgetFacts | undefined> {
  const limited = subscriptions.filter(({ budget }) => budget)
  if (limited.length === 0) return undefined
  const features = await featuresById(db, catalog, environmentId)
  const terms = await soldTerms(db, environmentId, idsOf(limited))
  const prices = new Map(
    limited.map((subscription) => {
      const agreed = terms.get(subscription.id)
      const { usage } = agreed ? chargesOf(subscription, agreed) : { usage: [] }
      return [
        subscription.id,
        usage.map(({ price }) => ({ featureId: price.featureId!, price, meterType: features.get(price.featureId!)!.meterType })),
      ]
    }),
  )
  const budgets = runningBudgets(limited, { prices })
  const usages = await readCurrentUsage(db, environmentId, askedOfBudgets(budgets))
  return { prices, usage: usageOfBudgets(budgets, usages) }
}

const idsOf = (subscriptions: readonly Subscription[]) => subscriptions.map(({ id }) => id)

/** By our id of the customer. */
export function byCustomer<T extends { customerId: string }>(records: T[]): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const record of records) {
    const group = groups.get(record.customerId)
    if (group) group.push(record)
    else groups.set(record.customerId, [record])
  }
  return groups
}

function toHeldPromotional(
  row: Prisma.PromotionalEntitlementGetPayload<object>,
  features: ReadonlyMap<string, Feature>,
): HeldPromotional[] {
  const feature = features.get(row.featureId)
  if (!feature) return []
  return [
    {
      id: row.id,
      feature,
      usageLimit: row.usageLimit === null ? null : decimal.fromText(row.usageLimit.toFixed()),
      hasUnlimitedUsage: row.hasUnlimitedUsage,
      hasSoftLimit: row.hasSoftLimit,
      enumValues: row.enumValues,
      resetPeriod: row.resetPeriod,
      resetRule: row.resetRule,
      startDate: row.startDate.getTime(),
      endDate: row.endDate?.getTime() ?? null,
    },
  ]
}

export interface NewCustomer {
  environmentId: string
  id: string
  refId: string
  timeZone: string | null
}

/** Of a customer that the transaction has made, so that only what the plan inherits from is to be read. */
export async function holdingsOfNew(
  db: Db,
  { catalog }: Pick<HoldingsSources, 'catalog'>,
  { customer, version, subscription }: { customer: NewCustomer; version: EpochMs; subscription: Subscription | null },
): Promise<Holdings> {
  const { environmentId, id, refId, timeZone } = customer
  const subscriptions = subscription ? [subscription] : []
  return {
    environmentId,
    customerRefId: refId,
    resourceRefId: null,
    customer: { id, timeZone: timeZone ?? 'UTC', formerTimeZones: [], isArchived: false },
    resource: null,
    version,
    accessVersion: version,
    subscriptions,
    promotional: [],
    features: new Map(),
    basePlans: await catalog.versions(db, environmentId, baseVersionIds(subscriptions)),
  }
}

function baseVersionIds(subscriptions: readonly Subscription[]): string[] {
  const plans = subscriptions.flatMap(({ plan, product }) => (product.downgradePlan ? [plan, product.downgradePlan] : [plan]))
  return plans.flatMap(({ basePlanVersionId }) => basePlanVersionId ?? [])
}

/** The customers' resources, by the caller's identifier. */
export async function loadResources(
  db: Db,
  environmentId: string,
  customerIds: string[],
): Promise<{ id: string; refId: string; customerId: string }[]> {
  if (customerIds.length === 0) return []
  return db.customerResource.findMany({
    where: { environmentId, customerId: { in: customerIds } },
    select: { id: true, refId: true, customerId: true },
    orderBy: { refId: 'asc' },
  })
}

/** What a state is made of, as of now. */
export interface StateVersions {
  /** Of the customer's state. */
  state: EpochMs
  catalog: number
}

/** Null: the customer is unknown. */
export async function loadVersions(db: Db, environmentId: string, customerRefId: string): Promise<StateVersions | null> {
  const [row] = await db.$queryRaw<{ state: bigint | null; catalog: bigint }[]>(Prisma.sql`
    SELECT state.version AS state, environment.catalog_version AS catalog
    FROM customer
    JOIN environment ON environment.id = customer.environment_id
    LEFT JOIN customer_state AS state ON state.environment_id = customer.environment_id AND state.customer_id = customer.id
    WHERE customer.environment_id = ${environmentId}::uuid AND customer.ref_id = ${customerRefId}`)
  return row ? { state: Number(row.state ?? 0), catalog: Number(row.catalog) } : null
}

/** What a customer may use, as versions: a state that was made at them grants that, as long as time changes nothing. */
export interface CustomerAccess {
  /** Of the last change of the customer's state that was more than usage. */
  accessVersion: EpochMs
  basis: StateBasis
  /** What one of them uses may count for others. */
  hasResources: boolean
}

/** By refId; unknown customers are left out. They are looked up one by one: a join of many would rather read the whole table. */
export async function loadAccess(db: Db, environmentId: string, customerRefIds: readonly string[]): Promise<Map<string, CustomerAccess>> {
  const rows = await db.$queryRaw<
    { ref_id: string; access: number | null; catalog: number; clock: StateBasis['clock']; has_resources: boolean }[]
  >(Prisma.sql`
    SELECT asked.ref_id, state.access_version::float8 AS access, environment.catalog_version::float8 AS catalog,
      CASE WHEN environment.test_clock IS NULL THEN 'real' ELSE 'test' END AS clock, resource.id IS NOT NULL AS has_resources
    FROM environment
    CROSS JOIN unnest(${customerRefIds}::text[]) AS asked (ref_id)
    CROSS JOIN LATERAL (
      SELECT id FROM customer WHERE environment_id = ${environmentId}::uuid AND ref_id = asked.ref_id LIMIT 1
    ) AS customer
    LEFT JOIN LATERAL (
      SELECT access_version FROM customer_state WHERE environment_id = ${environmentId}::uuid AND customer_id = customer.id LIMIT 1
    ) AS state ON true
    LEFT JOIN LATERAL (
      SELECT id FROM customer_resource WHERE environment_id = ${environmentId}::uuid AND customer_id = customer.id LIMIT 1
    ) AS resource ON true
    WHERE environment.id = ${environmentId}::uuid`)
  return new Map(
    rows.map(({ ref_id, access, catalog: catalogVersion, clock, has_resources: hasResources }) => [
      ref_id,
      { accessVersion: access ?? 0, basis: { catalogVersion, clock }, hasResources },
    ]),
  )
}

/** What the states of the environment's customers are made from, and where its own clock stands (0: it has none). */
export async function loadStateBasis(db: Db, environmentId: string): Promise<{ basis: StateBasis; testClock: EpochMs }> {
  const [row] = await db.$queryRaw<{ catalog_version: bigint; test_clock: Date | null }[]>(Prisma.sql`
    SELECT catalog_version, test_clock FROM environment WHERE id = ${environmentId}::uuid`)
  const testClock = row?.test_clock ?? null
  const basis: StateBasis = { catalogVersion: Number(row?.catalog_version ?? 0), clock: testClock === null ? 'real' : 'test' }
  return { basis, testClock: testClock?.getTime() ?? 0 }
}

async function featuresById(db: Db, catalog: CatalogService, environmentId: string): Promise<Map<string, Feature>> {
  const features = await catalog.features(db, environmentId)
  return new Map([...features.values()].map(({ isArchived, enumValues, ...feature }) => [feature.id, feature]))
}
