/** The catalog in PostgreSQL: what is read of it. How a change is written is in save.ts. */

import type { PublishedPackage } from '../../changes/model/change.js'
import type { EpochMs } from '../../kernel/clock.js'
import { type Db, Prisma } from '../../platform/postgres.js'
import type { CatalogChange } from '../document/difference.js'
import type { CatalogDocument } from '../document/document.js'
import { normalise } from '../document/normalise.js'
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
  versionContent,
} from './rows.js'

/** Until the transaction ends, every other change of this environment's catalog waits. */
export async function lockCatalog(db: Db, environmentId: string): Promise<void> {
  await db.$executeRaw(Prisma.sql`SELECT pg_advisory_xact_lock(hashtextextended('catalog ' || ${environmentId}, 0))`)
}

/** A version that was just published: our ids, and what listeners are told. */
interface JustPublished {
  packageId: string
  versionId: string
  message: PublishedPackage
}

/** The latest versions of the plans and add-ons among the changes. `forAll` names those that are for existing subscriptions too. */
export async function readPublished(
  db: Db,
  environmentId: string,
  changes: readonly CatalogChange[],
  forAll: ReadonlySet<string>,
): Promise<JustPublished[]> {
  const published = changes.filter(({ kind, action }) => (kind === 'plan' || kind === 'addon') && action !== 'archive')
  if (published.length === 0) return []
  const versions = await db.packageVersion.findMany({
    where: {
      environmentId,
      isLatest: true,
      package: { OR: published.map(({ kind, refId }) => ({ kind: kind === 'plan' ? 'PLAN' : 'ADDON', refId })) },
    },
    select: { id: true, versionNumber: true, package: { select: { id: true, refId: true, kind: true } } },
    orderBy: { package: { refId: 'asc' } },
  })
  return versions.map(({ id: versionId, versionNumber, package: { id: packageId, refId, kind } }) => ({
    packageId,
    versionId,
    message: {
      packageRefId: refId,
      packageType: kind === 'PLAN' ? 'Plan' : 'Addon',
      packageVersion: versionNumber,
      migrationType: forAll.has(`${kind.toLowerCase()} ${refId}`) ? 'ALL_CUSTOMERS' : 'NEW_CUSTOMERS',
    },
  }))
}

/** What is sold now. Not one snapshot unless the transaction is. */
export async function readDocument(db: Db, environmentId: string): Promise<CatalogDocument> {
  const inForce = { environmentId, archivedAt: null }
  const features = await db.feature.findMany({ where: inForce, include: featureContent })
  const products = await db.product.findMany({ where: inForce, include: productContent })
  const versions = await db.packageVersion.findMany({
    where: { environmentId, isLatest: true, package: { archivedAt: null } },
    include: versionContent,
  })
  const coupons = await db.coupon.findMany({ where: { environmentId, status: 'ACTIVE' } })
  const ofKind = (kind: PackageKind) => versions.filter((version) => version.package.kind === kind)
  return normalise({
    features: features.map(toFeatureDefinition),
    products: products.map(toProductDefinition),
    plans: ofKind('PLAN').map(toPlanDefinition),
    addons: ofKind('ADDON').map(toAddonDefinition),
    coupons: coupons.map(toCouponDefinition),
  })
}

export async function readArchived(db: Db, environmentId: string): Promise<ArchivedDefinitions> {
  const archived = { environmentId, archivedAt: { not: null } }
  const features = await db.feature.findMany({ where: archived, select: { refId: true, featureType: true, meterType: true } })
  const packages = await db.package.findMany({ where: archived, select: { refId: true, kind: true, product: { select: { refId: true } } } })
  const ofKind = (wanted: PackageKind) =>
    packages.filter(({ kind }) => kind === wanted).map(({ refId, product }) => ({ refId, product: product.refId }))
  return {
    features: features.map(({ refId, featureType, meterType }) => ({ refId, type: featureType, meter: meterType })),
    plans: ofKind('PLAN'),
    addons: ofKind('ADDON'),
  }
}

/** Archived ones too, in no order. `ids` null: all of the environment. */
export async function findFeatures(db: Db, environmentId: string, ids: readonly string[] | null): Promise<CatalogFeature[]> {
  const rows = await db.feature.findMany({ where: { environmentId, ...(ids && { id: { in: [...ids] } }) } })
  return rows.map(toFeature)
}

/** Published and archived versions; a draft may still change. */
export async function findVersions(db: Db, environmentId: string, ids: readonly string[]): Promise<FrozenVersion[]> {
  const rows = await db.packageVersion.findMany({
    where: { environmentId, id: { in: [...ids] }, status: { not: 'DRAFT' } },
    include: versionContent,
  })
  return rows.map(toFrozenVersion)
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
