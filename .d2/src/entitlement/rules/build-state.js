import * as decimal from '../../kernel/decimal.js';
import { seriesKey } from '../../metering/model/series.js';
import { toAnsweredUnits } from '../../metering/model/unit-transformation.js';
import { boundaryAfter, decideWinners, stateDenial, winnerPeriodAt } from './holdings.js';
/** The state that answers everything, from the winners and the usage of their series in the period that contains `now`. */
export function buildState(holdings, winners, usages, now) {
    return {
        environmentId: holdings.environmentId,
        customerId: holdings.customerRefId,
        resourceId: holdings.resourceRefId,
        version: holdings.version,
        accessVersion: holdings.accessVersion,
        deniedReason: stateDenial(holdings, now),
        validUntil: boundaryAfter(holdings, now),
        next: nextState(holdings, winners, usages, now),
        entitlements: winners.map((winner) => ({ ...winner.entitlement, usage: usageIn(winner, usages, holdings.version, now) })),
    };
}
/** What is held from the next instant on at which time alone changes it. Null: there is no such instant. */
function nextState(holdings, winners, usages, now) {
    const validFrom = firstBoundary(holdings, winners, now);
    if (validFrom === null)
        return null;
    const next = decideWinners(holdings, validFrom);
    const series = new Map(winners.map((winner) => [winner.entitlement.feature.id, winner]));
    const entitlements = [];
    const unknownFeatureIds = [];
    for (const winner of next) {
        const { feature } = winner.entitlement;
        const usage = nextUsage(winner, series.get(feature.id), { usages, version: holdings.version, validFrom, now });
        if (usage === undefined)
            unknownFeatureIds.push(feature.refId);
        else
            entitlements.push({ ...winner.entitlement, usage });
    }
    const validUntil = firstBoundary(holdings, next, validFrom);
    return { validFrom, validUntil, deniedReason: stateDenial(holdings, validFrom), entitlements, unknownFeatureIds };
}
function firstBoundary(holdings, winners, now) {
    const boundaries = [boundaryAfter(holdings, now), ...winners.map(({ entitlement }) => entitlement.validUntil)];
    const future = boundaries.filter((at) => at !== null);
    return future.length > 0 ? Math.min(...future) : null;
}
/**
 * Usage that begins with the next state is dated by that: it is none, whatever is reported until then. Other usage goes on from what it is now.
 * Undefined: it is not known.
 */
function nextUsage(winner, before, { usages, version, validFrom, now }) {
    const { series } = winner;
    if (!series)
        return null;
    const { start, end } = winnerPeriodAt(winner, validFrom);
    const none = { currentUsage: decimal.zero, periodStart: start, periodEnd: end };
    if ((start ?? series.anchor ?? Number.NEGATIVE_INFINITY) >= validFrom)
        return { ...none, updatedAt: validFrom };
    if (!before?.series || seriesKey(before.series) !== seriesKey(series))
        return undefined;
    // It may turn over before then; what is reported later is heard of by who holds the state.
    if (winnerPeriodAt(before, now).start !== start)
        return { ...none, updatedAt: version };
    return { ...usageIn(before, usages, version, now), periodStart: start, periodEnd: end };
}
/**
 * The usage of the series at the state's version. `updatedAt` is that version even when the last report is older: so usage from before a change of
 * series or period is never taken for newer than this.
 */
function usageIn(winner, usages, version, now) {
    const { series, entitlement } = winner;
    if (!series)
        return null;
    const period = winnerPeriodAt(winner, now);
    const currentUsage = usages.get(seriesKey(series))?.currentUsage ?? decimal.zero;
    return {
        currentUsage: toAnsweredUnits(currentUsage, entitlement.feature.unitTransformation),
        periodStart: period.start,
        periodEnd: period.end,
        updatedAt: version,
    };
}
//# sourceMappingURL=build-state.js.map