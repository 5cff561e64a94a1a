import * as decimal from '../../kernel/decimal.js';
import { usagePeriodAt } from './usage-period.js';
const dayMs = 86_400_000;
/** A line has at most about this many points. */
const finest = [
    ['HOUR', 7 * dayMs],
    ['DAY', 200 * dayMs],
    ['WEEK', 800 * dayMs],
];
const maxSlices = 2_000;
/** The finest steps that give a readable line. */
export function granularityOf(start, end) {
    return finest.find(([, maxMs]) => end - start <= maxMs)?.[0] ?? 'MONTH';
}
const calendarRules = {
    HOUR: 'SubscriptionStart',
    DAY: 'SubscriptionStart',
    WEEK: 'EveryMonday',
    MONTH: 'StartOfTheMonth',
    YEAR: 'SubscriptionStart',
};
/** Periods of the calendar: full hours, days, weeks from Monday, months and years, as clocks in the time zone show them. */
export function calendarPeriods(period, timeZone, near) {
    const rule = calendarRules[period];
    // A local midnight (and so a local full hour) of a month's first day to lay them out from.
    const month = usagePeriodAt({ period: 'MONTH', rule: 'StartOfTheMonth', anchor: near, timeZone, at: near }).start;
    if (period !== 'YEAR')
        return { period, rule, anchor: month, timeZone };
    const [year] = new Intl.DateTimeFormat('en', { year: 'numeric', timeZone }).format(near).split('/');
    const inJanuary = Date.UTC(Number(year), 0, 15);
    const january = usagePeriodAt({ period: 'MONTH', rule: 'StartOfTheMonth', anchor: near, timeZone, at: inJanuary }).start;
    return { period, rule, anchor: january, timeZone };
}
/**
 * Null when the range has too many slices to be answered. `reset` null: usage is never reset. `granularity` null: one slice for each time that usage is
 * reset.
 */
export function planHistory({ start, end, granularity, timeZone }, reset) {
    const stepsBy = granularity === null ? reset : calendarPeriods(granularity, timeZone, start);
    const steps = boundaries(stepsBy, start, end);
    const resets = reset ? boundaries(reset, start, end) : [];
    if (!steps || !resets)
        return null;
    const cuts = [...new Set([...steps, ...resets.filter((at) => at > steps[0])])].sort((a, b) => a - b);
    if (cuts.length > maxSlices)
        return null;
    const isReset = new Set(resets);
    const slices = cuts.map((cut) => ({
        start: cut,
        isReset: isReset.has(cut),
        period: resets.findLastIndex((at) => at <= Math.max(cut, start)),
    }));
    return { slices, end, from: resets[0] ?? null, resets };
}
/** Starts of the periods that touch [start, end); the first may be before it. */
function boundaries(rule, start, end) {
    const found = [];
    for (let at = start; at < end;) {
        const period = usagePeriodAt({ ...rule, at });
        found.push(period.start);
        if (found.length > maxSlices)
            return null;
        at = period.end;
    }
    return found;
}
/** The line. A part keeps what it had until it has usage again or usage starts again. */
export function drawLine(plan, aggregation, usages) {
    const bySlice = new Map();
    for (const usage of usages)
        bySlice.set(usage.cut, [...(bySlice.get(usage.cut) ?? []), usage]);
    const held = new Map();
    const take = (usage) => {
        const before = held.get(usage.part);
        if (!before || before.period <= usage.period)
            held.set(usage.part, usage);
    };
    // What was before the first cut.
    for (const usage of bySlice.get(-1) ?? [])
        take(usage);
    return plan.slices.map(({ start, isReset, period }, index) => {
        for (const usage of bySlice.get(index) ?? [])
            take(usage);
        const parts = [...held.values()].filter((usage) => usage.period === period);
        return { at: start, value: together(aggregation, parts), isReset };
    });
}
function together(aggregation, parts) {
    const counted = aggregation === 'SUM' ? parts : parts.filter(({ events }) => events > 0);
    if (counted.length === 0)
        return decimal.zero;
    const usages = counted.map(({ usage }) => usage);
    if (aggregation === 'MAX')
        return usages.reduce(decimal.max);
    if (aggregation === 'MIN')
        return usages.reduce((a, b) => (decimal.compare(a, b) < 0 ? a : b));
    const sum = usages.reduce(decimal.add);
    return aggregation === 'SUM' ? sum : decimal.divide(sum, decimal.fromNumber(counted.reduce((all, { events }) => all + events, 0)));
}
//# sourceMappingURL=history.js.map