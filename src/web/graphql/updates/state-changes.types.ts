import { Field, Float, ObjectType } from 'type-graphql'
import type { EntitlementState } from '../../../entitlement/rules/state.js'
import type { EpochMs } from '../../../kernel/clock.js'
import * as decimal from '../../../kernel/decimal.js'
import type { CatchUp, MissedChange } from '../../../updates/stream/change-stream.js'
import type { ChangeMessage, UsageChange } from '../../../updates/wire/change-message.js'
import { Entitlement, NextEntitlements, toHeldEntitlements } from '../entitlement/entitlement.types.js'
import { defineEnum } from '../schema/define-enum.js'
import * as enums from '../schema/enums.js'

export const StateChangeKind = defineEnum(
  'StateChangeKind',
  'What is told: what a customer or resource holds changed (STATE), one usage changed (USAGE), the customer is to be forgotten (PURGE), versions of the catalog changed (PACKAGE); or, once after a start with `after`: all that was missed has been told (CAUGHT_UP), or it is not known what was missed (GAP).',
  ['CAUGHT_UP', 'GAP', 'PACKAGE', 'PURGE', 'STATE', 'USAGE'],
)

@ObjectType({ simpleResolvers: true, description: 'A usage after its change. Its times are epoch milliseconds.' })
export class ChangedUsage {
  @Field(() => Float)
  currentUsage!: number

  @Field(() => String)
  featureId!: string

  @Field(() => Float, { description: 'Version of the usage.' })
  updatedAt!: EpochMs

  @Field(() => Float, { nullable: true, description: 'Exclusive; null: never reset.' })
  usagePeriodEnd!: EpochMs | null

  @Field(() => Float, { nullable: true })
  usagePeriodStart!: EpochMs | null
}

@ObjectType({
  simpleResolvers: true,
  description: 'A change of what customers hold, with its place among the changes of the environment.',
})
export class StateChange {
  @Field(() => enums.EntitlementsStateAccessDeniedReason, { nullable: true, description: 'Why nothing is held.' })
  accessDeniedReason!: string | null

  @Field(() => String, { nullable: true, description: 'Null when the change is about no customer.' })
  customerId!: string | null

  @Field(() => [Entitlement], {
    nullable: true,
    description: 'STATE: everything that is held now. Null in a change that was missed: ask for the state when it is needed.',
  })
  entitlements!: Entitlement[] | null

  @Field(() => String, { description: 'To be sent as `after` when the connection comes back.' })
  id!: string

  @Field(() => StateChangeKind)
  kind!: keyof typeof StateChangeKind

  @Field(() => NextEntitlements, { nullable: true, description: 'STATE: what time alone makes of it next. Null: that is not known.' })
  next!: NextEntitlements | null

  @Field(() => String, { nullable: true, description: 'Null: the customer itself.' })
  resourceId!: string | null

  @Field(() => ChangedUsage, { nullable: true, description: 'USAGE: null in a change that was missed.' })
  usage!: ChangedUsage | null

  @Field(() => Float, {
    nullable: true,
    description: 'STATE: epoch milliseconds, from which on time alone may have changed what is held. Null: no such instant is known.',
  })
  validUntil!: EpochMs | null

  @Field(() => Float, { nullable: true, description: 'Version of the state that the change made: epoch milliseconds.' })
  version!: EpochMs | null
}

/** What a subscription emits: a change as it happens, one that was missed, or how the catching up ended. */
export type StateChangeEvent = { live: ChangeMessage } | { missed: MissedChange } | { end: CatchUp }

const kinds = { entitlements: 'STATE', usage: 'USAGE', purge: 'PURGE', package: 'PACKAGE' } as const
const nothing = {
  accessDeniedReason: null,
  customerId: null,
  entitlements: null,
  next: null,
  resourceId: null,
  usage: null,
  validUntil: null,
  version: null,
}

/** `state`: what is held after a change that happens now and whose message does not say. */
export function toStateChange(event: StateChangeEvent, state: EntitlementState | null, now: EpochMs): StateChange {
  if ('end' in event) return { ...nothing, id: event.end.position, kind: event.end.isGap ? 'GAP' : 'CAUGHT_UP' }
  if ('missed' in event) {
    const { position, kind, customerId, resourceId, version } = event.missed
    return { ...nothing, id: position, kind: kinds[kind], customerId: customerId || null, resourceId, version }
  }
  const { position = '', kind, customerId, resourceId = null, version, usage } = event.live
  const about = { ...nothing, id: position, kind: kinds[kind], customerId: customerId || null, resourceId, version }
  if (kind === 'usage' && usage) return { ...about, usage: toChangedUsage(usage) }
  if (state === null) return about
  return { ...about, ...toHeldEntitlements(state, now) }
}

function toChangedUsage({ featureId, usage }: UsageChange): ChangedUsage {
  return {
    currentUsage: decimal.toNumber(decimal.max(usage.currentUsage, decimal.zero)),
    featureId,
    updatedAt: usage.updatedAt,
    usagePeriodEnd: usage.periodEnd,
    usagePeriodStart: usage.periodStart,
  }
}
