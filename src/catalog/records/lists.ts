/** The catalog as it is shown: many records at once, by the ids that other records name them by. */

import { column } from '../../platform/list/columns.js'
import { type List, readPage } from '../../platform/list/page.js'
import type { ListRequest, Page } from '../../platform/list/request.js'
import { type Db, Prisma } from '../../platform/postgres.js'
import type { ShownFeature } from '../model/feature.js'
import type { PackageKind, VersionFacts } from '../model/package.js'
import type { ProductFacts } from '../model/product.js'
import { couponColumns, productColumns } from './list-columns.js'
import { toFeature } from './rows.js'

/** Archived ones too: what belongs to them still names them. */
export async function findProducts(db: Db, environmentId: string, ids: readonly string[]): Promise<ProductFacts[]> {
  const rows = await db.product.findMany({ where: { environmentId, id: { in: [...ids] } } })
  return rows.map(({ id, refId, displayName, description, downgradePlanId, ...row }) => ({
    id,
    refId,
    displayName,
    description,
    downgradePlanId,
    additionalMetaData: row.additionalMetaData as ProductFacts['additionalMetaData'],
  }))
}

export async function findProductId(db: Db, environmentId: string, refId: string): Promise<string | null> {
  const row = await db.product.findUnique({
    where: { environmentId_refId: { environmentId, refId }, archivedAt: null },
    select: { id: true },
  })
  return row?.id ?? null
}

type OwnVersionFacts = Omit<VersionFacts, 'hasSubscriptions'>

/** By our id of the version. */
export async function findVersionFacts(db: Db, environmentId: string, ids: readonly string[]): Promise<Map<string, OwnVersionFacts>> {
  const rows = await db.$queryRaw<(Omit<OwnVersionFacts, 'createdAt'> & { id: string; createdAt: Date })[]>(Prisma.sql`
    SELECT version.id, version.is_latest AS "isLatest", version.created_at AS "createdAt",
      CASE WHEN version.status = 'ARCHIVED' OR package.archived_at IS NOT NULL THEN 'ARCHIVED' ELSE 'PUBLISHED' END AS status,
      EXISTS (SELECT FROM package_version heir
        WHERE heir.environment_id = version.environment_id AND heir.base_plan_version_id = version.id) AS "isParent"
    FROM package_version version
    JOIN package ON package.environment_id = version.environment_id AND package.id = version.package_id
    WHERE version.environment_id = ${environmentId}::uuid AND version.id = ANY(${[...ids]}::uuid[])`)
  return new Map(rows.map(({ id, createdAt, ...facts }) => [id, { ...facts, createdAt: createdAt.getTime() }]))
}

/** Ids of the versions that new subscriptions get, of packages that are not archived; ids are ours. */
export async function findLatestVersionIds(
  db: Db,
  environmentId: string,
  { packageIds, refIds, ...rest }: { packageIds?: readonly string[]; refIds?: readonly string[]; kind?: PackageKind; productId?: string },
): Promise<string[]> {
  const named = { ...(packageIds && { id: { in: [...packageIds] } }), ...(refIds && { refId: { in: [...refIds] } }) }
  const rows = await db.packageVersion.findMany({
    where: { environmentId, isLatest: true, package: { ...rest, ...named, archivedAt: null } },
    select: { id: true },
  })
  return rows.map(({ id }) => id)
}

/** Archived ones too. */
export async function findShownFeatures(db: Db, environmentId: string, refIds: readonly string[]): Promise<ShownFeature[]> {
  const rows = await db.feature.findMany({ where: { environmentId, refId: { in: [...refIds] } } })
  return rows.map((row) => {
    const { isArchived, enumValues, ...feature } = toFeature(row)
    return { ...feature, additionalMetaData: row.additionalMetaData as ShownFeature['additionalMetaData'] }
  })
}

const productList: List = {
  from: Prisma.sql`product`,
  id: column('uuid', 'product.id'),
  defaultSort: { field: 'createdAt', direction: 'DESC' },
  columns: productColumns,
}

/** Ids of products that are in the catalog. */
export function pageOfProducts(db: Db, environmentId: string, request: ListRequest): Promise<Page<string>> {
  return readPage(db, productList, Prisma.sql`product.environment_id = ${environmentId}::uuid AND product.archived_at IS NULL`, request)
}

/** Ids of coupons, archived ones too. `others`: what they are filtered by beside their own fields. */
export function pageOfCoupons(db: Db, environmentId: string, request: ListRequest, others: List['columns']): Promise<Page<string>> {
  const couponList: List = {
    from: Prisma.sql`coupon`,
    id: column('uuid', 'coupon.id'),
    defaultSort: { field: 'createdAt', direction: 'DESC' },
    columns: { ...couponColumns, ...others },
  }
  return readPage(db, couponList, Prisma.sql`coupon.environment_id = ${environmentId}::uuid`, request)
}
