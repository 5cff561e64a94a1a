import { createUnionType, Field, Float, ObjectType } from 'type-graphql'
import type { BillingRequest } from '../../../billing/rules/request.js'
import * as decimal from '../../../kernel/decimal.js'
import type * as domain from '../../../subscription/rules/subscription.js'
import { AlwaysNull } from '../schema/always-null.js'
import * as enums from '../schema/enums.js'

@ObjectType({ simpleResolvers: true, description: 'How many units of a feature are bought.' })
export class BillableFeature {
  @Field(() => String)
  featureId!: string

  @Field(() => Float)
  quantity!: number
}

@ObjectType({ simpleResolvers: true, description: 'An add-on after the change.' })
export class PlanChangeAddon {
  @Field(() => String)
  addonRefId!: string

  @Field(() => Float)
  quantity!: number
}

@ObjectType({ simpleResolvers: true, description: 'A price after the change.' })
export class PriceOverrideChangeVariables {
  @Field(() => String, { nullable: true })
  addonRefId!: string | null

  @Field(() => String, { nullable: true })
  featureId!: string | null

  @Field(() => String, { nullable: true })
  planRefId!: string | null
}

@ObjectType({ simpleResolvers: true, description: 'Another quantity of an add-on.' })
export class AddonChangeVariables {
  @Field(() => String)
  addonRefId!: string

  @Field(() => Float)
  newQuantity!: number
}

@ObjectType({ simpleResolvers: true, description: 'Another price of an add-on for this subscription.' })
export class AddonPriceOverrideChangeVariables {
  @Field(() => String)
  addonRefId!: string

  @Field(() => String, { nullable: true })
  featureId!: string | null
}

@ObjectType({ simpleResolvers: true, description: 'Another billing period.' })
export class BillingPeriodChangeVariables {
  @Field(() => enums.BillingPeriod, { nullable: true })
  billingPeriod!: keyof typeof enums.BillingPeriod | null
}

@ObjectType({ simpleResolvers: true, description: 'Another coupon.' })
export class CouponChangeVariables {
  @Field(() => String)
  couponId!: string
}

@ObjectType({ simpleResolvers: true, description: 'A cheaper plan.' })
export class DowngradeChangeVariables {
  @Field(() => [PlanChangeAddon], { nullable: true })
  addons!: PlanChangeAddon[] | null

  @Field(() => [BillableFeature], { nullable: true })
  billableFeatures!: BillableFeature[] | null

  @Field(() => enums.BillingPeriod, { nullable: true })
  billingPeriod!: keyof typeof enums.BillingPeriod | null

  @Field(() => String)
  downgradePlanRefId!: string

  @Field(() => [PriceOverrideChangeVariables], { nullable: true })
  priceOverrides!: PriceOverrideChangeVariables[] | null
}

@ObjectType({ simpleResolvers: true, description: 'Another plan.' })
export class PlanChangeVariables {
  @Field(() => [PlanChangeAddon], { nullable: true })
  addons!: PlanChangeAddon[] | null

  @Field(() => [BillableFeature], { nullable: true })
  billableFeatures!: BillableFeature[] | null

  @Field(() => enums.BillingPeriod, { nullable: true })
  billingPeriod!: keyof typeof enums.BillingPeriod | null

  @Field(() => enums.PlanChangeType)
  changeType!: keyof typeof enums.PlanChangeType

  @Field(() => String)
  planRefId!: string

  @Field(() => [PriceOverrideChangeVariables], { nullable: true })
  priceOverrides!: PriceOverrideChangeVariables[] | null
}

@ObjectType({ simpleResolvers: true, description: 'Another price of the plan for this subscription.' })
export class PlanPriceOverrideChangeVariables {
  @Field(() => String, { nullable: true })
  featureId!: string | null

  @Field(() => String)
  planRefId!: string
}

@ObjectType({ simpleResolvers: true, description: 'Another amount of credits.' })
export class RecurringCreditsChangeVariables {
  @AlwaysNull(() => String)
  customCurrencyId?: null

  @Field(() => Float, { nullable: true })
  newQuantity!: number | null
}

@ObjectType({ simpleResolvers: true, description: 'Another quantity of a feature.' })
export class UnitAmountChangeVariables {
  @Field(() => String, { nullable: true })
  featureId!: string | null

  @Field(() => Float, { nullable: true })
  newUnitAmount!: number | null
}

@ObjectType({ simpleResolvers: true, description: 'A plan or add-on by name.' })
export class PackageDto {
  @Field(() => String)
  displayName!: string

  @Field(() => String, { description: 'Our identifier.' })
  id!: string

  @Field(() => String, { description: 'The identifier that the catalog gave it.' })
  refId!: string
}

/** Told apart by class: values are instances. */
export const ScheduleVariables = createUnionType({
  name: 'ScheduleVariables',
  description: 'What a scheduled update changes, and to what.',
  types: () =>
    [
      AddonChangeVariables,
      AddonPriceOverrideChangeVariables,
      BillingPeriodChangeVariables,
      CouponChangeVariables,
      DowngradeChangeVariables,
      PlanChangeVariables,
      PlanPriceOverrideChangeVariables,
      RecurringCreditsChangeVariables,
      UnitAmountChangeVariables,
    ] as const,
})

@ObjectType({ simpleResolvers: true, description: 'A change of a subscription that is yet to come.' })
export class SubscriptionFutureUpdate {
  @Field(() => enums.SubscriptionScheduleStatus)
  scheduleStatus!: keyof typeof enums.SubscriptionScheduleStatus

  @Field(() => ScheduleVariables, { nullable: true })
  scheduleVariables!: typeof ScheduleVariables | null

  @Field(() => String, { description: 'ISO 8601.' })
  scheduledExecutionTime!: string

  @Field(() => enums.SubscriptionScheduleType)
  subscriptionScheduleType!: keyof typeof enums.SubscriptionScheduleType

  @Field(() => PackageDto, { nullable: true, description: 'The plan or add-on that it leads to.' })
  targetPackage!: PackageDto | null
}

@ObjectType({ simpleResolvers: true, description: 'A change of a subscription that is scheduled or was.' })
export class SubscriptionScheduledUpdate extends SubscriptionFutureUpdate {}

export function toScheduledUpdate({ executeAt, change }: domain.ScheduledChange): SubscriptionScheduledUpdate {
  const target = 'plan' in change ? change.plan : change.type === 'Addon' ? change.addon.version : null
  return {
    scheduleStatus: 'Scheduled',
    scheduledExecutionTime: new Date(executeAt).toISOString(),
    subscriptionScheduleType: change.type,
    scheduleVariables: toVariables(change),
    targetPackage: target && { id: target.packageId, refId: target.refId, displayName: target.displayName },
  }
}

const toChanged = ({ plan, addons, quantities, billingPeriod, agreed }: domain.PlanContent & { agreed: domain.PlanAgreement | null }) => ({
  addons: addons.map(({ version, quantity }) => ({ addonRefId: version.refId, quantity })),
  billableFeatures: quantities.map(({ featureRefId, quantity }) => ({ featureId: featureRefId, quantity: decimal.toNumber(quantity) })),
  billingPeriod,
  priceOverrides: ((agreed?.billing as BillingRequest | null)?.priceOverrides ?? []).map(({ addonRefId, featureRefId }) => ({
    addonRefId,
    featureId: featureRefId,
    planRefId: addonRefId === null ? plan.refId : null,
  })),
})

function toVariables(change: domain.ScheduledChange['change']): typeof ScheduleVariables | null {
  switch (change.type) {
    case 'Plan':
      return Object.assign(new PlanChangeVariables(), {
        ...toChanged(change),
        changeType: 'UPGRADE',
        planRefId: change.plan.refId,
      } as const)
    case 'Downgrade':
      return Object.assign(new DowngradeChangeVariables(), { ...toChanged(change), downgradePlanRefId: change.plan.refId })
    case 'BillingPeriod':
      return Object.assign(new BillingPeriodChangeVariables(), { billingPeriod: change.billingPeriod })
    case 'UnitAmount':
      return Object.assign(new UnitAmountChangeVariables(), {
        featureId: change.featureRefId,
        newUnitAmount: decimal.toNumber(change.quantity),
      })
    case 'Addon':
      return Object.assign(new AddonChangeVariables(), { addonRefId: change.addon.version.refId, newQuantity: change.addon.quantity })
    // The contract has no variables for it: the target package says all.
    case 'MigrateToLatest':
      return null
  }
}
