import { Problem } from '../../kernel/problem.js'

export function environmentNotFound(environment: string): Problem {
  return new Problem('NOT_FOUND', 'ENVIRONMENT_NOT_FOUND', `Environment "${environment}" was not found.`, { details: { environment } })
}

export function environmentExists(environment: string): Problem {
  return new Problem('ALREADY_EXISTS', 'DUPLICATED_ENTITY_NOT_ALLOWED', `Environment "${environment}" exists already.`, {
    details: { environment },
  })
}

export function keyNotFound(keyId: string): Problem {
  return new Problem('NOT_FOUND', 'API_KEY_NOT_FOUND', `There is no API key with the id "${keyId}".`, { details: { keyId } })
}

export function keyNotValid(keyId: string): Problem {
  return new Problem('FAILED_PRECONDITION', 'API_KEY_NOT_VALID', `API key "${keyId}" has expired or was revoked: create a new one.`, {
    details: { keyId },
  })
}

export function tooManySecrets(most: number): Problem {
  return new Problem(
    'FAILED_PRECONDITION',
    'TOO_MANY_SECRETS',
    `${most} former secrets are valid: rotate when one of them has expired, or with an overlap of 0, which ends all of them.`,
  )
}

/** Says nothing about why, so that nobody learns which keys ever existed. */
export function unauthenticated(what: string): Problem {
  return new Problem('UNAUTHENTICATED', 'UNAUTHENTICATED', `The ${what} is missing or not valid.`)
}

export function noTestEnvironment(): Problem {
  return new Problem(
    'FAILED_PRECONDITION',
    'NO_TEST_ENVIRONMENT',
    'Only an environment that was created as a test environment (npm run admin -- environment create … --test) has a clock of its own.',
  )
}

export function testClockExists(): Problem {
  return new Problem(
    'ALREADY_EXISTS',
    'DUPLICATED_ENTITY_NOT_ALLOWED',
    'The environment has a test clock already: move it on with advanceTestClock.',
  )
}

export function testClockMissing(): Problem {
  return new Problem('FAILED_PRECONDITION', 'NO_TEST_CLOCK', 'The environment has no test clock: make one with createTestClock.')
}
