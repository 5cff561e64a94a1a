import { Kind } from 'graphql';
/** Queries whose answer depends on one entitlement state and on nothing else. */
export const fieldsOfOneState = new Set(['cachedEntitlements', 'entitlement', 'entitlementV2', 'entitlementsState']);
/** Beyond these many different questions about one state, all its answers are made anew. */
const maxQuestions = 40;
/** A longer request is not one that is sent over and over. */
const maxRequestLength = 4_000;
/** The name of the variable that holds the question, when the operation asks one of one state in the way that SDKs do; else null. */
export function questionVariableOf(operations) {
    const [operation, ...others] = operations;
    const [field, ...more] = operation?.selectionSet.selections ?? [];
    if (operation?.operation !== 'query' || others.length > 0 || more.length > 0 || field?.kind !== Kind.FIELD)
        return null;
    const [argument] = field.arguments ?? [];
    if (!fieldsOfOneState.has(field.name.value) || argument?.value.kind !== Kind.VARIABLE)
        return null;
    return argument.value.name.value;
}
/** Null: it is not well-formed, asks to be counted, or names an environment, which is for the resolver. */
export function readQuestion(value) {
    if (typeof value !== 'object' || value === null)
        return null;
    const { customerId, resourceId = null, environmentId, options } = value;
    if (typeof customerId !== 'string' || (resourceId !== null && typeof resourceId !== 'string') || environmentId)
        return null;
    if (options?.shouldTrack)
        return null;
    return { customerId, resourceId };
}
/** Answers by the text of the request, each for as long as the state that it was made of is held: that is as long as it is true. */
export class KeptAnswers {
    #ofState = new WeakMap();
    find(state, request) {
        return this.#ofState.get(state)?.get(request);
    }
    keep(state, request, answer) {
        if (request.length > maxRequestLength)
            return;
        const answers = this.#ofState.get(state) ?? new Map();
        if (answers.size >= maxQuestions)
            answers.clear();
        this.#ofState.set(state, answers.set(request, answer));
    }
}
//# sourceMappingURL=kept-answers.js.map