/** The answer of a check whose question could not be answered: API unreachable, too slow or failing, offline mode, wrong type. */
export interface Fallback {
  hasAccess: boolean
  /** Null: not said. Also the value of a numeric feature. */
  usageLimit: number | null
  isUnlimited: boolean
  enumValues: readonly string[]
}

/** Feature identifier to fallback. */
export type GlobalFallbacks = ReadonlyMap<string, Fallback>

/** The fallback of the request replaces the global one; nothing of the two is merged. Null: none is given, so access is denied. */
export function chooseFallback(ofRequest: Fallback | null, global: GlobalFallbacks, featureId: string): Fallback | null {
  return ofRequest ?? global.get(featureId) ?? null
}

const knownFields = ['hasAccess', 'usageLimit', 'isUnlimited']

/**
 * Reads ENTITLEMENTS_FALLBACK: a JSON object from feature identifier to `{hasAccess, usageLimit?, isUnlimited?}`.
 * @throws Error that names every broken entry
 */
export function parseGlobalFallbacks(text: string): GlobalFallbacks {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch (error) {
    throw new Error(`is not JSON (${(error as Error).message})`)
  }
  if (!isObject(parsed)) throw new Error('must be a JSON object from feature identifier to fallback')
  const problems = Object.entries(parsed).flatMap(([featureId, fallback]) =>
    problemsOf(fallback).map((problem) => `"${featureId}" ${problem}`),
  )
  if (problems.length > 0) throw new Error(`is broken: ${problems.join('; ')}`)
  return new Map(
    Object.entries(parsed as Record<string, { hasAccess: boolean; usageLimit?: number | null; isUnlimited?: boolean | null }>).map(
      ([featureId, { hasAccess, usageLimit, isUnlimited }]) => [
        featureId,
        { hasAccess, usageLimit: usageLimit ?? null, isUnlimited: isUnlimited ?? false, enumValues: [] },
      ],
    ),
  )
}

function problemsOf(fallback: unknown): string[] {
  if (!isObject(fallback)) return ['must be an object with hasAccess']
  const problems = Object.keys(fallback)
    .filter((field) => !knownFields.includes(field))
    .map((field) => `has an unknown field ${field} (known: ${knownFields.join(', ')})`)
  const { hasAccess, usageLimit, isUnlimited } = fallback
  if (typeof hasAccess !== 'boolean') problems.push('needs hasAccess, true or false')
  if (usageLimit !== undefined && usageLimit !== null && (typeof usageLimit !== 'number' || usageLimit < 0)) {
    problems.push('has a usageLimit that is not a number of 0 or more')
  }
  if (isUnlimited !== undefined && isUnlimited !== null && typeof isUnlimited !== 'boolean')
    problems.push('has an isUnlimited that is not true or false')
  return problems
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)
