/** The catalog in PostgreSQL: what is read of it. How a change is written is in save.ts. */

import type { EpochMs } from '../../kernel/clock.js'
import { type Db, Prisma } from '../../platform/postgres.js'
import type { AddonDefinition, CatalogDocument, PlanDefinition } from '../document/document.js'
import type { PlannedChange } from '../document/plan.js'
import type { ArchivedDefinitions } from '../document/refusal.js'
import type { CatalogFeature } from '../model/feature.js'
import type { PackageKind } from '../model/package.js'
import {
  type FrozenVersion,
  featureContent,
  productContent,
  toAddonDefinition,
  toCouponDefinition,
  toFeature,
  toFeatureDefinition,
  toFrozenVersion,
  toPlanDefinition,
  toProductDefinition,
} from './rows.js'
import { readVersions } from './versions.js'

/** Until the transaction ends, every other change of this environment's catalog waits. */
export async function lockCatalog(db: Db, environmentId: string): Promise<void> {
  await db.$executeRaw(Prisma.sql`SELECT pg_advisory_xact_lock(hashtextextended('catalog ' || ${environmentId}, 0))`)
}

/** What is sold now, its lists in no order. Not one snapshot unless the transaction is. */
export async function readDocument(db: Db, environmentId: string): Promise<CatalogDocument> {
  const features = await inPages((page) =>
    db.feature.findMany({ where: { environmentId, archivedAt: null, ...page }, include: featureContent, ...inOrder }),
  )
  const products = await inPages((page) =>
    db.product.findMany({ where: { environmentId, archivedAt: null, ...page }, include: productContent, ...inOrder }),
  )
  const latest = await db.$queryRaw<{ ids: string[] }[]>(Prisma.sql`
    SELECT coalesce(array_agg(version.id::text), '{}') AS ids
    FROM package_version AS version JOIN package ON package.environment_id = version.environment_id AND package.id = version.package_id
    WHERE version.environment_id = ${environmentId}::uuid AND is_latest AND archived_at IS NULL`)
  const [plans, addons]: [PlanDefinition[], AddonDefinition[]] = [[], []]
  await readVersions(db, environmentId, latest[0]!.ids, (row) => {
    if (row.kind === 'PLAN') plans.push(toPlanDefinition(row))
    else addons.push(toAddonDefinition(row))
  })
  const coupons = await inPages((page) => db.coupon.findMany({ where: { environmentId, status: 'ACTIVE', ...page }, ...inOrder }))
  return {
    features: features.map(toFeatureDefinition),
    products: products.map(toProductDefinition),
    plans,
    addons,
    coupons: coupons.map(toCouponDefinition),
  }
}

/** Those archived ones that the changes would bring back. */
export async function readArchived(db: Db, environmentId: string, changes: readonly PlannedChange[]): Promise<ArchivedDefinitions> {
  const created = (kind: keyof ArchivedDefinitions) =>
    changes.flatMap(({ change }) => (change.kind === kind && change.action === 'create' ? [change.refId] : []))
  const [features, plans, addons] = [created('feature'), created('plan'), created('addon')]
  if (features.length + plans.length + addons.length === 0) return { feature: [], plan: [], addon: [] }
  const rows = await db.$queryRaw<
    { feature: ArchivedDefinitions['feature'] | null; package: (ArchivedDefinitions['plan'][number] & { kind: PackageKind })[] | null }[]
  >(Prisma.sql`
    SELECT (SELECT json_agg(json_build_object('refId', ref_id, 'type', feature_type, 'meter', meter_type)) FROM feature
        WHERE environment_id = ${environmentId}::uuid AND archived_at IS NOT NULL AND ref_id = ANY(${features}::text[])) AS feature,
      (SELECT json_agg(json_build_object('kind', kind, 'refId', package.ref_id, 'product', product.ref_id)) FROM package
        JOIN product ON product.environment_id = package.environment_id AND product.id = package.product_id
        WHERE package.environment_id = ${environmentId}::uuid AND package.archived_at IS NOT NULL
          AND (kind = 'PLAN' AND package.ref_id = ANY(${plans}::text[]) OR kind = 'ADDON' AND package.ref_id = ANY(${addons}::text[]))) AS package`)
  const ofKind = (wanted: PackageKind) =>
    (rows[0]!.package ?? []).flatMap(({ kind, ...definition }) => (kind === wanted ? [definition] : []))
  return { feature: rows[0]!.feature ?? [], plan: ofKind('PLAN'), addon: ofKind('ADDON') }
}

/** Archived ones too, in no order. */
export async function allFeatures(db: Db, environmentId: string): Promise<CatalogFeature[]> {
  const rows = await inPages((page) => db.feature.findMany({ where: { environmentId, ...page }, ...inOrder }))
  return rows.map(toFeature)
}

/** Archived ones too, in no order. */
export async function findFeatures(db: Db, environmentId: string, ids: readonly string[]): Promise<CatalogFeature[]> {
  const features: CatalogFeature[] = []
  for (let at = 0; at < ids.length; at += rowsAtOnce) {
    const rows = await db.feature.findMany({ where: { environmentId, id: { in: ids.slice(at, at + rowsAtOnce) } } })
    features.push(...rows.map(toFeature))
  }
  return features
}

/** Published and archived versions; a draft may still change. */
export async function findVersions(db: Db, environmentId: string, ids: readonly string[]): Promise<FrozenVersion[]> {
  return readVersions(db, environmentId, ids, toFrozenVersion)
}

/** Rows that Prisma reads in one piece, in some milliseconds. */
const rowsAtOnce = 500

const inOrder = { orderBy: { id: 'asc' }, take: rowsAtOnce } as const
const beforeAll = '00000000-0000-0000-0000-000000000000'

/** All rows; others are served between two pages. */
async function inPages<Row extends { id: string }>(find: (page: { id: { gt: string } }) => Promise<Row[]>): Promise<Row[]> {
  const all: Row[] = []
  for (;;) {
    const page = await find({ id: { gt: all.at(-1)?.id ?? beforeAll } })
    all.push(...page)
    if (page.length < rowsAtOnce) return all
  }
}

/** Null: there is no such package, or it is archived. */
export async function findLatestVersionId(db: Db, environmentId: string, kind: PackageKind, refId: string): Promise<string | null> {
  const row = await db.packageVersion.findFirst({
    where: { environmentId, isLatest: true, package: { kind, refId, archivedAt: null } },
    select: { id: true },
  })
  return row?.id ?? null
}

/** Also of an archived package. Null: it has none. */
export async function findLatestVersionIdOf(db: Db, environmentId: string, packageId: string): Promise<string | null> {
  const row = await db.packageVersion.findFirst({ where: { environmentId, packageId, isLatest: true }, select: { id: true } })
  return row?.id ?? null
}

/** Of a coupon that is not archived. */
export async function findCouponId(db: Db, environmentId: string, refId: string): Promise<string | null> {
  const coupon = await db.coupon.findUnique({
    where: { environmentId_refId: { environmentId, refId }, status: 'ACTIVE' },
    select: { id: true },
  })
  return coupon?.id ?? null
}

/** The newest that was published by then. Null: none was. */
export async function findVersionIdAt(db: Db, environmentId: string, packageId: string, at: EpochMs): Promise<string | null> {
  const row = await db.packageVersion.findFirst({
    where: { environmentId, packageId, status: { not: 'DRAFT' }, publishedAt: { lte: new Date(at) } },
    orderBy: { versionNumber: 'desc' },
    select: { id: true },
  })
  return row?.id ?? null
}

type ProductRecord = Prisma.ProductGetPayload<object>

/** Archived or not. */
export async function getProduct(db: Db, environmentId: string, id: string): Promise<ProductRecord> {
  return db.product.findUniqueOrThrow({ where: { environmentId_id: { environmentId, id } } })
}

/** Of those in the catalog. Products of one document are as old as each other: then the refId decides. */
export async function findOldestProduct(db: Db, environmentId: string): Promise<ProductRecord | null> {
  return db.product.findFirst({ where: { environmentId, archivedAt: null }, orderBy: [{ createdAt: 'asc' }, { refId: 'asc' }] })
}
