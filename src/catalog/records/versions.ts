import { type Db, Prisma } from '../../platform/postgres.js'
import type { DefaultTrial, PackageEntitlement, PackageVersion, Price } from '../model/package.js'

type Text<T, Keys extends keyof T> = Omit<T, Keys> & Record<Keys, string | null>

/** A version with all that is in it. Decimals are as PostgreSQL writes them. */
export interface VersionRow extends Omit<PackageVersion, 'trial' | 'entitlements' | 'prices' | 'compatibleAddonIds'> {
  basePlanRefId: string | null
  trialDuration: DefaultTrial['duration'] | null
  trialUnits: DefaultTrial['units'] | null
  trialEndBehavior: DefaultTrial['endBehavior'] | null
  entitlements: (Text<Omit<PackageEntitlement, 'feature'>, 'usageLimit'> & { featureRefId: string })[]
  prices: Text<Omit<Price, 'unitTransformation'>, 'amount'>[]
  compatibleAddons: { id: string; refId: string }[]
}

/** Each may have a thousand entitlements and as many prices, and what a statement answers is read in one piece: of more versions it is looked first what they have. */
const versionsAtOnce = 4
const rowsAtOnce = 2_000

/** In no order; those that there are not are left out. Each is taken as `as` makes it, a few at a time. */
export async function readVersions<T>(db: Db, environmentId: string, ids: readonly string[], as: (row: VersionRow) => T): Promise<T[]> {
  const versions: T[] = []
  const pages = ids.length <= versionsAtOnce ? [ids] : pagesOf(await countRows(db, environmentId, ids))
  for (const page of pages) {
    const rows = await db.$queryRaw<{ version: VersionRow }[]>(versionsOf(environmentId, page))
    for (const { version } of rows) versions.push(as(version))
  }
  return versions
}

function* pagesOf(versions: readonly [id: string, rows: number][]): Generator<string[]> {
  let [page, taken]: [string[], number] = [[], 0]
  for (const [id, rows] of versions) {
    if (page.length > 0 && taken + rows > rowsAtOnce) {
      yield page
      ;[page, taken] = [[], 0]
    }
    page.push(id)
    taken += rows
  }
  if (page.length > 0) yield page
}

/** How many rows each takes. */
async function countRows(db: Db, environmentId: string, ids: readonly string[]): Promise<[id: string, rows: number][]> {
  const rows = await db.$queryRaw<{ counts: [string, number][] }[]>(Prisma.sql`
    SELECT coalesce(json_agg(json_build_array(id, 1 +
      (SELECT count(*) FROM package_entitlement WHERE environment_id = ${environmentId}::uuid AND package_version_id = asked.id) +
      (SELECT count(*) FROM price WHERE environment_id = ${environmentId}::uuid AND package_version_id = asked.id))), '[]') AS counts
    FROM unnest(${[...ids]}::uuid[]) AS asked (id)`)
  return rows[0]!.counts
}

/** As JSON: thousands of rows with some columns each are read in a tenth of the time that they take as rows. */
const versionsOf = (environmentId: string, ids: readonly string[]) => Prisma.sql`
  SELECT json_build_object(
    'id', version.id, 'packageId', package.id, 'refId', package.ref_id, 'kind', package.kind, 'versionNumber', version.version_number,
    'productId', product.id, 'productRefId', product.ref_id, 'displayName', version.display_name, 'description', version.description, 'pricingType', version.pricing_type,
    'basePlanVersionId', version.base_plan_version_id, 'trialDuration', version.trial_duration, 'trialUnits', version.trial_units, 'trialEndBehavior', version.trial_end_behavior,
    'maxQuantity', version.max_quantity, 'additionalMetaData', version.additional_meta_data,
    'basePlanRefId', (SELECT base_plan.ref_id FROM package_version AS base
      JOIN package AS base_plan ON base_plan.environment_id = base.environment_id AND base_plan.id = base.package_id
      WHERE base.environment_id = ${environmentId}::uuid AND base.id = version.base_plan_version_id),
    'entitlements', (SELECT coalesce(json_agg(json_build_object('id', entitlement.id, 'featureId', feature_id, 'featureRefId', feature.ref_id,
        'usageLimit', trim_scale(usage_limit)::text, 'hasUnlimitedUsage', has_unlimited_usage, 'hasSoftLimit', has_soft_limit,
        'enumValues', entitlement.enum_values, 'behavior', behavior, 'resetPeriod', reset_period, 'resetRule', reset_rule,
        'displayNameOverride', display_name_override, 'order', position) ORDER BY position), '[]')
      FROM package_entitlement AS entitlement
      JOIN feature ON feature.environment_id = entitlement.environment_id AND feature.id = entitlement.feature_id
      WHERE entitlement.environment_id = ${environmentId}::uuid AND entitlement.package_version_id = version.id),
    'prices', (SELECT coalesce(json_agg(json_build_object('id', price.id, 'billingModel', billing_model, 'billingPeriod', billing_period,
        'currency', currency, 'billingCountryCode', billing_country_code, 'amount', trim_scale(amount)::text, 'featureId', feature_id,
        'featureRefId', feature.ref_id, 'tiersMode', tiers_mode, 'tiers', tiers, 'blockSize', block_size, 'minUnitQuantity', min_unit_quantity,
        'maxUnitQuantity', max_unit_quantity) ORDER BY position), '[]')
      FROM price LEFT JOIN feature ON feature.environment_id = price.environment_id AND feature.id = price.feature_id
      WHERE price.environment_id = ${environmentId}::uuid AND price.package_version_id = version.id),
    'compatibleAddons', (SELECT coalesce(json_agg(json_build_object('id', addon.id, 'refId', addon.ref_id) ORDER BY addon.id), '[]')
      FROM plan_compatible_addon AS compatible JOIN package AS addon ON addon.environment_id = compatible.environment_id AND addon.id = compatible.addon_id
      WHERE compatible.environment_id = ${environmentId}::uuid AND compatible.plan_version_id = version.id),
    'dependencies', (SELECT coalesce(json_agg(required.ref_id), '[]')
      FROM addon_dependency AS dependency
      JOIN package AS required ON required.environment_id = dependency.environment_id AND required.id = dependency.required_addon_id
      WHERE dependency.environment_id = ${environmentId}::uuid AND dependency.addon_version_id = version.id)) AS version
  FROM package_version AS version
  JOIN package ON package.environment_id = version.environment_id AND package.id = version.package_id
  JOIN product ON product.environment_id = package.environment_id AND product.id = package.product_id
  WHERE version.environment_id = ${environmentId}::uuid AND version.id = ANY(${[...ids]}::uuid[]) AND version.status <> 'DRAFT'`
