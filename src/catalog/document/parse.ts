/** From what was sent to a catalog document, or to everything that is wrong with it. */
import { YAMLParseError } from 'yaml'
import type { z } from 'zod'
import { shortened } from '../../kernel/nearest.js'
import type { EntitlementBehavior, PricingType } from '../model/package.js'
import { publishedForAll } from './audience.js'
import { checkCatalog } from './checks.js'
import type { AddonDefinition, CatalogDocument, CatalogProblem, PlanDefinition } from './document.js'
import { isMap } from './document-path.js'
import type { Located, LocatedCatalog, LocatedPackage } from './located.js'
import { longTexts } from './long-texts.js'
import { addMissing, normalise } from './normalise.js'
import { type Findings, read, unknownKey } from './read.js'
import { addonShape, couponShape, entitlementShapes, featureShape, planShape, priceShape, productShape } from './shape.js'
import { isDeeper, maxCatalogBytes, maxCatalogDepth, textFault, tooDeep, tooLarge } from './text-limits.js'
import { readYaml } from './yaml.js'

/** `forAll`: see publishedForAll. */
export type ParsedCatalog = { catalog: CatalogDocument; forAll: ReadonlySet<string> } | { problems: CatalogProblem[] }

export interface ParseOptions {
  /** The catalog in force, some of whose properties never change. Null: there is none yet. */
  current: CatalogDocument | null
  /** Whether what the document leaves out goes away. If not, the document may name what only `current` defines. */
  archiveMissing: boolean
}

const sections: readonly string[] = ['features', 'products', 'plans', 'addons', 'coupons']
const keys: readonly string[] = ['version', ...sections]

/**
 * The document in its normal form (see normalise), all defaults filled in, or **every** problem with its path, in the order of the
 * document. `input` is what JSON or YAML holds. A definition that cannot be read hides no problem of the others.
 * The answered catalog holds what the document defines, not what `current` adds to it.
 */
export function parseCatalog(input: unknown, { current, archiveMissing }: ParseOptions): ParsedCatalog {
  if (!isMap(input)) return { problems: [{ path: '', message: `must be a map with some of ${sections.join(', ')}` }] }
  const findings: Findings = { problems: [], unread: [] }
  for (const key of Object.keys(input)) {
    if (!keys.includes(key)) findings.problems.push(unknownKey('', key, keys))
  }
  // What the document was made from; whoever applies it says whether that still has to be in force.
  if (!['string', 'undefined'].includes(typeof (input.version ?? undefined)))
    findings.problems.push({ path: 'version', message: 'must be text, as it was exported' })
  const located: LocatedCatalog = {
    features: readSection(input, 'features', featureShape, findings),
    products: readSection(input, 'products', productShape, findings),
    plans: readSection(input, 'plans', planShape, findings).map((plan) => readPackage(plan, 'Override', findings)),
    addons: readSection(input, 'addons', addonShape, findings).map((addon) => readPackage(addon, 'Increment', findings)),
    coupons: readSection(input, 'coupons', couponShape, findings),
  }
  const inForce = current === null || archiveMissing ? located : withCurrent(located, current)
  const problems = [...findings.problems, ...longTexts(located, current), ...checkCatalog(inForce, findings.unread, current)]
  if (problems.length > 0) return { problems: first(inDocumentOrder(problems)) }
  return { catalog: normalise(toDocument(located)), forAll: publishedForAll(input) }
}

/** As parseCatalog, from YAML or JSON text. A problem of the text itself has its line and column as path. */
export function parseCatalogText(text: string, options: ParseOptions): ParsedCatalog {
  const read = readCatalogText(text)
  return 'problems' in read ? read : parseCatalog(read.input, options)
}

/** What parseCatalog takes, from text. */
export type ReadCatalog = { input: unknown } | { problems: CatalogProblem[] }

export function readCatalogText(text: string): ReadCatalog {
  const fault = textFault(text)
  if (fault) return { problems: [{ path: '', message: fault }] }
  try {
    const input = readYaml(text)
    // An anchor may contain its own alias, and then nothing that walks the document comes to an end.
    if (isDeeper(input, maxCatalogDepth)) return { problems: [{ path: '', message: tooDeep }] }
    // Aliases make more of it than was written.
    if (JSON.stringify(input ?? null).length > maxCatalogBytes) return { problems: [{ path: '', message: tooLarge }] }
    return { input }
  } catch (error) {
    const [position] = (error instanceof YAMLParseError && error.linePos) || []
    const [message = ''] = String((error as Error).message).split('\n')
    return { problems: [{ path: position ? `line ${position.line}, column ${position.col}` : '', message: shortened(message) }] }
  }
}

/** What a definition was read from, beside what was read. */
interface Reading<T> extends Located<T> {
  raw: unknown
}

function readSection<S extends z.ZodType>(
  input: Record<string, unknown>,
  section: string,
  shape: S,
  findings: Findings,
): Reading<z.output<S>>[] {
  return readList(input[section], section, findings).map((raw, position) => {
    const path = `${section}[${position}]`
    const refId = isMap(raw) && typeof raw.refId === 'string' ? raw.refId : null
    return { path, refId, raw, value: read(shape, raw, path, findings) }
  })
}

function readList(raw: unknown, path: string, findings: Findings): unknown[] {
  if (Array.isArray(raw)) return raw
  if (raw !== undefined && raw !== null) findings.problems.push({ path, message: 'must be a list' })
  return []
}

function readPackage<H extends { pricingType: PricingType | null }>(
  { path, refId, raw, value }: Reading<H>,
  defaultBehavior: EntitlementBehavior,
  findings: Findings,
): LocatedPackage<H & { pricingType: PricingType }> {
  const readAll = <S extends z.ZodType>(key: string, shape: S): (z.output<S> | null)[] => {
    const elements = isMap(raw) ? readList(raw[key], `${path}.${key}`, findings) : []
    return elements.map((element, position) => read(shape, element, `${path}.${key}[${position}]`, findings))
  }
  const entitlements = readAll('entitlements', entitlementShapes[defaultBehavior])
  const prices = readAll('prices', priceShape)
  const pricingType = value?.pricingType ?? (prices.length > 0 ? 'PAID' : 'FREE')
  return { path, refId, value: value && { ...value, pricingType }, entitlements, prices }
}

/** The definitions of the document, and those of the catalog in force that it leaves as they are. Their paths are named by refId: `plans["free"]`. */
function withCurrent(located: LocatedCatalog, current: CatalogDocument): LocatedCatalog {
  const locate = <T extends { refId: string }>(section: string, items: T[]): (Located<T> & { refId: string })[] =>
    items.map((value) => ({ path: `${section}[${JSON.stringify(value.refId)}]`, refId: value.refId, value }))
  const locatePackages = <T extends PlanDefinition | AddonDefinition>(section: string, items: T[]): LocatedPackage<T>[] =>
    locate(section, items).map((item, position) => ({
      ...item,
      entitlements: items[position]!.entitlements,
      prices: items[position]!.prices,
    }))
  return {
    features: addMissing(located.features, locate('features', current.features)),
    products: addMissing(located.products, locate('products', current.products)),
    plans: addMissing(located.plans, locatePackages('plans', current.plans)),
    addons: addMissing(located.addons, locatePackages('addons', current.addons)),
    coupons: addMissing(located.coupons, locate('coupons', current.coupons)),
  }
}

/** Of definitions that were all read. */
function toDocument({ features, products, plans, addons, coupons }: LocatedCatalog): CatalogDocument {
  const packageContent = ({ entitlements, prices }: LocatedPackage<unknown>) => ({
    entitlements: present(entitlements),
    prices: present(prices),
  })
  return {
    features: present(features.map(({ value }) => value)),
    products: present(products.map(({ value }) => value)),
    plans: plans.flatMap((plan) => (plan.value ? [{ ...plan.value, ...packageContent(plan) }] : [])),
    addons: addons.flatMap((addon) => (addon.value ? [{ ...addon.value, ...packageContent(addon) }] : [])),
    coupons: present(coupons.map(({ value }) => value)),
  }
}

function present<T>(values: (T | null)[]): T[] {
  return values.filter((value) => value !== null)
}

/** Who has more has another mistake. */
const maxProblems = 1_000

function first(problems: CatalogProblem[]): CatalogProblem[] {
  const more = problems.length - maxProblems
  return more <= 0 ? problems : [...problems.slice(0, maxProblems), { path: '', message: `there are ${more} problems more` }]
}

/** By section and position; what concerns the document as a whole first, what concerns the catalog in force last. */
function inDocumentOrder(problems: CatalogProblem[]): CatalogProblem[] {
  const orderOf = ({ path }: CatalogProblem): [number, number] => {
    const [, section = '', position] = /^([a-z]+)(?:\[(\d+)\])?/.exec(path) ?? []
    return [sections.indexOf(section), position === undefined ? (path.includes('[') ? Number.MAX_VALUE : -1) : Number(position)]
  }
  return problems.sort((a, b) => {
    const [[sectionA, positionA], [sectionB, positionB]] = [orderOf(a), orderOf(b)]
    return sectionA - sectionB || positionA - positionB
  })
}
