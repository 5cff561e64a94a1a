import { randomUUID } from 'node:crypto'
import type { FeatureUsage, PendingChange, PublishedPackage } from '../../changes/model/change.js'
/** From committed changes and the states after them to what is told. Pure but for ids and the time of a message. */
import type { Entitlement, EntitlementState } from '../../entitlement/rules/state.js'
import type { EpochMs } from '../../kernel/clock.js'
import { toAnsweredUnits } from '../../metering/model/unit-transformation.js'
import type { Usage } from '../../metering/model/usage.js'
import { withUsages } from '../held/merge-state.js'
import type { ChangeMessage, UsageChange } from '../wire/change-message.js'

/** The state with the newest usage of each feature that changed, in the units that are answered. */
export function withChangedUsages(state: EntitlementState, changes: readonly PendingChange[]): EntitlementState {
  const usages = new Map<string, Usage>()
  for (const { payload } of changes) {
    const { featureId, usage } = payload as FeatureUsage
    const known = usages.get(featureId)
    if (known && known.updatedAt > usage.updatedAt) continue
    const feature = state.entitlements.find((entitlement) => entitlement.feature.refId === featureId)?.feature
    if (feature) usages.set(featureId, { ...usage, currentUsage: toAnsweredUnits(usage.currentUsage, feature.unitTransformation) })
  }
  return withUsages(state, usages)
}

/** Of a customer that is archived, or of one of its resources; with the state that says so, for those who answer from it. */
export function purgeMessage(state: EntitlementState): ChangeMessage {
  return { ...message(state.environmentId, state.customerId, state.resourceId, 'purge', state.version), state }
}

export function entitlementsMessage(state: EntitlementState): ChangeMessage {
  return { ...message(state.environmentId, state.customerId, state.resourceId, 'entitlements', state.version), state }
}

/** One message per version that was published; one without when something else of the catalog changed. */
export function packageMessages(environmentId: string, { version, payload }: PendingChange): ChangeMessage[] {
  const about = () => message(environmentId, '', null, 'package', version)
  const packages = (payload as { packages: PublishedPackage[] } | null)?.packages ?? []
  return packages.length === 0 ? [about()] : packages.map((published) => ({ ...about(), package: published }))
}

/** One message per feature whose usage is among what changed and which the customer holds: usage without an entitlement is not told. */
export function usageMessages(state: EntitlementState, changes: readonly PendingChange[]): ChangeMessage[] {
  const featureIds = new Set(changes.flatMap(({ kind, payload }) => (kind === 'usage' ? [(payload as FeatureUsage).featureId] : [])))
  const messages: ChangeMessage[] = []
  for (const entitlement of state.entitlements) {
    if (!featureIds.has(entitlement.feature.refId) || !entitlement.usage) continue
    messages.push(usageMessage(state, entitlement, entitlement.usage))
  }
  return messages
}

/**
 * One message per feature of which a usage period has ended and the customer is in a later one: its usage there. It is dated by the beginning of that
 * period, which nothing that was told before is as new as, and everything that is reported since is newer.
 */
export function turnoverMessages(state: EntitlementState, ended: readonly { featureId: string; endedAt: EpochMs }[]): ChangeMessage[] {
  return state.entitlements.flatMap((entitlement) => {
    const { feature, usage } = entitlement
    const periodStart = usage?.periodStart ?? null
    const isTurnedOver = ({ featureId, endedAt }: { featureId: string; endedAt: EpochMs }) =>
      featureId === feature.refId && periodStart !== null && periodStart >= endedAt
    if (!usage || periodStart === null || !ended.some(isTurnedOver)) return []
    const told = { ...usage, updatedAt: Math.max(usage.updatedAt, periodStart) }
    return [usageMessage(state, { ...entitlement, usage: told }, told)]
  })
}

function usageMessage(state: EntitlementState, entitlement: Entitlement, told: Usage): ChangeMessage {
  const { environmentId, customerId, resourceId, accessVersion } = state
  const usage: UsageChange = { featureId: entitlement.feature.refId, usage: told, entitlement, accessVersion }
  return { ...message(environmentId, customerId, resourceId, 'usage', told.updatedAt), usage }
}

function message(
  environmentId: string,
  customerId: string,
  resourceId: string | null,
  kind: ChangeMessage['kind'],
  version: number,
): ChangeMessage {
  return {
    v: 1,
    // Not stored, and made for every message: this takes a tenth of the time of an id that grows.
    id: randomUUID(),
    environmentId,
    customerId,
    ...(resourceId === null ? {} : { resourceId }),
    kind,
    version,
    timestamp: Date.now(),
  }
}
