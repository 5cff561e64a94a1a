import { Field, Float, ObjectType } from 'type-graphql'
import type * as domain from '../../../entitlement/rules/promotional.js'
import type { EpochMs } from '../../../kernel/clock.js'
import { Feature, toFeature } from '../catalog/feature.types.js'
import { toNumber } from '../catalog/price.types.js'
import { AlwaysNull } from '../schema/always-null.js'
import * as enums from '../schema/enums.js'
import { DateTime } from '../schema/scalars.js'

@ObjectType({ simpleResolvers: true, description: 'A right that was given to one customer beside its subscriptions, for a while.' })
export class PromotionalEntitlement {
  @Field(() => DateTime, { nullable: true })
  createdAt!: EpochMs | null

  @Field(() => String, { nullable: true })
  description!: string | null

  @Field(() => DateTime, { nullable: true, description: 'Exclusive; null: for life.' })
  endDate!: EpochMs | null

  @Field(() => [String], { nullable: true, description: 'ENUM: the values held.' })
  enumValues!: string[] | null

  @Field(() => String)
  environmentId!: string

  @Field(() => Feature)
  feature!: Feature

  @AlwaysNull(() => [String])
  featureGroupIds?: null

  @Field(() => String, { description: 'Our identifier of the feature.' })
  featureId!: string

  @Field(() => Boolean, { nullable: true, description: 'Usage beyond the limit is granted.' })
  hasSoftLimit!: boolean | null

  @Field(() => Boolean, { nullable: true })
  hasUnlimitedUsage!: boolean | null

  @Field(() => String, { description: 'Our identifier.' })
  id!: string

  @Field(() => Boolean, { description: 'Whether you show it to the customer; decides nothing here.' })
  isVisible!: boolean

  @Field(() => enums.PromotionalEntitlementPeriod)
  period!: keyof typeof enums.PromotionalEntitlementPeriod

  @Field(() => enums.EntitlementResetPeriod, { nullable: true })
  resetPeriod!: keyof typeof enums.EntitlementResetPeriod | null

  @Field(() => DateTime)
  startDate!: EpochMs

  @Field(() => enums.PromotionalEntitlementStatus, { description: 'Now. A revoked one is Expired.' })
  status!: keyof typeof enums.PromotionalEntitlementStatus

  @Field(() => Boolean, { nullable: true, description: 'The older name of hasUnlimitedUsage.' })
  unlimited!: boolean | null

  @Field(() => DateTime, { nullable: true })
  updatedAt!: EpochMs | null

  @Field(() => Float, { nullable: true, description: 'The cap of a metered feature, the value of a NUMBER without a meter.' })
  usageLimit!: number | null
}

export function toPromotionalEntitlement({ feature, ...facts }: domain.PromotionalEntitlement): PromotionalEntitlement {
  return {
    ...facts,
    enumValues: feature.featureType === 'ENUM' ? facts.enumValues : null,
    feature: toFeature(feature),
    featureId: feature.id,
    unlimited: facts.hasUnlimitedUsage,
    usageLimit: toNumber(facts.usageLimit),
  }
}
