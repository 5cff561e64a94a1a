/** Writes changes of a catalog: one record per feature, product and coupon, one more version for each changed plan or add-on. */
import { recordAudit, writeAudit } from '../../audit/record/record.js'
import type { EpochMs } from '../../kernel/clock.js'
import { newId } from '../../kernel/id.js'
import { inPieces } from '../../kernel/pieces.js'
import { type Db, Prisma } from '../../platform/postgres.js'
import { insertRows, toRow } from '../../platform/transaction-group.js'
import { auditedChange } from '../document/audited.js'
import type { AddonDefinition, CouponDefinition, FeatureDefinition, PlanDefinition, ProductDefinition } from '../document/document.js'
import { type DefinitionOf, definitionsOf, type PlannedChange } from '../document/plan.js'
import type { PackageKind } from '../model/package.js'
import { type CatalogIds, readIds } from './ids.js'

interface SaveOptions {
  environmentId: string
  changes: readonly PlannedChange[]
  /** All that is created now is as old as each other. */
  now: EpochMs
}

/** A version that was just published: our ids, and which one it is. */
export interface SavedVersion {
  packageId: string
  versionId: string
  kind: PackageKind
  refId: string
  versionNumber: number
}

/** The caller holds the catalog's lock. Answers what was published, by refId. */
export async function saveChanges(db: Db, { environmentId, changes, now }: SaveOptions): Promise<SavedVersion[]> {
  const ids = await readIds(db, environmentId, changes)
  const published = await new CatalogWriter(db, environmentId, new Date(now), ids).save(changes)
  for (const some of inPieces(changes, lengthAtOnce)) {
    await writeAudit(db)
    for (const change of some) recordAudit(db, auditedChange(environmentId, change))
  }
  return published.toSorted((a, b) => (a.refId < b.refId ? -1 : 1))
}

/** Characters of rows as JSON: made, and written, in some milliseconds. */
const lengthAtOnce = 64_000

type Fields = Readonly<Record<string, unknown>>

class CatalogWriter {
  constructor(
    private readonly db: Db,
    private readonly environmentId: string,
    private readonly now: Date,
    private readonly ids: CatalogIds,
  ) {}

  async save(changes: readonly PlannedChange[]): Promise<SavedVersion[]> {
    const archived = (kind: keyof DefinitionOf) =>
      changes.flatMap(({ change }) => (change.kind === kind && change.action === 'archive' ? [change.refId] : []))
    const products = definitionsOf('product', changes)

    await this.saveFeatures(definitionsOf('feature', changes))
    await this.saveMeters(definitionsOf('meter', changes))
    await this.saveProducts(products)
    const addons = await this.publish('ADDON', definitionsOf('addon', changes))
    const plans = await this.publish('PLAN', definitionsOf('plan', changes))
    await this.saveCoupons(definitionsOf('coupon', changes))

    const { environmentId, now: archivedAt } = this
    await this.db.$executeRaw(Prisma.sql`UPDATE coupon SET status = 'ARCHIVED', updated_at = ${archivedAt}
      WHERE environment_id = ${environmentId}::uuid AND ref_id = ANY(${archived('coupon')}::text[])`)
    await this.db.$executeRaw(Prisma.sql`UPDATE package SET archived_at = ${archivedAt}
      WHERE environment_id = ${environmentId}::uuid
        AND (kind = 'PLAN' AND ref_id = ANY(${archived('plan')}::text[]) OR kind = 'ADDON' AND ref_id = ANY(${archived('addon')}::text[]))`)
    await this.db.$executeRaw(Prisma.sql`UPDATE product SET archived_at = ${archivedAt}, updated_at = ${archivedAt}
      WHERE environment_id = ${environmentId}::uuid AND ref_id = ANY(${archived('product')}::text[])`)
    const features = new Set(archived('feature'))
    // An archived feature keeps its meter: those who hold the feature go on being measured.
    await this.removeMeters(archived('meter').filter((refId) => !features.has(refId)))
    await this.db.$executeRaw(Prisma.sql`UPDATE feature SET archived_at = ${archivedAt}, updated_at = ${archivedAt}
      WHERE environment_id = ${environmentId}::uuid AND ref_id = ANY(${[...features]}::text[])`)

    // Products and plans name each other: only now all plans exist.
    await this.linkPlans(products)
    return [...plans, ...addons]
  }

  private async saveFeatures(features: readonly FeatureDefinition[]): Promise<void> {
    const rows = features.map(({ refId, type, meter, units, unitsPlural, unitTransformation, events, ...content }) => ({
      identity: { id: this.ids.feature.forSaving(refId), refId, featureType: type, meterType: meter, createdAt: this.now },
      content: {
        ...content,
        featureUnits: units,
        featureUnitsPlural: unitsPlural,
        unitDivide: unitTransformation?.divide ?? null,
        unitRounding: unitTransformation?.round ?? null,
        archivedAt: null,
        updatedAt: this.now,
      },
    }))
    await this.upsert('feature', 'environment_id, ref_id', rows)
    // One that comes back from the archive may still have the meter that it had then.
    await this.removeMeters(features.flatMap(({ refId, events }) => (events === null ? [refId] : [])))
  }

  private async saveMeters(features: readonly FeatureDefinition[]): Promise<void> {
    const rows = features.map(({ refId, events }) => ({
      identity: { featureId: this.ids.feature.of(refId), createdAt: this.now },
      content: { ...events!, updatedAt: this.now },
    }))
    await this.upsert('meter', 'environment_id, feature_id', rows, ', version = meter.version + 1')
  }

  private async removeMeters(refIds: readonly string[]): Promise<void> {
    if (refIds.length === 0) return
    const featureIds = refIds.map((refId) => this.ids.feature.of(refId))
    await this.db.$executeRaw(
      Prisma.sql`DELETE FROM meter WHERE environment_id = ${this.environmentId}::uuid AND feature_id = ANY(${featureIds}::uuid[])`,
    )
  }

  private async saveProducts(products: readonly ProductDefinition[]): Promise<void> {
    const rows = products.map(({ refId, settings, ...content }) => ({
      identity: { id: this.ids.product.forSaving(refId), refId, createdAt: this.now },
      content: {
        ...content,
        newCustomerSetting: settings.newCustomer,
        endSetting: settings.endOfSubscription,
        downgradeTiming: settings.downgradeTiming,
        cancellationTiming: settings.cancellationTiming,
        usageOnPlanChange: settings.usageOnPlanChange,
        allowsMultipleSubscriptions: settings.multipleSubscriptions,
        archivedAt: null,
        updatedAt: this.now,
      },
    }))
    await this.upsert('product', 'environment_id, ref_id', rows)
  }

  private async linkPlans(products: readonly ProductDefinition[]): Promise<void> {
    const planId = (refId: string | null) => (refId === null ? null : this.ids.PLAN.of(refId))
    for (const some of inPieces(products, lengthAtOnce)) {
      const links = some.map(({ refId, settings }) => {
        return { ref_id: refId, new_customer_plan_id: planId(settings.newCustomerPlan), downgrade_plan_id: planId(settings.downgradePlan) }
      })
      await this.db.$executeRaw(Prisma.sql`
        UPDATE product SET new_customer_plan_id = given.new_customer_plan_id, downgrade_plan_id = given.downgrade_plan_id
        FROM jsonb_populate_recordset(NULL::product, ${JSON.stringify(links)}::jsonb) AS given
        WHERE product.environment_id = ${this.environmentId}::uuid AND product.ref_id = given.ref_id`)
    }
  }

  /** New versions, made as drafts because the contents of a published one cannot be written any more, and then the latest. */
  private async publish(kind: PackageKind, definitions: readonly (PlanDefinition | AddonDefinition)[]): Promise<SavedVersion[]> {
    if (definitions.length === 0) return []
    const { db, environmentId } = this
    const packages = definitions.map(({ refId, product }) => ({
      identity: { id: this.ids[kind].forSaving(refId), refId, kind, productId: this.ids.product.of(product), createdAt: this.now },
      content: { archivedAt: null },
    }))
    await this.upsert('package', 'environment_id, kind, ref_id', packages)

    const versions = definitions.map((definition) => {
      const { refId } = definition
      const { id: versionId, versionNumber } = this.ids[kind].nextVersion(refId)
      const version: SavedVersion = { packageId: this.ids[kind].of(refId), versionId, kind, refId, versionNumber }
      return { version, definition }
    })
    await this.insert(
      'package_version',
      versions.map(({ version: { packageId, versionId, versionNumber }, definition }) => {
        const { displayName, description, pricingType, additionalMetaData } = definition
        const trial = 'defaultTrial' in definition ? definition.defaultTrial : null
        const basePlan = 'basePlan' in definition ? definition.basePlan : null
        return {
          id: versionId,
          packageId,
          versionNumber,
          status: 'DRAFT',
          isLatest: false,
          displayName,
          description,
          pricingType,
          basePlanVersionId: basePlan === null ? null : this.ids.PLAN.latestVersion(basePlan),
          trialDuration: trial?.duration ?? null,
          trialUnits: trial?.units ?? null,
          trialEndBehavior: trial?.endBehavior ?? null,
          maxQuantity: 'maxQuantity' in definition ? definition.maxQuantity : null,
          additionalMetaData,
          createdAt: this.now,
        }
      }),
    )
    await this.saveContents(versions)
    const packageIds = versions.map(({ version }) => version.packageId)
    await db.$executeRaw(Prisma.sql`UPDATE package_version SET is_latest = false
      WHERE environment_id = ${environmentId}::uuid AND package_id = ANY(${packageIds}::uuid[]) AND is_latest`)
    const versionIds = versions.map(({ version }) => version.versionId)
    await db.$executeRaw(Prisma.sql`UPDATE package_version SET status = 'PUBLISHED', published_at = ${this.now}, is_latest = true
      WHERE environment_id = ${environmentId}::uuid AND id = ANY(${versionIds}::uuid[])`)
    return versions.map(({ version }) => version)
  }

  private async saveContents(versions: readonly { version: SavedVersion; definition: PlanDefinition | AddonDefinition }[]): Promise<void> {
    const { ids } = this
    function* ofEach(rowsOf: (definition: PlanDefinition | AddonDefinition, packageVersionId: string) => Fields[]) {
      for (const { version, definition } of versions) yield* rowsOf(definition, version.versionId)
    }
    await this.insert(
      'package_entitlement',
      ofEach(({ entitlements }, packageVersionId) =>
        entitlements.map(({ feature, limit, unlimited, softLimit, values, ...entitlement }, position) => ({
          id: newId(),
          packageVersionId,
          featureId: ids.feature.of(feature),
          usageLimit: limit,
          hasUnlimitedUsage: unlimited,
          hasSoftLimit: softLimit,
          enumValues: values,
          ...entitlement,
          position,
        })),
      ),
    )
    await this.insert(
      'price',
      ofEach(({ prices }, packageVersionId) =>
        prices.map(({ country, feature, minQuantity, maxQuantity, ...price }, position) => ({
          id: newId(),
          packageVersionId,
          billingCountryCode: country,
          featureId: feature === null ? null : ids.feature.of(feature),
          minUnitQuantity: minQuantity,
          maxUnitQuantity: maxQuantity,
          ...price,
          position,
        })),
      ),
    )
    const addonsOf = (refIds: readonly string[]) => refIds.map((refId) => ids.ADDON.of(refId))
    await this.insert(
      'plan_compatible_addon',
      ofEach((plan, planVersionId) =>
        'compatibleAddons' in plan ? addonsOf(plan.compatibleAddons).map((addonId) => ({ planVersionId, addonId })) : [],
      ),
    )
    await this.insert(
      'addon_dependency',
      ofEach((addon, addonVersionId) =>
        'dependencies' in addon ? addonsOf(addon.dependencies).map((requiredAddonId) => ({ addonVersionId, requiredAddonId })) : [],
      ),
    )
  }

  private async saveCoupons(coupons: readonly CouponDefinition[]): Promise<void> {
    const rows = coupons.map(({ refId, ...content }) => ({
      identity: { id: newId(), refId, createdAt: this.now },
      content: {
        ...content,
        couponType: content.percentOff === null ? 'FIXED' : 'PERCENTAGE',
        status: 'ACTIVE',
        updatedAt: this.now,
      },
    }))
    await this.upsert('coupon', 'environment_id, ref_id', rows)
  }

  private async insert(table: string, rows: Iterable<Fields>, onConflict?: string): Promise<void> {
    for (const some of inPieces(rows, lengthAtOnce)) {
      const written = some.map((fields) => toRow({ environmentId: this.environmentId, ...fields }))
      await insertRows(this.db, table, written, onConflict)
    }
  }

  /** `key`: the columns that tell one from another. Of one that is there only its content changes. */
  private async upsert(table: string, key: string, rows: readonly { identity: Fields; content: Fields }[], also = ''): Promise<void> {
    const [first] = rows
    if (!first) return
    const changes = Object.keys(toRow(first.content)).map((column) => `${column} = excluded.${column}`)
    const all = rows.map(({ identity, content }) => ({ ...identity, ...content }))
    await this.insert(table, all, `ON CONFLICT (${key}) DO UPDATE SET ${changes.join()}${also}`)
  }
}
