/** Paths inside a document, as text: `plans[2].entitlements[0].feature`, `additionalMetaData["a b"]`. */

/** The path of `key` in the map at `path`; the document itself is at ''. */
export function join(path: string, key: string): string {
  if (!/^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(key)) return `${path}[${JSON.stringify(key)}]`
  return path === '' ? key : `${path}.${key}`
}

export function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
