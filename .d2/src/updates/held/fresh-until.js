/** The next instant at which the answer may be another one without any change: a source begins or ends, or usage starts again. */
export function freshUntil(state) {
    let until = state.validUntil ?? Number.POSITIVE_INFINITY;
    for (const { feature, usage, usageRestartsAt, validUntil } of state.entitlements) {
        const periodEnd = feature.meterType === 'Incremental' ? usage?.periodEnd : null;
        until = Math.min(until, periodEnd ?? until, usageRestartsAt ?? until, validUntil ?? until);
    }
    return until;
}
//# sourceMappingURL=fresh-until.js.map