import { Field, Float, Int, ObjectType } from 'type-graphql'
import { decide } from '../../../entitlement/rules/evaluate.js'
import type { EntitlementState } from '../../../entitlement/rules/state.js'
import type { EpochMs } from '../../../kernel/clock.js'
import * as decimal from '../../../kernel/decimal.js'
import type { ChangeMessage } from '../../../updates/wire/change-message.js'
import { CustomCurrency } from '../catalog/price.types.js'
import { Entitlement, HeldEntitlements, toEntitlement, toHeldEntitlements } from '../entitlement/entitlement.types.js'
import { EntitlementUnion, type FeatureEntitlement, toFeatureEntitlements } from '../entitlement/entitlement-v2.types.js'
import { EntitlementType, PublishMigrationType } from '../schema/catalog.enums.js'
import * as enums from '../schema/enums.js'
import { DateTime } from '../schema/scalars.js'

@ObjectType({ simpleResolvers: true, description: 'Everything a customer or resource holds now: replaces what was known.' })
export class EntitlementsUpdated extends HeldEntitlements {
  @Field(() => String)
  customerId!: string

  @Field(() => String, { nullable: true, description: 'Null: the customer itself.' })
  resourceId!: string | null
}

export function toEntitlementsUpdated(state: EntitlementState, now: EpochMs): EntitlementsUpdated {
  return { ...toHeldEntitlements(state, now), customerId: state.customerId, resourceId: state.resourceId }
}

@ObjectType({ simpleResolvers: true, description: 'The same as EntitlementsUpdated, with entitlements in their newer form.' })
export class EntitlementsUpdatedV2 {
  @Field(() => enums.EntitlementsStateAccessDeniedReason, { nullable: true })
  accessDeniedReason!: keyof typeof enums.EntitlementsStateAccessDeniedReason | null

  @Field(() => String)
  customerId!: string

  @Field(() => [EntitlementUnion], { nullable: true })
  entitlements!: FeatureEntitlement[] | null

  @Field(() => String, { nullable: true, description: 'Null: the customer itself.' })
  resourceId!: string | null
}

export function toEntitlementsUpdatedV2(state: EntitlementState, now: EpochMs): EntitlementsUpdatedV2 {
  const { deniedReason, customerId, resourceId } = state
  return { accessDeniedReason: deniedReason, customerId, entitlements: toFeatureEntitlements(state, now), resourceId }
}

@ObjectType({ simpleResolvers: true, description: 'A usage that changed. Its times are epoch milliseconds.' })
export class UsageMeasurementUpdated {
  @Field(() => Float)
  currentUsage!: number

  @Field(() => String)
  customerId!: string

  @Field(() => String)
  featureId!: string

  @Field(() => Float, { nullable: true, description: 'The same as usagePeriodEnd.' })
  nextResetDate!: number | null

  @Field(() => String, { nullable: true })
  resourceId!: string | null

  @Field(() => Float, { nullable: true, description: 'Exclusive.' })
  usagePeriodEnd!: number | null

  @Field(() => Float, { nullable: true })
  usagePeriodStart!: number | null
}

@ObjectType({ simpleResolvers: true, description: 'A usage that changed, and the entitlement that limits it.' })
export class UsageUpdated {
  @Field(() => Entitlement)
  entitlement!: Entitlement

  @Field(() => UsageMeasurementUpdated)
  usage!: UsageMeasurementUpdated
}

/** Null for a message that is not about usage that limits an entitlement. */
export function toUsageUpdated({ customerId, usage: change, ...message }: ChangeMessage, now: EpochMs): UsageUpdated | null {
  const resourceId = message.resourceId ?? null
  if (!change?.entitlement) return null
  const { currentUsage, periodStart, periodEnd } = change.usage
  return {
    entitlement: toEntitlement(
      { customerId, resourceId, accessVersion: change.accessVersion ?? null },
      decide(change.entitlement, { now }),
    ),
    usage: {
      currentUsage: decimal.toNumber(decimal.max(currentUsage, decimal.zero)),
      customerId,
      featureId: change.featureId,
      nextResetDate: periodEnd,
      resourceId,
      usagePeriodEnd: periodEnd,
      usagePeriodStart: periodStart,
    },
  }
}

@ObjectType({ simpleResolvers: true, description: 'Names an entitlement.' })
export class EntitlementReference {
  @Field(() => String, { description: 'FEATURE: the refId of the feature.' })
  id!: string

  @Field(() => EntitlementType)
  type!: keyof typeof EntitlementType
}

@ObjectType({ simpleResolvers: true, description: 'A usage in its current usage period.' })
export class UsageV2 {
  @Field(() => Float)
  currentUsage!: number

  @Field(() => DateTime, { nullable: true, description: 'Exclusive; null: never reset.' })
  usagePeriodEnd!: EpochMs | null

  @Field(() => DateTime, { nullable: true })
  usagePeriodStart!: EpochMs | null

  @Field(() => DateTime, { description: 'Version of the usage.' })
  usageUpdatedAt!: EpochMs
}

@ObjectType({ simpleResolvers: true, description: 'A usage that changed, and the name of the entitlement that limits it.' })
export class UsageUpdatedV2 {
  @Field(() => String)
  customerId!: string

  @Field(() => EntitlementReference)
  entitlementReference!: EntitlementReference

  @Field(() => String, { nullable: true, description: 'Null: the customer itself.' })
  resourceId!: string | null

  @Field(() => UsageV2)
  usage!: UsageV2
}

/** Null for a message that is not about usage that limits an entitlement. */
export function toUsageUpdatedV2({ customerId, usage: change, ...message }: ChangeMessage): UsageUpdatedV2 | null {
  if (!change?.entitlement) return null
  const { currentUsage, periodStart, periodEnd, updatedAt } = change.usage
  return {
    customerId,
    entitlementReference: { id: change.featureId, type: 'FEATURE' },
    resourceId: message.resourceId ?? null,
    usage: {
      currentUsage: decimal.toNumber(decimal.max(currentUsage, decimal.zero)),
      usagePeriodEnd: periodEnd,
      usagePeriodStart: periodStart,
      usageUpdatedAt: updatedAt,
    },
  }
}

@ObjectType({ simpleResolvers: true, description: 'A version of a plan or add-on that is sold from now on.' })
export class PackagePublished {
  @Field(() => String, { description: 'The same as environmentId: Tollgate has no accounts above environments.' })
  accountId!: string

  @Field(() => String)
  environmentId!: string

  @Field(() => PublishMigrationType)
  migrationType!: keyof typeof PublishMigrationType

  @Field(() => String)
  packageRefId!: string

  @Field(() => String, { description: 'Plan or Addon.' })
  packageType!: string

  @Field(() => Int)
  packageVersion!: number
}

/** Null for a message about another change of the catalog. */
export function toPackagePublished({ environmentId, package: published }: ChangeMessage): PackagePublished | null {
  return published ? { accountId: environmentId, environmentId, ...published } : null
}

@ObjectType({ simpleResolvers: true, description: 'A currency of credits, in short. There are no credits in Tollgate.' })
export class SlimCustomCurrency extends CustomCurrency {}

@ObjectType({ simpleResolvers: true, description: 'A balance of credits that changed. There are no credits in Tollgate.' })
export class CreditBalanceUpdated {
  @Field(() => SlimCustomCurrency)
  currency!: SlimCustomCurrency

  @Field(() => String)
  currencyId!: string

  @Field(() => Float)
  currentBalance!: number

  @Field(() => String)
  customerId!: string

  @Field(() => String, { nullable: true })
  resourceId!: string | null

  @Field(() => Float)
  totalConsumed!: number

  @Field(() => Float)
  totalGranted!: number

  @Field(() => Float, { nullable: true })
  validUntil!: number | null
}
