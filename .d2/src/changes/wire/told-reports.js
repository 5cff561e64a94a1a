import * as decimal from '../../kernel/decimal.js';
/** The first line. */
export function packTold(told) {
    const periods = [];
    const reports = told.map(({ counter, customerId, resourceId, featureId, periodStart, periodEnd }) => {
        let period = periods.findIndex(([start, end]) => start === periodStart && end === periodEnd);
        if (period < 0)
            period = periods.push([periodStart, periodEnd]) - 1;
        return resourceId === null ? [counter, customerId, featureId, period] : [counter, customerId, featureId, period, resourceId];
    });
    return JSON.stringify([periods, reports]);
}
/** `told`: all three lines. */
export function unpackTold(told) {
    const [first = '', second = '', third = ''] = told.split('\n');
    const [periods, reports] = JSON.parse(first);
    const usages = second.split(',');
    const versions = third.split(',');
    return reports.map(([counter, customerId, featureId, period, resourceId = null]) => {
        const [periodStart, periodEnd] = periods[period];
        const usage = { currentUsage: decimal.fromText(usages[counter]), periodStart, periodEnd, updatedAt: Number(versions[counter]) };
        return { customerId, resourceId, featureId, usage };
    });
}
//# sourceMappingURL=told-reports.js.map