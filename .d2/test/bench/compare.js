import { median, significant, spread } from './statistics.js';
/** Fewer say nothing about the spread. */
const fewestRounds = 3;
/**
 * Measures two sides in turns (A B, B A, A B, …), so that a machine that gets slower, or that others use too, troubles both alike.
 * Both have to be warm already.
 */
export async function compare(plan) {
    const subjects = [];
    const references = [];
    const beganAt = performance.now();
    for (let round = 0; round < plan.rounds; round++) {
        const usedMs = performance.now() - beganAt;
        if (round >= fewestRounds && usedMs + usedMs / round > plan.seconds * 1000)
            break;
        const isSubjectFirst = round % 2 === 0;
        const first = await (isSubjectFirst ? plan.subject() : plan.reference());
        const second = await (isSubjectFirst ? plan.reference() : plan.subject());
        const [subject, reference] = isSubjectFirst ? [first, second] : [second, first];
        subjects.push(subject);
        references.push(reference);
        plan.onRound(round + 1, subject, reference);
    }
    return Object.keys(plan.measures).map((measure) => {
        const ofSubject = subjects.map((sample) => sample[measure]);
        const ofReference = references.map((sample) => sample[measure]);
        const ratios = ofSubject.map((value, round) => value / ofReference[round]);
        const { name, unit } = plan.measures[measure];
        return {
            name,
            subject: significant(median(ofSubject)),
            reference: significant(median(ofReference)),
            ratio: significant(median(ratios)),
            unit,
            spread: significant(spread(ratios)),
        };
    });
}
//# sourceMappingURL=compare.js.map