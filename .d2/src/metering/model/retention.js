const dayMs = 86_400_000;
/** Days that no period of the kind is longer than, whatever clocks do in it. */
const longestDays = { HOUR: 1, DAY: 2, WEEK: 8, MONTH: 32, YEAR: 367 };
/**
 * Events are accepted up to 35 days back, and can be corrected for as long as their identities are kept, which is 40 days. Whatever happens to one
 * then, the whole usage period that it falls in must be there to be computed.
 */
const changeableDays = 41;
/**
 * How long raw events must be kept, in milliseconds: the longest usage period there is and the time in which its events may change, or what the
 * operator asks for if that is longer. Null: for ever, because usage that is never reset (a null among the periods) is counted from them.
 */
export function retentionMs(periods, askedDays) {
    let longest = 0;
    for (const period of periods) {
        if (period === null)
            return null;
        longest = Math.max(longest, longestDays[period]);
    }
    return Math.max(longest + changeableDays, askedDays) * dayMs;
}
//# sourceMappingURL=retention.js.map