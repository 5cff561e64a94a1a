/** The fallback of the request replaces the global one; nothing of the two is merged. Null: none is given, so access is denied. */
export function chooseFallback(ofRequest, global, featureId) {
    return ofRequest ?? global.get(featureId) ?? null;
}
const knownFields = ['hasAccess', 'usageLimit', 'isUnlimited'];
/**
 * Reads ENTITLEMENTS_FALLBACK: a JSON object from feature identifier to `{hasAccess, usageLimit?, isUnlimited?}`.
 * @throws Error that names every broken entry
 */
export function parseGlobalFallbacks(text) {
    let parsed;
    try {
        parsed = JSON.parse(text);
    }
    catch (error) {
        throw new Error(`is not JSON (${error.message})`);
    }
    if (!isObject(parsed))
        throw new Error('must be a JSON object from feature identifier to fallback');
    const problems = Object.entries(parsed).flatMap(([featureId, fallback]) => problemsOf(fallback).map((problem) => `"${featureId}" ${problem}`));
    if (problems.length > 0)
        throw new Error(`is broken: ${problems.join('; ')}`);
    return new Map(Object.entries(parsed).map(([featureId, { hasAccess, usageLimit, isUnlimited }]) => [
        featureId,
        { hasAccess, usageLimit: usageLimit ?? null, isUnlimited: isUnlimited ?? false, enumValues: [] },
    ]));
}
function problemsOf(fallback) {
    if (!isObject(fallback))
        return ['must be an object with hasAccess'];
    const problems = Object.keys(fallback)
        .filter((field) => !knownFields.includes(field))
        .map((field) => `has an unknown field ${field} (known: ${knownFields.join(', ')})`);
    const { hasAccess, usageLimit, isUnlimited } = fallback;
    if (typeof hasAccess !== 'boolean')
        problems.push('needs hasAccess, true or false');
    if (usageLimit !== undefined && usageLimit !== null && (typeof usageLimit !== 'number' || usageLimit < 0)) {
        problems.push('has a usageLimit that is not a number of 0 or more');
    }
    if (isUnlimited !== undefined && isUnlimited !== null && typeof isUnlimited !== 'boolean')
        problems.push('has an isUnlimited that is not true or false');
    return problems;
}
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
//# sourceMappingURL=fallback.js.map