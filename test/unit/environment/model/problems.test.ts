import { expect } from 'chai'
import * as problems from '../../../../src/environment/model/problems.js'
import type { Problem } from '../../../../src/kernel/problem.js'

describe('problems with an environment', () => {
  const cases: [make: () => Problem, code: string, reason: string, details: object, says: string][] = [
    [() => problems.environmentNotFound('live'), 'NOT_FOUND', 'ENVIRONMENT_NOT_FOUND', { environment: 'live' }, '"live"'],
    [() => problems.environmentExists('live'), 'ALREADY_EXISTS', 'DUPLICATED_ENTITY_NOT_ALLOWED', { environment: 'live' }, '"live"'],
    [() => problems.keyNotFound('k1'), 'NOT_FOUND', 'API_KEY_NOT_FOUND', { keyId: 'k1' }, '"k1"'],
    [() => problems.keyNotValid('k1'), 'FAILED_PRECONDITION', 'API_KEY_NOT_VALID', { keyId: 'k1' }, '"k1"'],
    [() => problems.unauthenticated('API key'), 'UNAUTHENTICATED', 'UNAUTHENTICATED', {}, 'API key'],
    [() => problems.noTestEnvironment(), 'FAILED_PRECONDITION', 'NO_TEST_ENVIRONMENT', {}, '--test'],
    [() => problems.testClockExists(), 'ALREADY_EXISTS', 'DUPLICATED_ENTITY_NOT_ALLOWED', {}, 'advanceTestClock'],
    [() => problems.testClockMissing(), 'FAILED_PRECONDITION', 'NO_TEST_CLOCK', {}, 'createTestClock'],
  ]
  for (const [make, code, reason, details, says] of cases) {
    it(`${reason} says what programs and people need: ${says}`, () => {
      const problem = make()
      expect(problem).to.include({ code, reason })
      expect(problem.details).to.deep.equal(details)
      expect(problem.message).to.include(says)
    })
  }
})
