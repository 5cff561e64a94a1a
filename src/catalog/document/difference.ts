/**
 * What applying a document would change.
 *
 * create, update, archive  of a definition that is kept as one record
 * publish                  a plan or add-on gets a new version, as a published one never changes
 */
import type {
  AddonDefinition,
  CatalogDocument,
  EntitlementDefinition,
  FeatureDefinition,
  PlanDefinition,
  PriceDefinition,
} from './document.js'
import { isMap, join } from './document-path.js'
import { normalise, overlay, priceKey, sortKeys } from './normalise.js'

/** A meter is named by its feature's refId. */
type CatalogKind = 'feature' | 'meter' | 'product' | 'addon' | 'plan' | 'coupon'

interface FieldChange {
  /** Inside the definition: `settings.newCustomer`, `entitlements["seats"].limit`, `basePlan.entitlements["seats"].limit`. */
  path: string
  /** Null: there was nothing. */
  from: unknown
  /** Null: there is nothing any more. */
  to: unknown
}

export interface CatalogChange {
  kind: CatalogKind
  refId: string
  action: 'create' | 'update' | 'publish' | 'archive'
  /** What is different; empty for create and archive. */
  fields: FieldChange[]
}

/**
 * The changes that lead from `current` to `wanted`, in an order in which they can be made: what a definition names comes before it, except
 * that products and plans name each other, and archiving comes last, in reverse. No change: an empty list.
 *
 * A plan whose base plan gets new entitlements is published too, since a version inherits from one version of its base plan.
 * With `archiveMissing` what `wanted` leaves out is archived, else it stays. A feature of `wanted` without `events` loses its meter either way.
 * `wanted` must have been parsed against `current`, which is where changes of what never changes are refused.
 */
export function compareCatalogs(current: CatalogDocument, wanted: CatalogDocument, options: { archiveMissing: boolean }): CatalogChange[] {
  const before = normalise(current)
  const after = options.archiveMissing ? normalise(wanted) : overlay(current, wanted)
  const features = compareDefinitions('feature', before.features.map(withoutMeter), after.features.map(withoutMeter))
  const meters = compareDefinitions('meter', before.features.flatMap(meterOf), after.features.flatMap(meterOf))
  const products = compareDefinitions('product', before.products, after.products)
  const addons = compareAddons(before.addons, after.addons)
  const plans = comparePlans(before.plans, after.plans)
  const coupons = compareDefinitions('coupon', before.coupons, after.coupons)
  const all = [features, meters, products, addons, plans, coupons].flat()
  const isArchive = ({ action }: CatalogChange) => action === 'archive'
  return [...all.filter((change) => !isArchive(change)), ...all.filter(isArchive).reverse()]
}

const withoutMeter = ({ events, ...feature }: FeatureDefinition) => feature
const meterOf = ({ refId, events }: FeatureDefinition) => (events === null ? [] : [{ refId, ...events }])

function compareDefinitions<T extends { refId: string }>(kind: CatalogKind, before: T[], after: T[]): CatalogChange[] {
  const changed = kind === 'plan' || kind === 'addon' ? 'publish' : 'update'
  const old = new Map(before.map((item) => [item.refId, item]))
  const kept = new Set(after.map((item) => item.refId))
  const changes = after.flatMap((item): CatalogChange[] => {
    const was = old.get(item.refId)
    if (!was) return [{ kind, refId: item.refId, action: 'create', fields: [] }]
    const fields = compareValues('', was, item)
    return fields.length === 0 ? [] : [{ kind, refId: item.refId, action: changed, fields }]
  })
  const archived = before
    .filter((item) => !kept.has(item.refId))
    .map(({ refId }): CatalogChange => ({ kind, refId, action: 'archive', fields: [] }))
  return [...changes, ...archived]
}

function compareAddons(before: AddonDefinition[], after: AddonDefinition[]): CatalogChange[] {
  return inOrderOfUse(compareDefinitions('addon', before, after), [...before, ...after], (addon) => addon.dependencies)
}

function comparePlans(before: PlanDefinition[], after: PlanDefinition[]): CatalogChange[] {
  const plans = inOrderOfUse(after, after, basePlanOf)
  const changes = compareDefinitions('plan', before, plans)
  const byRefId = new Map(changes.map((change) => [change.refId, change]))
  for (const { refId, basePlan } of plans) {
    const inherited = inheritedFields(basePlan === null ? undefined : byRefId.get(basePlan))
    const own = byRefId.get(refId)
    if (own?.action === 'create' || inherited.length === 0) continue
    if (own) own.fields.push(...inherited)
    else byRefId.set(refId, { kind: 'plan', refId, action: 'publish', fields: inherited })
  }
  return inOrderOfUse([...byRefId.values()], [...before, ...after], basePlanOf)
}

const basePlanOf = ({ basePlan }: PlanDefinition) => (basePlan === null ? [] : [basePlan])

/** What a plan inherits of the changes of its base plan: the entitlements. */
function inheritedFields(change: CatalogChange | undefined): FieldChange[] {
  if (change?.action !== 'publish') return []
  const isInherited = ({ path }: FieldChange) => path.startsWith('entitlements') || path.startsWith('basePlan')
  return change.fields.filter(isInherited).map((field) => ({ ...field, path: `basePlan.${field.path}` }))
}

/** `items` so that each comes after those that its definition names. For a refId defined twice the last definition counts. */
function inOrderOfUse<I extends { refId: string }, D extends { refId: string }>(
  items: I[],
  definitions: D[],
  namedBy: (definition: D) => string[],
): I[] {
  const byRefId = new Map(definitions.map((definition) => [definition.refId, definition]))
  const depths = new Map<string, number>()
  const depthOf = (refId: string): number => {
    const definition = byRefId.get(refId)
    const depth = depths.get(refId) ?? (definition ? Math.max(0, ...namedBy(definition).map((named) => depthOf(named) + 1)) : 0)
    depths.set(refId, depth)
    return depth
  }
  return [...items].sort((a, b) => depthOf(a.refId) - depthOf(b.refId))
}

function compareValues(path: string, from: unknown, to: unknown): FieldChange[] {
  // The caller's own data is one value: what is in it has no meaning here.
  if (isMap(from) && isMap(to) && path !== 'additionalMetaData') {
    const keys = [...new Set([...Object.keys(to), ...Object.keys(from)])]
    return keys.flatMap((key) => {
      const [was, is] = [from[key] ?? null, to[key] ?? null]
      const inner = join(path, key)
      if (inner === 'entitlements')
        return compareKeyed(inner, was as EntitlementDefinition[], is as EntitlementDefinition[], ({ feature }) => JSON.stringify(feature))
      if (inner === 'prices') return compareKeyed(inner, was as PriceDefinition[], is as PriceDefinition[], priceKey)
      return compareValues(inner, was, is)
    })
  }
  return canonical(from) === canonical(to) ? [] : [{ path, from, to }]
}

function compareKeyed<T>(path: string, from: T[], to: T[], keyOf: (item: T) => string): FieldChange[] {
  const old = new Map(from.map((item) => [keyOf(item), item]))
  const given = new Map(to.map((item) => [keyOf(item), item]))
  const fields = [...new Set([...given.keys(), ...old.keys()])].flatMap((key) =>
    compareValues(`${path}[${key}]`, old.get(key) ?? null, given.get(key) ?? null),
  )
  const [orderBefore, orderAfter] = [[...old.keys()].filter((key) => given.has(key)), [...given.keys()].filter((key) => old.has(key))]
  if (canonical(orderBefore) !== canonical(orderAfter)) fields.push({ path: `${path}.order`, from: orderBefore, to: orderAfter })
  return fields
}

const canonical = (value: unknown) => JSON.stringify(sortKeys(value))
