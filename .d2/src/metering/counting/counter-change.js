import { memberHash } from '../model/aggregate.js';
import { versionAt } from '../model/meter.js';
import { startOfRange } from '../model/series.js';
/** What has to be added up for it. */
export function rangeOf({ tracked: { series }, period }) {
    const { customerId, resourceId, featureId } = series;
    const { start: periodStart, end: to, meterVersion } = period;
    return { customerId, resourceId, featureId, from: startOfRange(series, period), to, periodStart, meterVersion };
}
/** What counts the events of a period: the version that its counter began with. */
export function versionOf(meter, { meterVersion, start }) {
    const { versions } = meter;
    const latest = versions[versions.length - 1];
    if (latest.version === meterVersion)
        return latest;
    return versions.find(({ version }) => version === meterVersion) ?? versionAt(meter, start);
}
const tallied = { COUNT: 'add', SUM: 'add', MAX: 'max', MIN: 'min', AVG: 'avg', UNIQUE: 'unique' };
/** `computed`: what was added up, where that is how. */
export function toWrite(change, computed) {
    const { tracked, period, version, tally } = change;
    const meter = computed?.meter ?? null;
    const { value, events } = computed ?? tally ?? { value: change.value, events: 0 };
    // Written out: a batch has tens of thousands, and copying from object to object takes several times as long.
    return { seriesId: tracked.id, start: period.start, end: period.end, how: howOf(change), value, events, version, meter };
}
function howOf({ how, tally }) {
    if (how === 'tally')
        return tallied[tally.aggregation];
    if (how === 'members')
        return 'unique';
    return how === 'set' || how === 'compute' ? 'replace' : how;
}
export function membersOf({ firstAt }, computed) {
    if (computed)
        return computed.members;
    return firstAt ? [...firstAt].map(([member, at]) => ({ hash: memberHash(member), firstAt: at })) : [];
}
//# sourceMappingURL=counter-change.js.map