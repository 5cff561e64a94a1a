/** What is bought by the unit, which is what is given: see catalog/model/units.ts. Pure. */
import { type Bought, boughtUnits, currencyOf, type SoldTerms } from '../../billing/rules/charges.js'
import { overridesAfter } from '../../billing/rules/request.js'
import type { PackageVersion } from '../../catalog/model/package.js'
import { sellsUnits } from '../../catalog/model/units.js'
import type { Subscription } from '../../subscription/rules/subscription.js'

const soldIn = ({ plan, addons }: Pick<Subscription, 'plan' | 'addons'>): PackageVersion[] => [
  plan,
  ...addons.map(({ version }) => version),
]

/** Whether something of the subscription is sold by the unit, now or after a change that waits. */
export function sellsUnitsEver(subscription: Subscription): boolean {
  const later = subscription.scheduled.flatMap(({ change }) => {
    if ('plan' in change) return soldIn(change)
    return change.type === 'Addon' ? [change.addon.version] : []
  })
  return [...soldIn(subscription), ...later].some(sellsUnits)
}

const nothing: ReadonlyMap<string, Bought> = new Map()

/** By feature (our id). The subscription is as it is at some instant, `stored` as its terms were agreed for it. */
export function boughtBy(
  subscription: Subscription,
  { stored, terms, customerCurrency }: { stored: Subscription; terms: SoldTerms | null; customerCurrency: string | null },
): ReadonlyMap<string, Bought> {
  if (!soldIn(subscription).some(sellsUnits)) return nothing
  const currency = currencyOf(subscription, terms?.currency ?? customerCurrency)
  const overrides = terms?.priceOverrides ?? []
  return boughtUnits(subscription, { currency, priceOverrides: overridesAfter(overrides, agreedSince(stored, subscription)) })
}

/** What was agreed for a change of plan that has happened, and that nobody has recorded yet. */
function agreedSince(stored: Subscription, { scheduled }: Subscription): object | null {
  const happened = stored.scheduled.filter(({ id }) => !scheduled.some((waiting) => waiting.id === id))
  const [agreed] = happened.flatMap(({ change }) => ('agreed' in change ? (change.agreed?.billingAgreement ?? []) : []))
  return agreed ?? null
}
