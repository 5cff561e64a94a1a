/** A catalog written down as a person would write it. */
import { createHash } from 'node:crypto'
import * as decimal from '../../kernel/decimal.js'
import type { CatalogDocument } from './document.js'
import { isMap } from './document-path.js'
import { normalise, sortKeys } from './normalise.js'

/** Keys whose values belong to the caller and are written as they are, nulls and all. */
const verbatim = new Set(['additionalMetaData', 'filters'])
const decimals = new Set(['amount', 'flatPrice', 'limit', 'percentOff', 'unitPrice', 'upTo'])

export type WrittenCatalog = { version: string } & Record<string, unknown>

/**
 * The document as plain JSON, without what says nothing (null, false, empty lists) and with decimals as numbers where a number carries
 * them exactly, and with the version of its content. Parsing it answers the normalised document again.
 */
export function exportCatalog(document: CatalogDocument): WrittenCatalog {
  const written = write('', normalise(document)) as Record<string, unknown>
  return { version: versionOf(written), ...written }
}

/**
 * Names what is sold: the same for the same content, whatever it was before and in whichever environment, and another one for any other.
 * Of the written form, so that a property that is new in a release, and says nothing yet, changes no version.
 */
export const contentVersion = (document: CatalogDocument): string => exportCatalog(document).version

// Begins with a letter: without quotes in YAML it is text, never a number.
function versionOf(written: Record<string, unknown>): string {
  const digest = createHash('sha256').update(JSON.stringify(sortKeys(written)))
  return `v${digest.digest('hex').slice(0, 16)}`
}

function write(key: string, value: unknown): unknown {
  if (decimals.has(key)) return writeDecimal(value as decimal.Decimal)
  if (verbatim.has(key)) return value
  if (Array.isArray(value)) return value.map((element) => write('', element))
  if (!isMap(value)) return value
  const said = Object.entries(value).filter(
    ([, inner]) => inner !== null && inner !== false && !(Array.isArray(inner) && inner.length === 0),
  )
  return Object.fromEntries(said.map(([name, inner]) => [name, write(name, inner)]))
}

function writeDecimal(value: decimal.Decimal): number | decimal.Decimal {
  const number = decimal.toNumber(value)
  return decimal.fromNumber(number) === value ? number : value
}
