/**
 * How large what is sent may be, for every field of an input and every argument. What a type or a name says holds wherever nothing else is said; exceptions
 * have a line of their own. The door holds all values against it (`operations/input-bounds.ts`); the types of the schema are what they were.
 */
import { type GraphQLInputType, getNamedType, isScalarType } from 'graphql'
import { maxCatalogBytes, maxCatalogDepth, maxMetaDataBytes, maxTextCharacters } from '../../../catalog/document/text-limits.js'
import { maxIdentifierLength } from '../../../kernel/id.js'

export type Bound =
  /** An identifier that somebody chose: 1 to 255 characters, none of them for control. */
  | { is: 'identifier' }
  /** `characters` at most, as JavaScript counts them. */
  | { is: 'text'; characters: number }
  /** Any JSON: `bytes` at most as JSON, `depth` levels of lists and objects. */
  | { is: 'json'; bytes: number; depth: number }
  /** A number, an enum value or an object of the schema: its type says the rest. */
  | { is: 'typed' }
  /** Of an item of a call that reports many: looked at with its item, so that a bad one is named and the others are stored. */
  | { is: 'checked later' }

/** In a list, wherever it is. */
export const maxListItems = 1_000
/**
 * All that is in the variables of a request, in each place where it is used, and the characters of its texts there: a thousand events have some tens of thousands,
 * and a body half as many characters. A short document uses a variable a hundred times.
 */
export const maxValues = 100_000
export const maxCharacters = 10_000_000
/**
 * Objects of the schema's types among the variables, items of calls that report many aside: graphql-js and type-graphql take some 20 microseconds for each, in
 * one go. A filter has two for each comparison, and no more comparisons than a statement takes; an import has some for each of its customers.
 */
export const maxObjects = { query: 600, mutation: 10_000, subscription: 600 }
/** Of what was no text, or is in no field: the longest that an error shall quote. */
export const maxStrayBytes = 4_000

export const maxJsonBytes = maxMetaDataBytes
export const maxJsonDepth = 32
const maxEventBytes = 1_000_000

/** Whose name says that it names something. */
const identifier = /^(?:id|refId|idempotencyKey|eventName|groupBy|\w+(?:Id|RefId|Ids))$/

/** Characters of texts, by the name of the field. A text that is not named here is a word: as long as an identifier. */
const textLengths: Readonly<Record<string, number>> = {
  ...maxTextCharacters,
  addressLine1: 1_000,
  addressLine2: 1_000,
  after: 4_000,
  before: 4_000,
  cancelUrl: 2_048,
  costFormula: 4_000,
  customerName: 1_000,
  email: 1_000,
  errorMessage: 4_000,
  line1: 1_000,
  line2: 1_000,
  successUrl: 2_048,
  url: 2_048,
  ...Object.fromEntries(
    ['eq', 'gt', 'gte', 'iLike', 'in', 'like', 'lt', 'lte', 'neq', 'notILike', 'notIn', 'notLike'].map((name) => [name, 1_000]),
  ),
}

/** What its name does not say, by `Type.field` or `Type.field.argument`. */
const exceptions: Readonly<Record<string, Bound>> = {
  'Mutation.applyCatalog.input': { is: 'json', bytes: maxCatalogBytes, depth: maxCatalogDepth },
  'UsageEventReplacementInput.dimensions': { is: 'json', bytes: maxEventBytes, depth: maxJsonDepth },
  'UsageEventReportInput.dimensions': { is: 'json', bytes: maxEventBytes, depth: maxJsonDepth },
}

/** Of a field of an input or an argument, `place` being its full name; of the items when it is a list. */
export function boundOf(place: string, name: string, type: GraphQLInputType): Bound {
  const named = getNamedType(type)
  if (exceptions[place]) return exceptions[place]
  if (!isScalarType(named)) return { is: 'typed' }
  switch (named.name) {
    case 'JSON':
      return { is: 'json', bytes: maxJsonBytes, depth: maxJsonDepth }
    case 'String':
      return identifier.test(name) ? { is: 'identifier' } : { is: 'text', characters: textLengths[name] ?? maxIdentifierLength }
    case 'ConnectionCursor':
      return { is: 'text', characters: textLengths[name] ?? maxIdentifierLength }
    default:
      return { is: 'typed' }
  }
}
