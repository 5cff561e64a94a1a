/**
 * What was told of what a customer may use, and how it differs from what it may use now. Pure.
 *
 * told        what was last told, as it is stored: by feature (refId), only what decides
 */
import type { Entitlement } from '../../../entitlement/rules/state.js'

/** What is said of an entitlement: its usage is told by alerts. */
export interface ToldEntitlement {
  usageLimit: string | null
  hasUnlimitedUsage: boolean
  hasSoftLimit: boolean
  resetPeriod: string | null
  /** ENUM: sorted. */
  enumValues: string[]
}

export type Told = Readonly<Record<string, ToldEntitlement>>

export interface EntitlementChanges {
  gained: ({ featureId: string } & ToldEntitlement)[]
  lost: { featureId: string }[]
  changed: { featureId: string; before: ToldEntitlement; after: ToldEntitlement }[]
}

export const toTold = (entitlements: readonly Entitlement[]): Told =>
  Object.fromEntries(
    entitlements.map(({ feature, usageLimit, hasUnlimitedUsage, hasSoftLimit, reset, enumValues }) => [
      feature.refId,
      { usageLimit, hasUnlimitedUsage, hasSoftLimit, resetPeriod: reset?.period ?? null, enumValues: [...enumValues].sort() },
    ]),
  )

/** In the order of the features' identifiers; null: there is no difference. */
export function compareTold(before: Told, after: Told): EntitlementChanges | null {
  const changes: EntitlementChanges = { gained: [], lost: [], changed: [] }
  for (const featureId of [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()) {
    const [was, is] = [own(before, featureId), own(after, featureId)]
    if (!was && is) changes.gained.push({ featureId, ...is })
    else if (was && !is) changes.lost.push({ featureId })
    else if (was && is && !isSame(was, is)) changes.changed.push({ featureId, before: was, after: is })
  }
  return changes.gained.length + changes.lost.length + changes.changed.length > 0 ? changes : null
}

const own = (told: Told, featureId: string): ToldEntitlement | undefined => (Object.hasOwn(told, featureId) ? told[featureId] : undefined)

const isSame = (a: ToldEntitlement, b: ToldEntitlement): boolean =>
  a.usageLimit === b.usageLimit &&
  a.hasUnlimitedUsage === b.hasUnlimitedUsage &&
  a.hasSoftLimit === b.hasSoftLimit &&
  a.resetPeriod === b.resetPeriod &&
  a.enumValues.length === b.enumValues.length &&
  a.enumValues.every((value, index) => value === b.enumValues[index])
