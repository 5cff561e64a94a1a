import { createUnionType, Field, Float, ObjectType } from 'type-graphql'
import { type Decision, decide } from '../../../entitlement/rules/evaluate.js'
import type * as domain from '../../../entitlement/rules/state.js'
import type { EpochMs } from '../../../kernel/clock.js'
import { ResetPeriodConfiguration, type toResetPeriodConfiguration } from '../catalog/feature.types.js'
import { CreditRate } from '../catalog/price.types.js'
import { AlwaysNull } from '../schema/always-null.js'
import * as enums from '../schema/enums.js'
import { DateTime, Json } from '../schema/scalars.js'
import { EntitlementFeature, type EntitlementOwner, HeldEntitlements, toEntitlement, toHeldEntitlements } from './entitlement.types.js'

@ObjectType({ simpleResolvers: true, description: 'A currency of credits. There are no credits in Tollgate.' })
export class EntitlementCurrency {
  @Field(() => Json, { nullable: true })
  additionalMetaData!: unknown

  @Field(() => String)
  currencyId!: string

  @Field(() => String, { nullable: true })
  description!: string | null

  @Field(() => String)
  displayName!: string

  @Field(() => String, { nullable: true })
  unitPlural!: string | null

  @Field(() => String, { nullable: true })
  unitSingular!: string | null
}

@ObjectType({ simpleResolvers: true, description: 'The right to use credits. There are no credits in Tollgate.' })
export class CreditEntitlement {
  @Field(() => enums.AccessDeniedReason, { nullable: true, description: 'Null when granted.' })
  accessDeniedReason!: keyof typeof enums.AccessDeniedReason | null

  @Field(() => EntitlementCurrency)
  currency!: EntitlementCurrency

  @Field(() => Float, { nullable: true, description: 'In the current usage period; null for features without a meter.' })
  currentUsage!: number | null

  @Field(() => DateTime, { nullable: true, description: 'Version of the last change that was more than usage.' })
  entitlementUpdatedAt!: EpochMs | null

  @Field(() => Boolean, { nullable: true, description: 'Usage beyond the limit is granted.' })
  hasSoftLimit!: boolean | null

  @Field(() => Boolean)
  isGranted!: boolean

  @Field(() => Float, {
    nullable: true,
    description: 'The cap of a metered feature, the value of a NUMBER without a meter; null when unlimited.',
  })
  usageLimit!: number | null

  @Field(() => DateTime, { nullable: true, description: 'Exclusive.' })
  usagePeriodEnd!: EpochMs | null

  @Field(() => DateTime, { nullable: true, description: 'Version of the usage.' })
  usageUpdatedAt!: EpochMs | null

  @Field(() => String, { nullable: true, description: 'ISO 8601: from then on another entitlement may hold.' })
  validUntil!: string | null
}

@ObjectType({ simpleResolvers: true, description: 'The right to use a feature, and the decision about it.' })
export class FeatureEntitlement {
  @Field(() => enums.AccessDeniedReason, { nullable: true, description: 'Null when granted.' })
  accessDeniedReason!: keyof typeof enums.AccessDeniedReason | null

  @AlwaysNull(() => CreditRate)
  creditRate?: null

  @Field(() => Float, { nullable: true, description: 'In the current usage period; null for features without a meter.' })
  currentUsage!: number | null

  @Field(() => DateTime, { nullable: true, description: 'Version of the last change that was more than usage.' })
  entitlementUpdatedAt!: EpochMs | null

  @Field(() => [String], { nullable: true, description: 'ENUM: the values held.' })
  enumValues!: string[] | null

  @Field(() => EntitlementFeature, { nullable: true })
  feature!: EntitlementFeature | null

  @Field(() => Boolean, { nullable: true, description: 'Usage beyond the limit is granted.' })
  hasSoftLimit!: boolean | null

  @Field(() => Boolean)
  hasUnlimitedUsage!: boolean

  @Field(() => Boolean)
  isGranted!: boolean

  @Field(() => enums.EntitlementResetPeriod, { nullable: true, description: 'Null: usage is never reset.' })
  resetPeriod!: keyof typeof enums.EntitlementResetPeriod | null

  @Field(() => ResetPeriodConfiguration, { nullable: true })
  resetPeriodConfiguration!: ReturnType<typeof toResetPeriodConfiguration>

  @Field(() => Float, {
    nullable: true,
    description: 'The cap of a metered feature, the value of a NUMBER without a meter; null when unlimited.',
  })
  usageLimit!: number | null

  @Field(() => DateTime, { nullable: true })
  usagePeriodAnchor!: EpochMs | null

  @Field(() => DateTime, { nullable: true, description: 'Exclusive.' })
  usagePeriodEnd!: EpochMs | null

  @Field(() => DateTime, { nullable: true })
  usagePeriodStart!: EpochMs | null

  @Field(() => DateTime, { nullable: true, description: 'Version of the usage.' })
  usageUpdatedAt!: EpochMs | null

  @Field(() => String, { nullable: true, description: 'ISO 8601: from then on another entitlement may hold.' })
  validUntil!: string | null
}

export const EntitlementUnion = createUnionType({
  name: 'EntitlementUnion',
  description: 'The newer form of an entitlement. There are no credits in Tollgate, so each is a FeatureEntitlement.',
  types: () => [CreditEntitlement, FeatureEntitlement] as const,
  resolveType: () => FeatureEntitlement,
})

export function toFeatureEntitlement(owner: EntitlementOwner, decision: Decision): FeatureEntitlement {
  const { customerId, resourceId, displayNameOverride, nextResetDate, requestedUsage, requestedValues, validUntil, ...entitlement } =
    toEntitlement(owner, decision)
  return { ...entitlement, validUntil: validUntil === null ? null : new Date(validUntil).toISOString() }
}

/** All entitlements of a state, each with the decision for a request of nothing. */
export function toFeatureEntitlements(state: domain.EntitlementState, now: EpochMs): FeatureEntitlement[] {
  return state.entitlements.map((entitlement) => toFeatureEntitlement(state, decide(entitlement, { now })))
}

@ObjectType({
  simpleResolvers: true,
  description: 'All entitlements of a customer (or of one of its resources), or the reason why there are none.',
})
export class EntitlementsState extends HeldEntitlements {
  @Field(() => [EntitlementUnion], { nullable: true, description: 'The same in their newer form.' })
  entitlementsV2!: FeatureEntitlement[] | null
}

export function toEntitlementsState(state: domain.EntitlementState, now: EpochMs): EntitlementsState {
  return { ...toHeldEntitlements(state, now), entitlementsV2: toFeatureEntitlements(state, now) }
}
