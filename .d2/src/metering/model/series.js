import { usagePeriodAt } from './usage-period.js';
/** The usage period of the series that contains `at`. */
export function seriesPeriodAt(series, at) {
    const { resetPeriod: period, resetRule: rule, anchor, timeZone } = series;
    if (period === null || rule === null || anchor === null || timeZone === null)
        return { start: null, end: null };
    return usagePeriodAt({ period, rule, anchor, timeZone, at });
}
/** Where the usage of a period of the series begins: nothing before the anchor counts, also in a period that begins before it. */
export function startOfRange({ anchor }, period) {
    return anchor === null || (period.start !== null && period.start > anchor) ? period.start : anchor;
}
/** What the usage of a customer without an entitlement to the feature adds up to: a lifetime sum. */
export function unentitledSeries(customerId, resourceId, featureId) {
    return { customerId, resourceId, featureId, resetPeriod: null, resetRule: null, anchor: null, timeZone: null };
}
/** The same text for the same series, and for no other. */
export function seriesKey(series) {
    const { customerId, resourceId, featureId, resetPeriod, resetRule, anchor, timeZone } = series;
    return `${customerId}|${resourceId}|${featureId}|${resetPeriod}|${resetRule}|${anchor}|${timeZone}`;
}
//# sourceMappingURL=series.js.map