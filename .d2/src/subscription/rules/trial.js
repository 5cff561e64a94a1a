import { Temporal } from 'temporal-polyfill';
/** When a trial that starts at `startDate` ends: the same local time, so many days or months later. Exclusive. */
export function addTrial(startDate, { duration, units }, timeZone) {
    const start = Temporal.Instant.fromEpochMilliseconds(startDate).toZonedDateTimeISO(timeZone);
    return start.add(units === 'DAY' ? { days: duration } : { months: duration }).epochMilliseconds;
}
//# sourceMappingURL=trial.js.map