/** What a catalog's text may be at most, found out by one look at its characters: the library takes minutes for some texts of a megabyte. */

/** Ten thousand entitlements have about that. */
export const maxCatalogBytes = 1024 * 1024
/** About so many characters, of all that is in force as JSON. */
export const maxCatalogInForce = 4 * maxCatalogBytes
/** Each, of one plan or add-on: its customers hold all of them. Of a plan that inherits also the features that it gives in all. */
export const maxEntitlements = 1_000
export const maxPrices = 1_000
/** Of texts in definitions, by their key; all others are as long as identifiers. */
export const maxTextCharacters: Readonly<Record<string, number>> = { description: 4_000, displayName: 1_000, name: 1_000 }
/** Of metadata as JSON. */
export const maxMetaDataBytes = 64 * 1024
/** Base plans of a plan, each the base plan of the one before; the same of add-ons that need each other. */
export const maxDefinitionDepth = 32
/** Of lists and maps in each other. */
export const maxCatalogDepth = 32
/** Brackets that are open at a time; some may stand in texts and mean nothing. */
const maxOpenBrackets = 100

/** What is wrong with the text, or null. */
export function textFault(text: string): string | null {
  if (text.length > maxCatalogBytes || Buffer.byteLength(text) > maxCatalogBytes) return tooLarge
  let open = 0
  let marks = 0
  for (let at = 0; at < text.length; at++) {
    switch (text[at]) {
      case '[':
      case '{':
        if (++open > maxOpenBrackets) return tooDeep
        break
      case ']':
      case '}':
        if (open > 0) open--
        break
      // `- - - a` is a list in a list in a list.
      case '-':
      case '?':
        if (text[at + 1] === ' ' && ++marks > maxOpenBrackets) return tooDeep
        break
      case '\n':
        marks = 0
    }
  }
  return null
}

export const tooLarge = `has more than ${maxCatalogBytes} bytes: apply it in parts, each with archiveMissing: false`
export const tooDeep = `nests deeper than ${maxCatalogDepth} levels`

export function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1))
}
