import { Field, Float, ObjectType } from 'type-graphql'
import { decide } from '../../entitlement/evaluate.js'
import type { EntitlementState } from '../../entitlement/state.js'
import type { EpochMs } from '../../kernel/clock.js'
import * as decimal from '../../kernel/decimal.js'
import type { ChangeMessage } from '../../updates/change-message.js'
import { Entitlement, HeldEntitlements, toEntitlement, toHeldEntitlements } from './entitlement.types.js'

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
    entitlement: toEntitlement({ customerId, resourceId, accessVersion: null }, decide(change.entitlement, { now })),
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
