/** Small documents for the tests of the catalog. */
import type { CatalogDocument, CatalogProblem } from '../../../src/catalog/document/document.js'
import { type ParseOptions, parseCatalog } from '../../../src/catalog/document/parse.js'

export const emptyCatalog: CatalogDocument = { features: [], products: [], plans: [], addons: [], coupons: [] }

type Definition = Record<string, unknown>

/** A valid document with one feature of each sort and one product; each list may be replaced. */
export function documentWith(lists: Partial<Record<keyof CatalogDocument, unknown>> = {}): Definition {
  return { features: someFeatures, products: [{ refId: 'cloud' }], ...lists }
}

export const someFeatures = [
  { refId: 'sso', type: 'BOOLEAN' },
  { refId: 'storage', type: 'NUMBER' },
  { refId: 'regions', type: 'ENUM', enumValues: ['eu', 'us', 'ap'] },
  { refId: 'calls', type: 'NUMBER', meter: 'Incremental' },
  { refId: 'seats', type: 'NUMBER', meter: 'Fluctuating' },
]

export const planWith = (fields: Definition): Definition => ({ refId: 'basic', product: 'cloud', ...fields })

/** A document whose only plan has these entitlements. */
export const entitling = (...entitlements: unknown[]): Definition => documentWith({ plans: [planWith({ entitlements })] })

/** A document whose only plan has these prices. */
export const pricing = (...prices: unknown[]): Definition => documentWith({ plans: [planWith({ prices })] })

const nothingInForce: ParseOptions = { current: null, archiveMissing: false }

/** The parsed document; fails with its problems when it is refused. */
export function parsed(input: unknown, options = nothingInForce): CatalogDocument {
  const result = parseCatalog(input, options)
  if ('problems' in result) throw new Error(result.problems.map(({ path, message }) => `${path}: ${message}`).join('\n'))
  return result.catalog
}

/** Why the document is refused, as `path: message`; empty when it is not. */
export function refusals(input: unknown, options = nothingInForce): string[] {
  const result = parseCatalog(input, options)
  return 'problems' in result ? result.problems.map(({ path, message }: CatalogProblem) => `${path}: ${message}`) : []
}
