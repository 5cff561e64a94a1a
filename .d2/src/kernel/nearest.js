/** The candidate that `word` was probably meant to be, or null when none is close: compared without case, then by letters changed. */
export function nearest(word, candidates) {
    const wanted = word.toLowerCase();
    // A third of the letters: more than that and the suggestion is a guess that misleads.
    let best = Math.floor((wanted.length + 1) / 3) + 1;
    let found = null;
    let containing = null;
    for (const candidate of candidates) {
        const known = candidate.toLowerCase();
        const distance = Math.abs(known.length - wanted.length) < best ? editDistance(wanted, known) : best;
        if (distance < best) {
            best = distance;
            found = candidate;
        }
        // `id` for `refId`, `name` for `displayName`.
        if (wanted.length > 1 && containing === null && known.endsWith(wanted))
            containing = candidate;
    }
    return found ?? containing;
}
/** `; did you mean …?`, or nothing when no candidate is close. */
export function suggestion(word, candidates) {
    const candidate = nearest(word, candidates);
    return candidate === null ? '' : `; did you mean '${candidate}'?`;
}
/** Letters to insert, remove or exchange to turn `a` into `b`. */
function editDistance(a, b) {
    let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
    for (let i = 1; i <= a.length; i++) {
        const current = [i];
        for (let j = 1; j <= b.length; j++) {
            const exchange = previous[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1);
            current.push(Math.min(exchange, previous[j] + 1, current[j - 1] + 1));
        }
        previous = current;
    }
    return previous[b.length];
}
//# sourceMappingURL=nearest.js.map