import { Problem } from '../../kernel/problem.js';
export function environmentNotFound(environment) {
    return new Problem('NOT_FOUND', 'ENVIRONMENT_NOT_FOUND', `Environment "${environment}" was not found.`, { details: { environment } });
}
export function environmentExists(environment) {
    return new Problem('ALREADY_EXISTS', 'DUPLICATED_ENTITY_NOT_ALLOWED', `Environment "${environment}" exists already.`, {
        details: { environment },
    });
}
export function keyNotFound(keyId) {
    return new Problem('NOT_FOUND', 'API_KEY_NOT_FOUND', `There is no API key with the id "${keyId}".`, { details: { keyId } });
}
export function keyNotValid(keyId) {
    return new Problem('FAILED_PRECONDITION', 'API_KEY_NOT_VALID', `API key "${keyId}" has expired or was revoked: create a new one.`, {
        details: { keyId },
    });
}
/** Says nothing about why, so that nobody learns which keys ever existed. */
export function unauthenticated(what) {
    return new Problem('UNAUTHENTICATED', 'UNAUTHENTICATED', `The ${what} is missing or not valid.`);
}
export function noTestEnvironment() {
    return new Problem('FAILED_PRECONDITION', 'NO_TEST_ENVIRONMENT', 'Only an environment that was created as a test environment (npm run admin -- create-environment … --test) has a clock of its own.');
}
export function testClockExists() {
    return new Problem('ALREADY_EXISTS', 'DUPLICATED_ENTITY_NOT_ALLOWED', 'The environment has a test clock already: move it on with advanceTestClock.');
}
export function testClockMissing() {
    return new Problem('FAILED_PRECONDITION', 'NO_TEST_CLOCK', 'The environment has no test clock: make one with createTestClock.');
}
//# sourceMappingURL=problems.js.map