import { invalidInput } from '../../kernel/problem.js';
/**
 * Refuses, by name, the fields of an input that are about something which Tollgate does not have (docs/unsupported-fields.md). Absent and null ask for
 * nothing.
 */
export function refuseAbsent(what, input, ...fields) {
    const asked = fields.find((field) => input[field] !== undefined && input[field] !== null);
    if (asked)
        throw invalidInput(`Tollgate has no ${what}: leave "${asked}" out.`, { path: asked });
}
export const refuseCredits = (input, ...fields) => refuseAbsent('credits', input, ...fields);
//# sourceMappingURL=not-here.js.map