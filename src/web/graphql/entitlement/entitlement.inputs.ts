import { Field, Float, InputType } from 'type-graphql'
import { checkRequestedUsage } from '../../../entitlement/rules/evaluate.js'
import type { CheckQuestion } from '../../../entitlement/service.js'
import type { EpochMs } from '../../../kernel/clock.js'
import { invalidInput } from '../../../kernel/problem.js'
import * as enums from '../schema/enums.js'
import { refuseCredits } from '../schema/not-here.js'
import { DateTime } from '../schema/scalars.js'
import { ResetPeriodInput } from './reset-period.inputs.js'

@InputType({ description: 'What is asked of a feature.' })
export class EntitlementOptions {
  @Field(() => Float, { nullable: true, description: 'How much the caller wants to consume; default 0, which is granted at the limit.' })
  requestedUsage?: number | null

  @Field(() => [String], { nullable: true, description: 'ENUM: the values that must all be held.' })
  requestedValues?: string[] | null

  @Field(() => Boolean, { nullable: true, description: 'Counts the check in the metric of reported checks.' })
  shouldTrack?: boolean | null
}

@InputType({ description: 'Which customer, and which feature.' })
export class FetchEntitlementQuery {
  @Field(() => String)
  customerId!: string

  @Field(() => String, { nullable: true, description: 'Must be the environment of the key.' })
  environmentId?: string | null

  @Field(() => String)
  featureId!: string

  @Field(() => EntitlementOptions, { nullable: true })
  options?: EntitlementOptions | null

  @Field(() => String, { nullable: true, description: 'Absent: what the customer itself holds.' })
  resourceId?: string | null
}

@InputType({ description: 'Which customer, or which of its resources.' })
export class FetchEntitlementsQuery {
  @Field(() => String)
  customerId!: string

  @Field(() => String, { nullable: true, description: 'Must be the environment of the key.' })
  environmentId?: string | null

  @Field(() => String, { nullable: true, description: 'Absent: what the customer itself holds.' })
  resourceId?: string | null
}

@InputType({ description: 'Which customer, and which feature.' })
export class GetEntitlementV2Input {
  @Field(() => String, { nullable: true, description: 'A currency of credits: Tollgate has none, so it is refused.' })
  currencyId?: string | null

  @Field(() => String)
  customerId!: string

  @Field(() => String, { nullable: true, description: 'Must be the environment of the key.' })
  environmentId?: string | null

  @Field(() => String, { nullable: true, description: 'The feature’s identifier in the catalog.' })
  featureId?: string | null

  @Field(() => EntitlementOptions, { nullable: true })
  options?: EntitlementOptions | null

  @Field(() => String, { nullable: true, description: 'Absent: what the customer itself holds.' })
  resourceId?: string | null
}

@InputType({ description: 'What an SDK answered from what it holds.' })
export class EntitlementCheckResult extends ResetPeriodInput {
  @Field(() => enums.AccessDeniedReason, { nullable: true, description: 'Absent when access was granted.' })
  accessDeniedReason?: keyof typeof enums.AccessDeniedReason | null

  @Field(() => Float, { nullable: true })
  currentUsage?: number | null

  @Field(() => [String], { nullable: true })
  enumValues?: string[] | null

  @Field(() => Boolean)
  hasAccess!: boolean

  @Field(() => Boolean, { nullable: true })
  hasSoftLimit?: boolean | null

  @Field(() => Boolean, { nullable: true })
  hasUnlimitedUsage?: boolean | null

  @Field(() => DateTime, { nullable: true })
  nextResetDate?: EpochMs | null

  @Field(() => Float, { nullable: true })
  requestedUsage?: number | null

  @Field(() => [String], { nullable: true })
  requestedValues?: string[] | null

  @Field(() => Float, { nullable: true })
  usageLimit?: number | null
}

@InputType({ description: 'A check that an SDK answered itself.' })
export class EntitlementCheckRequested {
  @Field(() => String)
  customerId!: string

  @Field(() => EntitlementCheckResult, { description: 'The answer.' })
  entitlementCheckResult!: EntitlementCheckResult

  @Field(() => String, { nullable: true, description: 'Must be the environment of the key.' })
  environmentId?: string | null

  @Field(() => String)
  featureId!: string

  @Field(() => Float, { nullable: true })
  requestedUsage?: number | null

  @Field(() => [String], { nullable: true })
  requestedValues?: string[] | null

  @Field(() => String, { nullable: true })
  resourceId?: string | null
}

export function fromFetchEntitlementQuery({ customerId, featureId, resourceId, options }: FetchEntitlementQuery): CheckQuestion {
  return {
    customerRefId: customerId,
    featureRefId: featureId,
    resourceRefId: resourceId ?? null,
    requestedUsage: checkRequestedUsage(options?.requestedUsage),
    requestedValues: options?.requestedValues ?? null,
  }
}

export function fromGetEntitlementV2Input(input: GetEntitlementV2Input): CheckQuestion {
  refuseCredits(input, 'currencyId')
  if (!input.featureId) throw invalidInput('Send featureId: it says what is asked for.', { path: 'featureId' })
  return fromFetchEntitlementQuery({ ...input, featureId: input.featureId })
}
