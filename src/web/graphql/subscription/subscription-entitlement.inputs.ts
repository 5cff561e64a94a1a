import { Field, Float, InputType } from 'type-graphql'
import * as decimal from '../../../kernel/decimal.js'
import { invalidInput } from '../../../kernel/problem.js'
import type { OwnEntitlementRequest } from '../../../subscription/use-cases/references.js'
import { ResetPeriodInput } from '../entitlement/reset-period.inputs.js'
import * as enums from '../schema/enums.js'
import { refuseAbsent } from '../schema/not-here.js'

@InputType({ description: 'An entitlement of this subscription, in place of the plan’s for the feature.' })
export class SubscriptionEntitlementInput extends ResetPeriodInput {
  @Field(() => String, { nullable: true, description: 'A note; nothing answers it, so it is not kept.' })
  description?: string | null

  @Field(() => String, { description: 'The feature’s identifier in the catalog.' })
  featureId!: string

  @Field(() => Boolean, { nullable: true, description: 'Usage beyond the limit is granted.' })
  hasSoftLimit?: boolean | null

  @Field(() => Boolean, { nullable: true })
  hasUnlimitedUsage?: boolean | null

  @Field(() => Float, { nullable: true, description: 'The cap of a metered feature, the value of a NUMBER without a meter.' })
  usageLimit?: number | null
}

@InputType({ description: 'An entitlement of this subscription, named by its id or its feature.' })
export class UpdateSubscriptionEntitlementInput extends ResetPeriodInput {
  @Field(() => String, { nullable: true, description: 'The feature’s identifier in the catalog.' })
  featureId?: string | null

  @Field(() => Boolean, { nullable: true, description: 'Usage beyond the limit is granted.' })
  hasSoftLimit?: boolean | null

  @Field(() => Boolean, { nullable: true })
  hasUnlimitedUsage?: boolean | null

  @Field(() => String, { nullable: true })
  id?: string | null

  @Field(() => Float, { nullable: true, description: 'The cap of a metered feature, the value of a NUMBER without a meter.' })
  usageLimit?: number | null
}

@InputType({ description: 'An entitlement to a feature.' })
export class SubscriptionFeatureEntitlementInput extends ResetPeriodInput {
  @Field(() => [String], { nullable: true, description: 'ENUM: the values held.' })
  enumValues?: string[] | null

  @Field(() => String, { nullable: true, description: 'Tollgate has no groups of features: it is refused.' })
  featureGroupId?: string | null

  @Field(() => String, { description: 'The feature’s identifier in the catalog.' })
  featureId!: string

  @Field(() => Boolean, { nullable: true, description: 'Usage beyond the limit is granted.' })
  hasSoftLimit?: boolean | null

  @Field(() => Boolean, { nullable: true })
  hasUnlimitedUsage?: boolean | null

  @Field(() => Float, { nullable: true, description: 'The cap of a metered feature, the value of a NUMBER without a meter.' })
  usageLimit?: number | null
}

@InputType({ description: 'An entitlement to credits. Tollgate has none: it is refused.' })
export class SubscriptionCreditEntitlementInput {
  @Field(() => Float)
  amount!: number

  @Field(() => enums.CreditCadence)
  cadence!: keyof typeof enums.CreditCadence

  @Field(() => String)
  customCurrencyId!: string

  @Field(() => Boolean, { nullable: true, description: 'Usage beyond the limit is granted.' })
  hasSoftLimit?: boolean | null
}

@InputType({ description: 'An entitlement of this subscription, in place of the plan’s.' })
export class SubscriptionEntitlementInputV2 {
  @Field(() => SubscriptionCreditEntitlementInput, { nullable: true })
  credit?: SubscriptionCreditEntitlementInput | null

  @Field(() => SubscriptionFeatureEntitlementInput, { nullable: true })
  feature?: SubscriptionFeatureEntitlementInput | null
}

type Granted = ResetPeriodInput &
  Partial<Pick<SubscriptionFeatureEntitlementInput, 'usageLimit' | 'hasUnlimitedUsage' | 'hasSoftLimit' | 'enumValues'>>

function fromGranted(input: Granted): Omit<OwnEntitlementRequest, 'featureRefId'> {
  const { usageLimit, hasUnlimitedUsage, hasSoftLimit, enumValues, resetPeriod } = input
  const rules = {
    MONTH: input.monthlyResetPeriodConfiguration?.accordingTo,
    WEEK: input.weeklyResetPeriodConfiguration?.accordingTo,
    YEAR: input.yearlyResetPeriodConfiguration?.accordingTo,
  }
  return {
    usageLimit: usageLimit === null || usageLimit === undefined ? null : decimal.fromNumber(usageLimit),
    hasUnlimitedUsage,
    hasSoftLimit,
    enumValues,
    resetPeriod,
    resetRule: resetPeriod && resetPeriod in rules ? (rules[resetPeriod as keyof typeof rules] ?? null) : null,
  }
}

/** The older and the newer form are the same list; one of them is sent. Undefined: neither was. */
export function fromSubscriptionEntitlements(input: {
  subscriptionEntitlements?: (SubscriptionEntitlementInput | UpdateSubscriptionEntitlementInput)[] | null
  entitlements?: SubscriptionEntitlementInputV2[] | null
}) {
  const { subscriptionEntitlements, entitlements } = input
  if (subscriptionEntitlements && entitlements)
    throw invalidInput('Send subscriptionEntitlements or entitlements, not both: they mean the same.', { path: 'entitlements' })
  if (entitlements) {
    return entitlements.map(({ credit, feature }) => {
      if (credit || !feature) throw invalidInput('Tollgate has no credits: name a feature.', { path: 'entitlements' })
      refuseAbsent('groups of features', feature, 'featureGroupId')
      return { ...fromGranted(feature), featureRefId: feature.featureId, id: null as string | null }
    })
  }
  return subscriptionEntitlements?.map((own) => ({
    ...fromGranted(own),
    featureRefId: own.featureId ?? '',
    id: 'id' in own ? (own.id ?? null) : null,
  }))
}
