/** What is to be told of what a customer and its resources may use. Pure. */
import type { CustomerStandings } from '../../../entitlement/rules/standing.js'
import { compareTold, type EntitlementChanges, type Told, toTold } from './told.js'

/** What was told of a customer or resource; `resource` null: of the customer itself. */
export interface ToldHolder {
  resource: { id: string; refId: string } | null
  told: Told
}

/** Null changes: what is held is the first that is known of the holder, and told of by nobody. Null told: the resource is not told of any more. */
export interface HolderChange {
  resource: ToldHolder['resource']
  told: Told | null
  changes: EntitlementChanges | null
}

/**
 * `isNew`: the customer was made when somebody heard already, so that it had nothing before what was told. Of others the first look only says what they have.
 * A resource without subscriptions of its own has what its customer has, and is told of by that.
 */
export function decideHolderChanges({
  customer,
  told,
  isNew,
}: {
  customer: CustomerStandings
  told: readonly ToldHolder[]
  isNew: boolean
}): HolderChange[] {
  const before = new Map(told.map((one) => [one.resource?.id ?? null, one]))
  const isKnown = isNew || before.has(null)
  const ofCustomer = toTold(customer.holders.find(({ resource }) => resource === null)?.entitlements ?? [])
  const decided: HolderChange[] = []
  for (const { resource, entitlements } of customer.holders) {
    const was = before.get(resource?.id ?? null)
    before.delete(resource?.id ?? null)
    const is = toTold(entitlements)
    if (!was && !isKnown) {
      decided.push({ resource, told: is, changes: null })
      continue
    }
    // A resource that begins to have subscriptions of its own had what its customer was told to have.
    const changes = compareTold(was?.told ?? (resource ? (toldOfCustomer(told) ?? {}) : {}), is)
    if (changes || (!was && resource)) decided.push({ resource, told: is, changes })
  }
  for (const { resource, told: was } of before.values())
    if (resource) decided.push({ resource, told: null, changes: compareTold(was, ofCustomer) })
  return decided
}

const toldOfCustomer = (told: readonly ToldHolder[]): Told | undefined => told.find(({ resource }) => resource === null)?.told
