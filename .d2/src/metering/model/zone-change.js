import { usagePeriodAt } from './usage-period.js';
/** The stretch that contains `at`. `former` are in the order of their change; `timeZone` is the customer's zone now. */
export function zoneStretchAt(input) {
    const { period, rule, anchor, former, at } = input;
    const zones = [...former.map(({ timeZone }) => timeZone), input.timeZone];
    const stretches = [{ timeZone: zones[0], from: Number.NEGATIVE_INFINITY }];
    for (const [index, { until: changedAt }] of former.entries()) {
        const last = stretches.at(-1);
        // A change that had not taken effect yet is replaced by the next one.
        if (changedAt < last.from)
            stretches.pop();
        const current = stretches.at(-1);
        const from = usagePeriodAt({ period, rule, anchor, timeZone: current.timeZone, at: changedAt }).end;
        stretches.push({ timeZone: zones[index + 1], from });
    }
    const found = stretches.findLastIndex(({ from }) => from <= at);
    const { timeZone, from } = stretches[found];
    return { timeZone, from: Number.isFinite(from) ? from : null, until: stretches[found + 1]?.from ?? null };
}
/** A period cut where the zone of its series takes effect, or loses it. */
export function cutToStretch(period, { from, until }, at) {
    let { start, end } = period;
    if (start === null || end === null)
        return period;
    if (from !== null) {
        if (at >= from)
            start = Math.max(start, from);
        else
            end = Math.min(end, from);
    }
    if (until !== null && at < until)
        end = Math.min(end, until);
    return { ...period, start, end };
}
//# sourceMappingURL=zone-change.js.map