/** What the definitions of a catalog say about each other: that what they name exists and fits. */
import { Suggestions, shortened } from '../../kernel/nearest.js'
import type {
  AddonDefinition,
  CatalogDocument,
  CatalogProblem,
  CouponDefinition,
  FeatureDefinition,
  PlanDefinition,
  ProductDefinition,
} from './document.js'
import { isMap, join } from './document-path.js'
import { checkDepths, checkInherited } from './inheritance-checks.js'
import {
  type AddonHead,
  checkDistinct,
  Index,
  type Located,
  type LocatedCatalog,
  type LocatedPackage,
  type PlanHead,
  type Report,
} from './located.js'
import { checkEntitlements, checkPrices } from './package-checks.js'
import type { Findings } from './read.js'
import { maxEntitlements, maxPrices } from './text-limits.js'

/**
 * Every problem between definitions. Of what could not be read (`unread`) only the names it uses are looked up. `current` is the catalog
 * in force, of which some things never change; null when there is none.
 */
export function checkCatalog(catalog: LocatedCatalog, unread: Findings['unread'], current: CatalogDocument | null): CatalogProblem[] {
  const problems: CatalogProblem[] = []
  const report: Report = (path, message) => problems.push({ path, message })
  const suggestions = new Suggestions()
  const features = index('feature', catalog.features, suggestions, report)
  const products = index('product', catalog.products, suggestions, report)
  const plans = index('plan', catalog.plans, suggestions, report)
  const addons = index('add-on', catalog.addons, suggestions, report)
  index('coupon', catalog.coupons, suggestions, report)
  const before = { features: named(current?.features), plans: named(current?.plans), addons: named(current?.addons) }

  for (const { path, value } of catalog.features) {
    if (value === null) continue
    checkFeature(value, path, report)
    const known = before.features.get(value.refId)
    if (known) checkUnchanged(known, value, ['type', 'meter'], 'a feature', path, report)
  }
  for (const { path, value } of catalog.products) if (value) checkSettings(value, `${path}.settings`, plans, report)
  for (const plan of catalog.plans) {
    const { path, value } = plan
    checkPackage(plan, features, products, report)
    if (value === null) continue
    checkTrial(value, path, report)
    const known = before.plans.get(value.refId)
    checkLengths(plan, known, report)
    if (known) checkUnchanged(known, value, ['product'], 'a plan', path, report)
    if (value.basePlan !== null) checkSibling(plans, value.basePlan, value.product, `${path}.basePlan`, report)
    checkSiblings(addons, value.compatibleAddons, value.product, `${path}.compatibleAddons`, report)
  }
  for (const addon of catalog.addons) {
    const { path, value } = addon
    checkPackage(addon, features, products, report)
    if (value === null) continue
    const known = before.addons.get(value.refId)
    checkLengths(addon, known, report)
    if (known) checkUnchanged(known, value, ['product'], 'an add-on', path, report)
    checkSiblings(addons, value.dependencies, value.product, `${path}.dependencies`, report)
  }
  for (const { path, value } of catalog.coupons) if (value) checkCoupon(value, path, report)

  const basesOf = ({ basePlan }: Pick<PlanDefinition, 'basePlan'>) => (basePlan === null ? [] : [basePlan])
  const needsOf = ({ dependencies }: Pick<AddonDefinition, 'dependencies'>) => dependencies
  checkDepths(standing(catalog.plans, basesOf), 'basePlan', standingIn(current?.plans, basesOf), report)
  checkDepths(standing(catalog.addons, needsOf), 'dependencies', standingIn(current?.addons, needsOf), report)
  checkInherited(
    catalog.plans.flatMap(({ value, ...located }) => (value ? [{ ...located, ...value }] : [])),
    current?.plans ?? [],
    report,
  )
  checkCycles(catalog.plans, 'basePlan', basesOf, report)
  checkCycles(catalog.addons, 'dependencies', needsOf, report)

  const namedBy: Named = {
    product: products,
    feature: features,
    basePlan: plans,
    newCustomerPlan: plans,
    downgradePlan: plans,
    compatibleAddons: addons,
    dependencies: addons,
  }
  for (const { path, raw } of unread) checkNames(raw, path, namedBy, report)
  return problems
}

/** What the keys of a definition name. */
type Named = Readonly<Record<string, Index<unknown>>>

/** Looks up the names that something unreadable uses. Its entitlements and prices are read on their own. */
function checkNames(raw: unknown, path: string, named: Named, report: Report): void {
  for (const [key, value] of isMap(raw) ? Object.entries(raw) : []) {
    const definitions = Object.hasOwn(named, key) ? named[key] : undefined
    if (key === 'settings') checkNames(value, join(path, key), named, report)
    if (definitions && typeof value === 'string') definitions.find(value, join(path, key), report)
    if (!definitions || !Array.isArray(value)) continue
    for (const [position, name] of value.entries()) {
      if (typeof name === 'string') definitions.find(name, `${join(path, key)}[${position}]`, report)
    }
  }
}

const standing = <T extends { refId: string }>(items: readonly Located<T>[], namesOf: (item: T) => readonly string[]) =>
  items.flatMap(({ path, value }) => (value ? [{ refId: value.refId, path, names: namesOf(value) }] : []))
const standingIn = <T extends { refId: string }>(items: readonly T[] = [], namesOf: (item: T) => readonly string[]) =>
  items.map((item) => ({ refId: item.refId, names: namesOf(item) }))

const named = <T extends { refId: string }>(items: readonly T[] = []) => new Map(items.map((item) => [item.refId, item]))

function index<T>(kind: string, items: Located<T>[], suggestions: Suggestions, report: Report): Index<T> {
  const found = new Index<T>(kind, suggestions)
  for (const item of items) {
    const first = found.add(item)
    if (first) report(`${item.path}.refId`, `'${shortened(item.refId!)}' is already the refId of ${first.path}`)
  }
  return found
}

/** One that has more already may keep them. */
function checkLengths(
  { path, entitlements, prices }: LocatedPackage<unknown>,
  known: Pick<PlanDefinition, 'entitlements' | 'prices'> | undefined,
  report: Report,
): void {
  const check = (key: string, length: number, before: number, most: number) => {
    if (length > Math.max(most, before)) report(`${path}.${key}`, `must have at most ${most} elements; it has ${length}`)
  }
  check('entitlements', entitlements.length, known?.entitlements.length ?? 0, maxEntitlements)
  check('prices', prices.length, known?.prices.length ?? 0, maxPrices)
}

function checkUnchanged<T, K extends keyof T & string>(before: T, after: T, keys: K[], kind: string, path: string, report: Report): void {
  for (const key of keys) {
    if (before[key] !== after[key]) {
      report(`${path}.${key}`, `the ${key} of ${kind} never changes: it is ${before[key]}; make another one with a refId of its own`)
    }
  }
}

function checkFeature(feature: FeatureDefinition, path: string, report: Report): void {
  if (feature.type !== 'NUMBER' && feature.meter !== 'None') report(`${path}.meter`, `only a NUMBER has a meter; this is a ${feature.type}`)
  if (feature.type === 'ENUM' && feature.enumValues.length === 0) report(`${path}.enumValues`, 'an ENUM needs the values to choose from')
  if (feature.type !== 'ENUM' && feature.enumValues.length > 0)
    report(`${path}.enumValues`, `only an ENUM has values; this is a ${feature.type}`)
  checkDistinct(feature.enumValues, `${path}.enumValues`, report)
  if (feature.unitTransformation && !feature.events) {
    report(`${path}.unitTransformation`, 'converts what is measured from raw events, so it needs events')
  }
  if (feature.events === null) return
  if (feature.meter !== 'Incremental') {
    // A level without a period would have to be summed over all events since the beginning, which are not kept for ever.
    report(
      `${path}.events`,
      `raw events measure Incremental usage; the meter is ${feature.meter} (report a level such as seats with reportUsage)`,
    )
  }
  const { aggregation, field } = feature.events
  if (aggregation === 'COUNT' && field !== null) report(`${path}.events.field`, 'COUNT counts events and reads no field')
  if (aggregation !== 'COUNT' && field === null) report(`${path}.events.field`, `is required: the dimension that ${aggregation} reads`)
}

function checkSettings({ refId, settings }: ProductDefinition, path: string, plans: Index<PlanSummary>, report: Report): void {
  const { newCustomer, newCustomerPlan, endOfSubscription, downgradePlan } = settings
  if (newCustomer === 'PLAN_SELECTION') {
    if (newCustomerPlan !== null)
      report(`${path}.newCustomerPlan`, 'PLAN_SELECTION starts no plan: leave this out, or choose FREE_PLAN or TRIAL_PERIOD')
  } else if (newCustomerPlan === null) {
    report(`${path}.newCustomerPlan`, `is required with ${newCustomer}`)
  } else {
    const plan = checkSibling(plans, newCustomerPlan, refId, `${path}.newCustomerPlan`, report)
    if (plan && newCustomer === 'FREE_PLAN' && plan.pricingType !== 'FREE')
      report(`${path}.newCustomerPlan`, `'${newCustomerPlan}' is not free`)
    if (plan && newCustomer === 'TRIAL_PERIOD' && !plan.defaultTrial)
      report(`${path}.newCustomerPlan`, `'${newCustomerPlan}' has no defaultTrial`)
  }
  if (endOfSubscription === 'CANCEL_SUBSCRIPTION') {
    if (downgradePlan !== null)
      report(`${path}.downgradePlan`, 'CANCEL_SUBSCRIPTION needs none: leave this out, or choose DOWNGRADE_TO_FREE')
  } else if (downgradePlan === null) {
    report(`${path}.downgradePlan`, 'is required with DOWNGRADE_TO_FREE')
  } else {
    const plan = checkSibling(plans, downgradePlan, refId, `${path}.downgradePlan`, report)
    if (plan && plan.pricingType !== 'FREE') report(`${path}.downgradePlan`, `'${downgradePlan}' is not free`)
  }
}

type PlanSummary = Pick<PlanDefinition, 'product' | 'pricingType' | 'defaultTrial'>

function checkPackage(
  item: LocatedPackage<PlanHead> | LocatedPackage<AddonHead>,
  features: Index<FeatureDefinition>,
  products: Index<ProductDefinition>,
  report: Report,
): void {
  const { path, value, entitlements, prices } = item
  checkEntitlements(entitlements, prices, `${path}.entitlements`, features, report)
  checkPrices(prices, `${path}.prices`, features, report)
  if (value === null) return
  products.find(value.product, `${path}.product`, report)
  if (value.pricingType === 'PAID' && prices.length === 0) report(`${path}.prices`, 'what is PAID needs at least one price')
  if (value.pricingType !== 'PAID' && prices.length > 0) report(`${path}.pricingType`, `what is ${value.pricingType} has no prices`)
}

function checkTrial(plan: PlanSummary, path: string, report: Report): void {
  if (plan.pricingType === 'FREE' && plan.defaultTrial) report(`${path}.defaultTrial`, 'a free plan has no trial')
}

/** The plan or add-on named at `path`, which must be of the same product. */
function checkSibling<T extends { product: string }>(
  items: Index<T>,
  refId: string,
  product: string,
  path: string,
  report: Report,
): T | null {
  const found = items.find(refId, path, report)
  if (found && found.product !== product) report(path, `'${refId}' belongs to product '${found.product}', not to '${product}'`)
  return found
}

function checkSiblings(items: Index<{ product: string }>, refIds: string[], product: string, path: string, report: Report): void {
  for (const [position, refId] of refIds.entries()) checkSibling(items, refId, product, `${path}[${position}]`, report)
  checkDistinct(refIds, path, report)
}

function checkCoupon(coupon: CouponDefinition, path: string, report: Report): void {
  const { percentOff, amountsOff } = coupon
  if ((percentOff === null) === (amountsOff === null)) report(path, 'needs exactly one of percentOff and amountsOff')
  if (percentOff !== null && !(Number(percentOff) > 0 && Number(percentOff) <= 100))
    report(`${path}.percentOff`, 'must be above 0 and at most 100')
  if (amountsOff?.length === 0) report(`${path}.amountsOff`, 'must not be empty')
  for (const [position, { amount }] of (amountsOff ?? []).entries()) {
    if (amount === '0') report(`${path}.amountsOff[${position}].amount`, 'must be above 0')
  }
  const currencies = (amountsOff ?? []).map(({ currency }) => currency)
  checkDistinct(currencies, `${path}.amountsOff`, report)
}

/** Of a circle of more definitions than these only the first and the last are named. */
const maxShownCircle = 20

function circle(trail: readonly string[], from: number): string {
  if (trail.length - from <= maxShownCircle) return trail.slice(from).join(' -> ')
  return [...trail.slice(from, from + maxShownCircle / 2), '…', ...trail.slice(-maxShownCircle / 2)].join(' -> ')
}

/** Reports each circle once, at the definition that closes it. */
function checkCycles<T extends { refId: string }>(items: Located<T>[], key: string, namedBy: (item: T) => string[], report: Report): void {
  const byRefId = new Map(items.map((item) => [item.refId, item]))
  const done = new Set<string>()
  const trail: string[] = []
  /** What is left to look at of each on the trail. There may be thousands, more than functions may call each other. */
  const left: Iterator<string>[] = []
  const placeOnTrail = new Map<string, number>()
  const enter = (refId: string): void => {
    const value = byRefId.get(refId)?.value
    if (!value || done.has(refId)) return
    placeOnTrail.set(refId, trail.push(refId) - 1)
    left.push(namedBy(value)[Symbol.iterator]())
  }
  for (const { value } of items) {
    if (value) enter(value.refId)
    while (trail.length > 0) {
      const refId = trail.at(-1)!
      const next = left.at(-1)!.next()
      if (next.done) {
        trail.pop()
        left.pop()
        placeOnTrail.delete(refId)
        done.add(refId)
        continue
      }
      const from = placeOnTrail.get(next.value)
      if (from === undefined) enter(next.value)
      else report(`${byRefId.get(refId)!.path}.${key}`, `leads back to itself: ${circle(trail, from)} -> ${next.value}`)
    }
  }
}
