import { expect } from 'chai';
import { Temporal } from 'temporal-polyfill';
import { usagePeriodAt } from '../../../../src/metering/model/usage-period.js';
const dayMs = 86_400_000;
const hourMs = 3_600_000;
const firstDay = Date.UTC(2024, 0, 1);
/** Every day of four years, so February 29 too. */
const anchorDays = Array.from({ length: 1461 }, (_, index) => firstDay + index * dayMs);
/** The same day and time so many months later, or the last day of a shorter month: written out, by nobody's library. */
function monthsLater(anchor, months) {
    const date = new Date(anchor);
    const index = date.getUTCFullYear() * 12 + date.getUTCMonth() + months;
    const [year, month] = [Math.floor(index / 12), index % 12];
    const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
    const lastDay = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month];
    return Date.UTC(year, month, Math.min(date.getUTCDate(), lastDay)) + (anchor % dayMs);
}
const starts = [
    ['MONTH', (anchor, n) => monthsLater(anchor, n), 50],
    ['YEAR', (anchor, n) => monthsLater(anchor, 12 * n), 9],
    ['WEEK', (anchor, n) => anchor + n * 7 * dayMs, 60],
];
describe('usage period of every anchor day of four years', function () {
    this.timeout(20_000);
    for (const [period, startOf, periods] of starts) {
        it(`${period} in UTC: each period begins on the anchor's day or the last one of its month, and ends where the next begins`, () => {
            for (const anchorDay of anchorDays) {
                const anchor = anchorDay + 10 * hourMs;
                for (let n = -2; n < periods; n += 1) {
                    const expected = { start: startOf(anchor, n), end: startOf(anchor, n + 1) };
                    const [first, last] = [expected.start, expected.end - 1].map((at) => usagePeriodAt({ period, rule: 'SubscriptionStart', anchor, timeZone: 'UTC', at }));
                    // Not `deep.equal` each time: there are a quarter of a million.
                    if (first.start !== expected.start ||
                        first.end !== expected.end ||
                        last.start !== expected.start ||
                        last.end !== expected.end)
                        expect({ anchor, n, first, last }).to.deep.equal({ anchor, n, first: expected, last: expected });
                }
            }
        });
        it(`${period} in New York: the same on the local calendar, at the same local time`, () => {
            for (const anchorDay of anchorDays) {
                // 1:30 in the night of a change exists twice or not at all.
                const local = Temporal.Instant.fromEpochMilliseconds(anchorDay + 1.5 * hourMs)
                    .toZonedDateTimeISO('UTC')
                    .toPlainDateTime();
                const anchor = local.toZonedDateTime('America/New_York').epochMilliseconds;
                for (const n of [1, 2, 13]) {
                    const wanted = Temporal.Instant.fromEpochMilliseconds(startOf(anchorDay + 1.5 * hourMs, n))
                        .toZonedDateTimeISO('UTC')
                        .toPlainDateTime();
                    const start = wanted.toZonedDateTime('America/New_York').epochMilliseconds;
                    const found = usagePeriodAt({ period, rule: 'SubscriptionStart', anchor, timeZone: 'America/New_York', at: start });
                    if (found.start !== start)
                        expect({ anchor, n, start: found.start }).to.deep.equal({ anchor, n, start });
                }
            }
        });
    }
});
describe('usage period in the week around each change of six zones', function () {
    this.timeout(20_000);
    for (const timeZone of [
        'America/New_York',
        'Europe/London',
        'Australia/Lord_Howe',
        'America/Santiago',
        'Asia/Beirut',
        'Africa/Casablanca',
    ]) {
        const changes = [];
        let at = Temporal.Instant.from('2024-01-01T00:00:00Z').toZonedDateTimeISO(timeZone);
        for (;;) {
            const next = at.getTimeZoneTransition('next');
            if (!next || next.year > 2027)
                break;
            changes.push(next.epochMilliseconds);
            at = next;
        }
        it(`DAY in ${timeZone}: one reset per local day, ${changes.length} changes`, () => {
            expect(changes.length).to.be.above(3);
            for (const change of changes) {
                for (const time of ['00:00', '00:30', '01:30', '02:30', '12:00', '23:30']) {
                    const noon = Temporal.Instant.fromEpochMilliseconds(change).toZonedDateTimeISO(timeZone).toPlainDate().subtract({ days: 40 });
                    const anchor = noon.toZonedDateTime({ timeZone, plainTime: time }).epochMilliseconds;
                    let { start, end } = usagePeriodAt({ period: 'DAY', rule: 'SubscriptionStart', anchor, timeZone, at: change - 3.5 * dayMs });
                    for (let n = 0; n < 7; n += 1) {
                        const next = usagePeriodAt({ period: 'DAY', rule: 'SubscriptionStart', anchor, timeZone, at: end });
                        expect(next.start, `${time} ${new Date(end).toISOString()}`).to.equal(end);
                        expect(usagePeriodAt({ period: 'DAY', rule: 'SubscriptionStart', anchor, timeZone, at: end - 1 })).to.deep.equal({ start, end });
                        const [day, dayAfter] = [start, end].map((ms) => Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timeZone).toPlainDate());
                        expect(dayAfter.toString(), time).to.equal(day.add({ days: 1 }).toString());
                        start = next.start;
                        end = next.end;
                    }
                }
            }
        });
        it(`HOUR in ${timeZone}: 168 hours of the same length`, () => {
            for (const change of changes) {
                const anchor = change - 1000 * hourMs + 17 * 60_000;
                let { start, end } = usagePeriodAt({ period: 'HOUR', rule: 'SubscriptionStart', anchor, timeZone, at: change - 84 * hourMs });
                for (let n = 0; n < 168; n += 1) {
                    expect(end - start).to.equal(hourMs);
                    const next = usagePeriodAt({ period: 'HOUR', rule: 'SubscriptionStart', anchor, timeZone, at: end });
                    expect(next.start).to.equal(end);
                    start = next.start;
                    end = next.end;
                }
            }
        });
    }
});
describe('usage period, near and far', () => {
    it('costs the same: a lookup does not walk from the anchor', () => {
        const series = { period: 'MONTH', rule: 'SubscriptionStart', anchor: Date.UTC(2024, 0, 31, 10), timeZone: 'America/New_York' };
        const median = (years) => {
            const times = Array.from({ length: 101 }, (_, index) => {
                const startedAt = performance.now();
                usagePeriodAt({ ...series, at: Date.UTC(2024 + years, 5, 15) + index * dayMs });
                return performance.now() - startedAt;
            });
            return times.sort((a, b) => a - b)[50];
        };
        median(0);
        // A walk over 100 years of months would cost a thousand times as much.
        expect(median(100) / median(0)).to.be.below(10);
    });
});
//# sourceMappingURL=usage-period.exhaustive.test.js.map