/** How deep definitions stand on each other, and what plans come to with what they inherit. What is beyond a bound in the catalog in force may stay so. */
import { countGiven } from '../model/inheritance.js'
import type { EntitlementDefinition, PriceDefinition } from './document.js'
import type { Report } from './located.js'
import { maxDefinitionDepth, maxEntitlements } from './text-limits.js'

interface Standing {
  refId: string
  path: string
  /** What it stands on. */
  names: readonly string[]
}

/** Plans on base plans, or add-ons on those that they need. `before`: of the catalog in force. */
export function checkDepths(items: readonly Standing[], key: string, before: readonly Omit<Standing, 'path'>[], report: Report): void {
  const known = depthsOf(before)
  const depths = depthsOf(items)
  for (const { refId, path } of items) {
    const depth = depths.get(refId) ?? 0
    if (depth > Math.max(maxDefinitionDepth, known.get(refId) ?? 0))
      report(`${path}.${key}`, `leads through ${depth} others that stand on each other, and at most ${maxDefinitionDepth} are allowed`)
  }
}

interface Inheriting {
  refId: string
  basePlan: string | null
  entitlements: readonly (EntitlementDefinition | null)[]
  prices: readonly (PriceDefinition | null)[]
}

/** Customers of a plan hold what it inherits too. */
export function checkInherited(plans: readonly (Inheriting & { path: string })[], before: readonly Inheriting[], report: Report): void {
  const counts = countFeatures(plans)
  const known = countFeatures(before)
  for (const { refId, path, basePlan } of plans) {
    const count = basePlan === null ? 0 : (counts.get(refId) ?? 0)
    if (count > Math.max(maxEntitlements, known.get(refId) ?? 0))
      report(`${path}.entitlements`, `come to ${count} features with those that are inherited, and at most ${maxEntitlements} are allowed`)
  }
}

/** Of plans whose depth is within its bound. */
function countFeatures(plans: readonly Inheriting[]): ReadonlyMap<string, number> {
  const depths = depthsOf(plans.map(({ refId, basePlan }) => ({ refId, names: basePlan === null ? [] : [basePlan] })))
  const within = plans.filter(({ refId }) => (depths.get(refId) ?? Number.POSITIVE_INFINITY) <= maxDefinitionDepth)
  const isWithin = new Set(within.map(({ refId }) => refId))
  const versions = new Map(
    within.map(({ refId, basePlan, entitlements, prices }) => {
      const sold = prices.flatMap((price) => (price?.billingModel === 'PER_UNIT' && price.feature !== null ? [price.feature] : []))
      const features = [...entitlements.flatMap((entitlement) => entitlement?.feature ?? []), ...sold]
      const basePlanVersionId = basePlan !== null && isWithin.has(basePlan) ? basePlan : null
      return [refId, { id: refId, basePlanVersionId, entitlements: features.map((featureId) => ({ featureId })) }]
    }),
  )
  const steps = countGiven(versions)
  let step = steps.next()
  while (!step.done) step = steps.next()
  return step.value
}

/** How many stand on each other below each; of none that leads back to itself. What is named and is not there counts for nothing. */
function depthsOf(items: readonly Omit<Standing, 'path'>[]): ReadonlyMap<string, number> {
  const namesOf = new Map(items.map(({ refId, names }) => [refId, names]))
  const waitsFor = new Map<string, number>()
  const heirs = new Map<string, string[]>()
  const ready: string[] = []
  for (const [refId, names] of namesOf) {
    const known = [...new Set(names)].filter((name) => namesOf.has(name))
    waitsFor.set(refId, known.length)
    if (known.length === 0) ready.push(refId)
    for (const name of known) {
      const others = heirs.get(name)
      if (others) others.push(refId)
      else heirs.set(name, [refId])
    }
  }
  const reached = new Map<string, number>()
  // It grows while it is gone through.
  for (const refId of ready) {
    const depth = (reached.get(refId) ?? 0) + 1
    for (const heir of heirs.get(refId) ?? []) {
      reached.set(heir, Math.max(reached.get(heir) ?? 0, depth))
      const left = waitsFor.get(heir)! - 1
      waitsFor.set(heir, left)
      if (left === 0) ready.push(heir)
    }
  }
  return new Map(ready.map((refId) => [refId, reached.get(refId) ?? 0]))
}
