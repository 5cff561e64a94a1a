/** What applying a document to the catalog in force comes to. */
import { jsonLength } from '../../kernel/weight.js'
import { type CatalogChange, compareCatalogs } from './difference.js'
import type {
  AddonDefinition,
  CatalogDocument,
  CatalogProblem,
  CouponDefinition,
  FeatureDefinition,
  PlanDefinition,
  ProductDefinition,
} from './document.js'
import { contentVersion, exportCatalog } from './export.js'
import { normalise, overlay } from './normalise.js'
import { parseCatalog, type ReadCatalog } from './parse.js'
import { maxCatalogInForce } from './text-limits.js'

/** By the kind of a change. */
export interface DefinitionOf {
  feature: FeatureDefinition
  /** Whose `events` are the meter. */
  meter: FeatureDefinition
  product: ProductDefinition
  plan: PlanDefinition
  addon: AddonDefinition
  coupon: CouponDefinition
}

export interface PlannedChange {
  change: CatalogChange
  /** The definition as it was; null: there was none. */
  was: DefinitionOf[keyof DefinitionOf] | null
  /** As it will be; null: there will be none. */
  is: DefinitionOf[keyof DefinitionOf] | null
}

/** What is to be of that kind, of what changes. */
export const definitionsOf = <K extends keyof DefinitionOf>(kind: K, changes: readonly PlannedChange[]): DefinitionOf[K][] =>
  changes.flatMap(({ change, is }) => (change.kind === kind && is ? [is as DefinitionOf[K]] : []))

export interface PlanOptions {
  /** What the document leaves out is archived; otherwise it stays. */
  archiveMissing: boolean
  /** Of the catalog that the document was made from (`contentVersion`); null: whatever is in force. */
  expectedVersion: string | null
}

export interface CatalogPlan {
  /** Of the catalog in force, when another one was expected; else null. */
  movedTo: string | null
  /** Why the document cannot be applied; empty: it can. */
  problems: CatalogProblem[]
  /** In an order in which they can be made (compareCatalogs). */
  changes: PlannedChange[]
  /** A definition of the document that is in force already; null: all are new. */
  known: string | null
  /** See publishedForAll. */
  forAll: ReadonlySet<string>
}

/** `read`: what JSON or YAML holds, or why that is not known. */
export function planCatalog(read: ReadCatalog, current: CatalogDocument, { archiveMissing, expectedVersion }: PlanOptions): CatalogPlan {
  const version = expectedVersion === null ? null : contentVersion(current)
  const movedTo = version === expectedVersion ? null : version
  const refused = (problems: CatalogProblem[]): CatalogPlan => ({ movedTo, problems, changes: [], known: null, forAll: new Set() })

  const parsed = 'problems' in read ? read : parseCatalog(read.input, { current, archiveMissing })
  if ('problems' in parsed) return refused(parsed.problems)
  const wanted = parsed.catalog
  const after = archiveMissing ? normalise(wanted) : overlay(current, wanted)
  const problems = checkSize(current, after)
  if (problems.length > 0) return refused(problems)

  const [was, is] = [indexed(normalise(current)), indexed(after)]
  const changes = compareCatalogs(current, wanted, { archiveMissing }).map((change): PlannedChange => {
    const { kind, refId, action } = change
    return { change, was: action === 'create' ? null : was[kind].get(refId)!, is: action === 'archive' ? null : is[kind].get(refId)! }
  })
  const created = new Set(changes.filter(({ change }) => change.action === 'create').map(({ change }) => change.refId))
  const known =
    Object.values<{ refId: string }[]>({ ...wanted })
      .flat()
      .find(({ refId }) => !created.has(refId))?.refId ?? null
  return { movedTo, problems, changes, known, forAll: parsed.forAll }
}

/** One that is larger already may become smaller, step by step. */
function checkSize(current: CatalogDocument, after: CatalogDocument): CatalogProblem[] {
  const size = jsonLength(exportCatalog(after))
  if (size <= maxCatalogInForce || size <= jsonLength(exportCatalog(current))) return []
  return [
    {
      path: '',
      message: `would make the catalog about ${size} characters long as JSON, and at most ${maxCatalogInForce} are allowed: archive what is not sold any more`,
    },
  ]
}

function indexed({ features, products, plans, addons, coupons }: CatalogDocument) {
  const byRefId = <T extends { refId: string }>(items: T[]) => new Map<string, T>(items.map((item) => [item.refId, item]))
  const feature = byRefId(features)
  return { feature, meter: feature, product: byRefId(products), plan: byRefId(plans), addon: byRefId(addons), coupon: byRefId(coupons) }
}
