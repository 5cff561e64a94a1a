/** Texts of a document are no longer than the API takes them field by field. A longer one that is in force may stay. */
import { maxIdentifierLength } from '../../kernel/id.js'
import type { CatalogDocument, CatalogProblem } from './document.js'
import { isMap, join } from './document-path.js'
import type { Located, LocatedCatalog, LocatedPackage } from './located.js'
import { maxMetaDataBytes, maxTextCharacters } from './text-limits.js'

/** Of definitions that were read: all that is too long, with its path. `current` null: nothing is in force. */
export function longTexts(
  { features, products, plans, addons, coupons }: LocatedCatalog,
  current: CatalogDocument | null,
): CatalogProblem[] {
  const definitions = <T extends { refId: string }>(items: readonly Located<T>[], before: readonly T[] = []) => {
    const known = new Map(before.map((item) => [item.refId, item]))
    return items.flatMap(({ path, refId, value }) => tooLong(value, known.get(refId ?? ''), path, ''))
  }
  const entitlements = (
    items: readonly LocatedPackage<unknown>[],
    before: readonly Pick<CatalogDocument['plans'][number], 'refId' | 'entitlements'>[] = [],
  ) => {
    const known = new Map(before.map((item) => [item.refId, item.entitlements]))
    return items.flatMap(({ path, refId, entitlements: given }) => {
      const named = new Map(known.get(refId ?? '')?.map((entitlement) => [entitlement.feature, entitlement]))
      return given.flatMap((value, position) => tooLong(value, value && named.get(value.feature), `${path}.entitlements[${position}]`, ''))
    })
  }
  return [
    ...definitions(features, current?.features),
    ...definitions(products, current?.products),
    ...definitions(plans, current?.plans),
    ...entitlements(plans, current?.plans),
    ...definitions(addons, current?.addons),
    ...entitlements(addons, current?.addons),
    ...definitions(coupons, current?.coupons),
  ]
}

function tooLong(value: unknown, before: unknown, path: string, key: string): CatalogProblem[] {
  if (key === 'additionalMetaData') {
    const text = JSON.stringify(value)
    const bytes = Buffer.byteLength(text)
    const isLonger = bytes > maxMetaDataBytes && text !== JSON.stringify(before)
    return isLonger ? [{ path, message: `has ${bytes} bytes as JSON: at most ${maxMetaDataBytes} are taken` }] : []
  }
  if (typeof value === 'string') {
    const most = maxTextCharacters[key] ?? maxIdentifierLength
    const isLonger = value.length > most && value !== before
    return isLonger ? [{ path, message: `has ${value.length} characters: at most ${most} are taken` }] : []
  }
  if (Array.isArray(value))
    return value.flatMap((item, position) =>
      tooLong(item, Array.isArray(before) ? inForce(item, before, position) : undefined, `${path}[${position}]`, key),
    )
  if (!isMap(value)) return []
  return Object.entries(value).flatMap(([name, inner]) => tooLong(inner, isMap(before) ? before[name] : undefined, join(path, name), name))
}

/** A text may have moved in its list. */
function inForce(item: unknown, before: readonly unknown[], position: number): unknown {
  return typeof item === 'string' && item.length > maxIdentifierLength && before.includes(item) ? item : before[position]
}
