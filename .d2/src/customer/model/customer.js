import { invalidInput } from '../../kernel/problem.js';
/**
 * Metadata after a change: keys that are sent replace theirs (whole: what is nested is not merged), a key that is sent as null goes, the others stay.
 * Null clears all.
 */
export function mergeMetaData(current, change) {
    if (change === null)
        return null;
    return Object.fromEntries(Object.entries({ ...current, ...change }).filter(([, value]) => value !== null));
}
/** What of a change is written over a customer as it is. Without one, as for a new customer. */
export function toWritten(current, change) {
    const { additionalMetaData, ...fields } = change;
    if (additionalMetaData === undefined)
        return fields;
    return { ...fields, additionalMetaData: mergeMetaData(current?.additionalMetaData ?? null, additionalMetaData) };
}
/** @throws Problem BAD_USER_INPUT */
export function checkFields({ timeZone, email, name }) {
    if (timeZone !== null && timeZone !== undefined)
        checkTimeZone(timeZone);
    for (const [path, value] of Object.entries({ email, name }))
        if (value && value.length > maxTextLength)
            throw invalidInput(`${path} has more than ${maxTextLength} characters.`, { path });
}
/** Longer than any name or address, and short enough to be answered in lists. */
const maxTextLength = 1_000;
function checkTimeZone(timeZone) {
    try {
        new Intl.DateTimeFormat('en', { timeZone });
    }
    catch {
        throw invalidInput(`"${timeZone}" is not a time zone: give an IANA name such as Europe/Berlin.`, {
            path: 'billingInformation.timezone',
        });
    }
}
//# sourceMappingURL=customer.js.map