/** Writes changes of a catalog: one record per feature, product and coupon, one more version for each changed plan or add-on. */
import { recordAudit } from '../../audit/record/record.js'
import type { EpochMs } from '../../kernel/clock.js'
import { newId } from '../../kernel/id.js'
import { type Db, Prisma } from '../../platform/postgres.js'
import { auditedChanges } from '../document/audited.js'
import type { CatalogChange } from '../document/difference.js'
import type {
  AddonDefinition,
  CatalogDocument,
  CouponDefinition,
  FeatureDefinition,
  MetaData,
  PlanDefinition,
  ProductDefinition,
} from '../document/document.js'
import type { PackageKind } from '../model/package.js'

interface SaveOptions {
  environmentId: string
  /** In the order of compareCatalogs: what a definition names is saved before it. */
  changes: readonly CatalogChange[]
  /** The whole catalog before them. */
  before: CatalogDocument
  /** The whole catalog that the changes lead to. */
  after: CatalogDocument
  /** All that is created now is as old as each other. */
  now: EpochMs
}

/** The caller holds the catalog's lock. */
export async function saveChanges(db: Db, { environmentId, changes, before, after, now }: SaveOptions): Promise<void> {
  const writer = new CatalogWriter(db, environmentId, new Date(now), await readIds(db, environmentId))
  const definitions = indexDefinitions(after)
  for (const change of changes) {
    if (change.action === 'archive') await writer.archive(change, changes)
    else await writer.save(change, definitions)
  }
  for (const audited of auditedChanges(environmentId, changes, { before, after })) recordAudit(db, audited)
  // Products and plans name each other: only now all plans exist.
  for (const { kind, refId, action } of changes) {
    if (kind === 'product' && action !== 'archive') await writer.linkPlans(definitions.product.get(refId)!)
  }
}

type RefIds = ReadonlyMap<string, string>

/** Our ids of everything that the environment ever defined, by refId. */
interface Ids {
  feature: Map<string, string>
  product: Map<string, string>
  PLAN: Map<string, string>
  ADDON: Map<string, string>
}

async function readIds(db: Db, environmentId: string): Promise<Ids> {
  const select = { id: true, refId: true } as const
  const features = await db.feature.findMany({ where: { environmentId }, select })
  const products = await db.product.findMany({ where: { environmentId }, select })
  const packages = await db.package.findMany({ where: { environmentId }, select: { ...select, kind: true } })
  const byRefId = (rows: { id: string; refId: string }[]) => new Map(rows.map(({ id, refId }) => [refId, id]))
  const ofKind = (wanted: PackageKind) => byRefId(packages.filter(({ kind }) => kind === wanted))
  return { feature: byRefId(features), product: byRefId(products), PLAN: ofKind('PLAN'), ADDON: ofKind('ADDON') }
}

function indexDefinitions({ features, products, plans, addons, coupons }: CatalogDocument) {
  const index = <T extends { refId: string }>(items: T[]) => new Map(items.map((item) => [item.refId, item]))
  return { feature: index(features), product: index(products), plan: index(plans), addon: index(addons), coupon: index(coupons) }
}

class CatalogWriter {
  constructor(
    private readonly db: Db,
    private readonly environmentId: string,
    private readonly now: Date,
    private readonly ids: Ids,
  ) {}

  /** Creates or changes what the definition says; a definition that was archived is in the catalog again. */
  async save({ kind, refId }: CatalogChange, definitions: ReturnType<typeof indexDefinitions>): Promise<void> {
    switch (kind) {
      case 'feature':
        return this.saveFeature(definitions.feature.get(refId)!)
      case 'meter':
        return this.saveMeter(definitions.feature.get(refId)!)
      case 'product':
        return this.saveProduct(definitions.product.get(refId)!)
      case 'addon':
        return this.publish('ADDON', definitions.addon.get(refId)!)
      case 'plan':
        return this.publish('PLAN', definitions.plan.get(refId)!)
      case 'coupon':
        return this.saveCoupon(definitions.coupon.get(refId)!)
    }
  }

  async archive({ kind, refId }: CatalogChange, changes: readonly CatalogChange[]): Promise<void> {
    const { db, environmentId } = this
    const archived = { where: { environmentId, refId }, data: { archivedAt: this.now } }
    switch (kind) {
      case 'feature':
        await db.feature.updateMany(archived)
        return
      case 'meter':
        // An archived feature keeps its meter: those who hold the feature go on being measured.
        if (!changes.some((other) => other.kind === 'feature' && other.action === 'archive' && other.refId === refId))
          await this.removeMeter(refId)
        return
      case 'product':
        await db.product.updateMany(archived)
        return
      case 'addon':
      case 'plan':
        await db.package.updateMany({ ...archived, where: { ...archived.where, kind: kind === 'plan' ? 'PLAN' : 'ADDON' } })
        return
      case 'coupon':
        await db.coupon.updateMany({ where: { environmentId, refId }, data: { status: 'ARCHIVED' } })
        return
    }
  }

  private async saveFeature(feature: FeatureDefinition): Promise<void> {
    const { environmentId } = this
    const { refId, displayName, description, units, unitsPlural, enumValues, unitTransformation } = feature
    const content = {
      displayName,
      description,
      featureUnits: units,
      featureUnitsPlural: unitsPlural,
      enumValues,
      unitDivide: unitTransformation?.divide ?? null,
      unitRounding: unitTransformation?.round ?? null,
      additionalMetaData: toJson(feature.additionalMetaData),
      archivedAt: null,
    }
    const identity = { environmentId, id: newId(), refId, featureType: feature.type, meterType: feature.meter, createdAt: this.now }
    const { id } = await this.db.feature.upsert({
      where: { environmentId_refId: { environmentId, refId } },
      create: { ...identity, ...content },
      update: content,
    })
    this.ids.feature.set(refId, id)
    // One that comes back from the archive may still have the meter that it had then.
    if (feature.events === null) await this.removeMeter(refId)
  }

  private async saveMeter({ refId, events }: FeatureDefinition): Promise<void> {
    if (!events) throw new Error(`the meter of feature ${refId} is to be saved and is not there`)
    const { environmentId } = this
    const featureId = idOf(this.ids.feature, refId)
    const content = { aggregation: events.aggregation, field: events.field, filters: events.filters as unknown as Prisma.InputJsonValue }
    await this.db.meter.upsert({
      where: { environmentId_featureId: { environmentId, featureId } },
      create: { environmentId, featureId, ...content, createdAt: this.now },
      update: { ...content, version: { increment: 1 } },
    })
  }

  private async removeMeter(refId: string): Promise<void> {
    await this.db.meter.deleteMany({ where: { environmentId: this.environmentId, featureId: idOf(this.ids.feature, refId) } })
  }

  private async saveProduct({ refId, displayName, description, settings, additionalMetaData }: ProductDefinition): Promise<void> {
    const { environmentId } = this
    const content = {
      displayName,
      description,
      newCustomerSetting: settings.newCustomer,
      endSetting: settings.endOfSubscription,
      downgradeTiming: settings.downgradeTiming,
      cancellationTiming: settings.cancellationTiming,
      usageOnPlanChange: settings.usageOnPlanChange,
      allowsMultipleSubscriptions: settings.multipleSubscriptions,
      additionalMetaData: toJson(additionalMetaData),
      archivedAt: null,
    }
    const { id } = await this.db.product.upsert({
      where: { environmentId_refId: { environmentId, refId } },
      create: { environmentId, id: newId(), refId, createdAt: this.now, ...content },
      update: content,
    })
    this.ids.product.set(refId, id)
  }

  async linkPlans({ refId, settings }: ProductDefinition): Promise<void> {
    const planId = (plan: string | null) => (plan === null ? null : idOf(this.ids.PLAN, plan))
    await this.db.product.updateMany({
      where: { environmentId: this.environmentId, refId },
      data: { newCustomerPlanId: planId(settings.newCustomerPlan), downgradePlanId: planId(settings.downgradePlan) },
    })
  }

  /** A new version, made as a draft because the contents of a published one cannot be written any more, and then the latest. */
  private async publish(kind: PackageKind, definition: PlanDefinition | AddonDefinition): Promise<void> {
    const { db, environmentId } = this
    const packageId = await this.savePackage(kind, definition)
    const { _max } = await db.packageVersion.aggregate({ where: { environmentId, packageId }, _max: { versionNumber: true } })
    const { displayName, description, pricingType, additionalMetaData } = definition
    const trial = 'defaultTrial' in definition ? definition.defaultTrial : null
    const key = { environmentId, id: newId() }
    await db.packageVersion.create({
      data: {
        ...key,
        packageId,
        versionNumber: (_max.versionNumber ?? 0) + 1,
        status: 'DRAFT',
        displayName,
        description,
        pricingType,
        basePlanVersionId:
          'basePlan' in definition && definition.basePlan !== null ? await this.latestVersionOf(definition.basePlan) : null,
        trialDuration: trial?.duration ?? null,
        trialUnits: trial?.units ?? null,
        trialEndBehavior: trial?.endBehavior ?? null,
        maxQuantity: 'maxQuantity' in definition ? definition.maxQuantity : null,
        additionalMetaData: toJson(additionalMetaData),
        createdAt: this.now,
      },
    })
    await this.saveContents(key.id, definition)
    await db.packageVersion.updateMany({ where: { environmentId, packageId, isLatest: true }, data: { isLatest: false } })
    await db.packageVersion.update({
      where: { environmentId_id: key },
      data: { status: 'PUBLISHED', publishedAt: this.now, isLatest: true },
    })
  }

  private async savePackage(kind: PackageKind, { refId, product }: PlanDefinition | AddonDefinition): Promise<string> {
    const { environmentId } = this
    const productId = idOf(this.ids.product, product)
    const { id } = await this.db.package.upsert({
      where: { environmentId_kind_refId: { environmentId, kind, refId } },
      create: { environmentId, id: newId(), refId, kind, productId, createdAt: this.now },
      update: { archivedAt: null },
    })
    this.ids[kind].set(refId, id)
    return id
  }

  private async latestVersionOf(basePlan: string): Promise<string> {
    const packageId = idOf(this.ids.PLAN, basePlan)
    const { id } = await this.db.packageVersion.findFirstOrThrow({
      where: { environmentId: this.environmentId, packageId, isLatest: true },
      select: { id: true },
    })
    return id
  }

  private async saveContents(versionId: string, definition: PlanDefinition | AddonDefinition): Promise<void> {
    const { db, environmentId, ids } = this
    await db.packageEntitlement.createMany({
      data: definition.entitlements.map(({ feature, limit, unlimited, softLimit, values, ...entitlement }, position) => ({
        environmentId,
        id: newId(),
        packageVersionId: versionId,
        featureId: idOf(ids.feature, feature),
        usageLimit: limit,
        hasUnlimitedUsage: unlimited,
        hasSoftLimit: softLimit,
        enumValues: values,
        ...entitlement,
        position,
      })),
    })
    await db.price.createMany({
      data: definition.prices.map(({ country, feature, tiers, minQuantity, maxQuantity, ...price }, position) => ({
        environmentId,
        id: newId(),
        packageVersionId: versionId,
        billingCountryCode: country,
        featureId: feature === null ? null : idOf(ids.feature, feature),
        tiers: tiers === null ? Prisma.DbNull : (tiers as unknown as Prisma.InputJsonValue),
        minUnitQuantity: minQuantity,
        maxUnitQuantity: maxQuantity,
        ...price,
        position,
      })),
    })
    if ('compatibleAddons' in definition) {
      const addonIds = definition.compatibleAddons.map((addon) => idOf(ids.ADDON, addon))
      await db.planCompatibleAddon.createMany({ data: addonIds.map((addonId) => ({ environmentId, planVersionId: versionId, addonId })) })
    } else {
      const requiredIds = definition.dependencies.map((addon) => idOf(ids.ADDON, addon))
      await db.addonDependency.createMany({
        data: requiredIds.map((requiredAddonId) => ({ environmentId, addonVersionId: versionId, requiredAddonId })),
      })
    }
  }

  private async saveCoupon({
    refId,
    name,
    description,
    percentOff,
    amountsOff,
    durationInMonths,
    maxRedemptions,
    additionalMetaData,
  }: CouponDefinition): Promise<void> {
    const { environmentId } = this
    const content = {
      name,
      description,
      couponType: percentOff === null ? ('FIXED' as const) : ('PERCENTAGE' as const),
      percentOff,
      amountsOff: amountsOff === null ? Prisma.DbNull : (amountsOff as unknown as Prisma.InputJsonValue),
      durationInMonths,
      maxRedemptions,
      status: 'ACTIVE' as const,
      additionalMetaData: toJson(additionalMetaData),
    }
    await this.db.coupon.upsert({
      where: { environmentId_refId: { environmentId, refId } },
      create: { environmentId, id: newId(), refId, createdAt: this.now, ...content },
      update: content,
    })
  }
}

function idOf(ids: RefIds, refId: string): string {
  const id = ids.get(refId)
  if (id === undefined) throw new Error(`"${refId}" is named by the catalog and is not saved`)
  return id
}

const toJson = (metaData: MetaData) => (metaData === null ? Prisma.DbNull : (metaData as Prisma.InputJsonObject))
