import { Field, Float, ObjectType } from 'type-graphql'
import { type Decision, decide } from '../../../entitlement/rules/evaluate.js'
import type * as domain from '../../../entitlement/rules/state.js'
import type { EpochMs } from '../../../kernel/clock.js'
import {
  FeatureFacts,
  ResetPeriodConfiguration,
  toFeature,
  toResetPeriodConfiguration,
  UnitTransformation,
} from '../catalog/feature.types.js'
import { CreditRate, toNumber } from '../catalog/price.types.js'
import { AlwaysNull } from '../schema/always-null.js'
import * as enums from '../schema/enums.js'
import { DateTime } from '../schema/scalars.js'

@ObjectType({ simpleResolvers: true, description: 'A feature as an entitlement carries it.' })
export class EntitlementFeature extends FeatureFacts {
  @Field(() => UnitTransformation, { nullable: true })
  unitTransformation!: UnitTransformation | null
}

@ObjectType({
  simpleResolvers: true,
  description: 'The right of a customer (or of one of its resources) to use a feature, and the decision about it.',
})
export class Entitlement {
  @Field(() => enums.AccessDeniedReason, { nullable: true, description: 'Null when granted.' })
  accessDeniedReason!: keyof typeof enums.AccessDeniedReason | null

  @AlwaysNull(() => CreditRate)
  creditRate?: null

  @Field(() => Float, { nullable: true, description: 'In the current usage period; null for features without a meter.' })
  currentUsage!: number | null

  @Field(() => String, { nullable: true })
  customerId!: string | null

  @Field(() => String, { nullable: true, description: 'What the plan or add-on calls the feature; null: its own name.' })
  displayNameOverride!: string | null

  @Field(() => DateTime, { nullable: true, description: 'Version of the last change that was more than usage.' })
  entitlementUpdatedAt!: EpochMs | null

  @Field(() => [String], { nullable: true, description: 'ENUM: the values held.' })
  enumValues!: string[] | null

  @Field(() => EntitlementFeature, { nullable: true, description: 'Null when the customer does not hold the feature.' })
  feature!: EntitlementFeature | null

  @Field(() => Boolean, { nullable: true, description: 'Usage beyond the limit is granted.' })
  hasSoftLimit!: boolean | null

  @Field(() => Boolean)
  hasUnlimitedUsage!: boolean

  @AlwaysNull(() => [enums.WidgetType])
  hiddenFromWidgets?: null

  @Field(() => Boolean)
  isGranted!: boolean

  @AlwaysNull(() => String)
  meterId?: null

  @Field(() => DateTime, { nullable: true, description: 'The same as usagePeriodEnd.' })
  nextResetDate!: EpochMs | null

  @Field(() => Float, { nullable: true, description: 'As it was asked.' })
  requestedUsage!: number | null

  @Field(() => [String], { nullable: true, description: 'As they were asked.' })
  requestedValues!: string[] | null

  @Field(() => enums.EntitlementResetPeriod, { nullable: true, description: 'Null: usage is never reset.' })
  resetPeriod!: keyof typeof enums.EntitlementResetPeriod | null

  @Field(() => ResetPeriodConfiguration, { nullable: true })
  resetPeriodConfiguration!: ReturnType<typeof toResetPeriodConfiguration>

  @Field(() => String, { nullable: true })
  resourceId!: string | null

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

  @Field(() => Float, { nullable: true, description: 'Epoch milliseconds: from then on another entitlement may hold.' })
  validUntil!: number | null
}

/** Whose entitlement it is, and as of which version. */
export interface EntitlementOwner {
  customerId: string
  resourceId: string | null
  accessVersion: EpochMs | null
}

export interface Requested {
  requestedUsage?: number | null
  requestedValues?: string[] | null
}

export function toEntitlement(owner: EntitlementOwner, decision: Decision, requested: Requested = {}): Entitlement {
  const { entitlement } = decision
  return {
    ...(entitlement ? held(entitlement) : nothingHeld),
    customerId: owner.customerId,
    resourceId: owner.resourceId,
    isGranted: decision.granted,
    accessDeniedReason: decision.granted ? null : decision.reason,
    requestedUsage: requested.requestedUsage ?? null,
    requestedValues: requested.requestedValues ?? null,
    entitlementUpdatedAt: owner.accessVersion,
    usageUpdatedAt: entitlement?.usage?.updatedAt ?? owner.accessVersion,
  }
}

type Held = Omit<
  Entitlement,
  | 'accessDeniedReason'
  | 'customerId'
  | 'entitlementUpdatedAt'
  | 'isGranted'
  | 'requestedUsage'
  | 'requestedValues'
  | 'resourceId'
  | 'usageUpdatedAt'
>

const nothingHeld: Held = {
  currentUsage: null,
  displayNameOverride: null,
  enumValues: null,
  feature: null,
  hasSoftLimit: null,
  hasUnlimitedUsage: false,
  nextResetDate: null,
  resetPeriod: null,
  resetPeriodConfiguration: null,
  usageLimit: null,
  usagePeriodAnchor: null,
  usagePeriodEnd: null,
  usagePeriodStart: null,
  validUntil: null,
}

/** States are kept in memory and read over and over. */
const known = new WeakMap<domain.Entitlement, Held>()

function held(entitlement: domain.Entitlement): Held {
  const before = known.get(entitlement)
  if (before) return before
  const made = toHeld(entitlement)
  known.set(entitlement, made)
  return made
}

function toHeld({ feature, usage, reset, usageLimit, validUntil, ...entitlement }: domain.Entitlement): Held {
  return {
    currentUsage: toNumber(usage?.currentUsage ?? null),
    displayNameOverride: entitlement.displayNameOverride ?? null,
    enumValues: feature.featureType === 'ENUM' ? entitlement.enumValues : null,
    feature: { ...toFeature(feature), unitTransformation: feature.unitTransformation },
    hasSoftLimit: entitlement.hasSoftLimit,
    hasUnlimitedUsage: entitlement.hasUnlimitedUsage,
    nextResetDate: usage?.periodEnd ?? null,
    resetPeriod: reset?.period ?? null,
    resetPeriodConfiguration: reset && toResetPeriodConfiguration(reset.period, reset.rule),
    usageLimit: entitlement.hasUnlimitedUsage ? null : toNumber(usageLimit),
    usagePeriodAnchor: reset?.anchor ?? null,
    usagePeriodEnd: usage?.periodEnd ?? null,
    usagePeriodStart: usage?.periodStart ?? null,
    validUntil,
  }
}

/** All entitlements of a state, each with the decision for a request of nothing. */
export function toEntitlements(state: domain.EntitlementState, now: EpochMs): Entitlement[] {
  return state.entitlements.map((entitlement) => toEntitlement(state, decide(entitlement, { now })))
}

@ObjectType({ simpleResolvers: true, description: 'What is held from an instant on, unless something happens before.' })
export class NextEntitlements {
  @Field(() => enums.EntitlementsStateAccessDeniedReason, { nullable: true, description: 'Why nothing is held then.' })
  accessDeniedReason!: keyof typeof enums.EntitlementsStateAccessDeniedReason | null

  @Field(() => [Entitlement], {
    description:
      'A usage whose `usageUpdatedAt` is `validFrom` begins then; others go on from the usage of the same feature and period that is held by then.',
  })
  entitlements!: Entitlement[]

  @Field(() => [String], {
    description:
      'Features that are held then too, with a usage that goes on from what is counted elsewhere until then: it has to be asked for.',
  })
  unknownFeatureIds!: string[]

  @Field(() => Float, { description: 'Epoch milliseconds.' })
  validFrom!: number

  @Field(() => Float, { nullable: true, description: 'Epoch milliseconds, exclusive. Null: no end is known.' })
  validUntil!: number | null
}

/** What a customer or resource holds, or why it holds nothing. Not a type of the schema. */
@ObjectType({ simpleResolvers: true })
export class HeldEntitlements {
  @Field(() => enums.EntitlementsStateAccessDeniedReason, { nullable: true })
  accessDeniedReason!: keyof typeof enums.EntitlementsStateAccessDeniedReason | null

  @Field(() => [Entitlement], { nullable: true })
  entitlements!: Entitlement[] | null

  @Field(() => Float, {
    nullable: true,
    description:
      'Epoch milliseconds: from then on time alone may have changed what is held, also where that is nothing now. Null: no such instant is known.',
  })
  validUntil!: number | null

  @Field(() => NextEntitlements, {
    nullable: true,
    description:
      'What time alone makes of it next: for readers that cannot ask then. Null: no such change is known, or not what it leads to.',
  })
  next!: NextEntitlements | null
}

export function toHeldEntitlements(state: domain.EntitlementState, now: EpochMs): HeldEntitlements {
  return {
    accessDeniedReason: state.deniedReason,
    entitlements: toEntitlements(state, now),
    validUntil: state.validUntil ?? null,
    next: state.next ? toNextEntitlements(state, state.next) : null,
  }
}

function toNextEntitlements(state: domain.EntitlementState, { deniedReason, entitlements, ...next }: domain.NextState): NextEntitlements {
  return { ...next, accessDeniedReason: deniedReason, entitlements: toEntitlements({ ...state, entitlements }, next.validFrom) }
}
