import { expect } from 'chai'
import { Problem, type ProblemCode } from '../../../../src/kernel/problem.js'
import * as problems from '../../../../src/metering/model/problems.js'

describe('problems of usage', () => {
  const told: [Problem, ProblemCode, string, Record<string, unknown>][] = [
    [problems.featureNotFound('calls', null), 'NOT_FOUND', 'FEATURE_NOT_FOUND', { featureId: 'calls' }],
    [
      problems.featureIsMeteredByEvents('calls'),
      'FAILED_PRECONDITION',
      'CANNOT_REPORT_USAGE_FOR_ENTITLEMENT_WITH_METER',
      { featureId: 'calls' },
    ],
    [problems.featureIsNotMetered('sso'), 'FAILED_PRECONDITION', 'METERING_NOT_AVAILABLE_FOR_FEATURE_TYPE', { featureId: 'sso' }],
    [problems.negativeDelta('calls'), 'FAILED_PRECONDITION', 'USAGE_MEASUREMENT_DIFF_OUT_OF_RANGE', { featureId: 'calls' }],
    [problems.usageOutOfRange('calls'), 'FAILED_PRECONDITION', 'ENTITLEMENT_USAGE_OUT_OF_RANGE', { featureId: 'calls' }],
    [problems.idempotencyKeyTaken('k'), 'ALREADY_EXISTS', 'DUPLICATED_ENTITY_NOT_ALLOWED', { idempotencyKey: 'k' }],
    [problems.usageEventNotFound('k'), 'NOT_FOUND', 'USAGE_EVENT_NOT_FOUND', { idempotencyKey: 'k' }],
    [problems.measurementNotFound(), 'NOT_FOUND', 'USAGE_MEASUREMENT_NOT_FOUND', {}],
    [problems.recomputationNotFound('r'), 'NOT_FOUND', 'USAGE_RECOMPUTATION_NOT_FOUND', { id: 'r' }],
    [problems.tooManyRecomputations(5), 'RESOURCE_EXHAUSTED', 'TOO_MANY_RECOMPUTATIONS', {}],
    [problems.eventsDropped(0), 'FAILED_PRECONDITION', 'RAW_EVENTS_DROPPED', { startDate: '1970-01-01T00:00:00.000Z' }],
    [problems.stillBeingCounted(), 'ABORTED', 'STILL_BEING_COUNTED', {}],
    [problems.tooMuchWaiting(), 'RESOURCE_EXHAUSTED', 'RATE_LIMIT_EXCEEDED', { outcome: 'notCounted' }],
  ]
  for (const [problem, code, reason, details] of told)
    it(`are told by code, reason and what they are about: ${reason}`, () => {
      expect({ code: problem.code, reason: problem.reason, details: problem.details }).to.deep.equal({ code, reason, details })
      expect(problem.message).to.not.equal('')
    })

  it('name the feature that was probably meant', () => {
    const found = problems.featureNotFound('cals', 'calls')
    expect(found.message).to.include('calls')
    expect(found).to.deep.include({ code: 'NOT_FOUND', reason: 'FEATURE_NOT_FOUND', details: { featureId: 'cals' } })
  })

  it('say of usage whether it was counted, and under which keys it can be sent again', () => {
    expect(problems.notCountedInTime()).to.deep.include({ code: 'DEADLINE_EXCEEDED', details: { outcome: 'notCounted' } })
    const unknown = (keys: string[]) => problems.outcomeUnknown(keys).details
    expect(unknown([])).to.deep.equal({ outcome: 'unknown' })
    expect(unknown(['a'])).to.deep.equal({ outcome: 'unknown', idempotencyKey: 'a' })
    expect(unknown(['a', 'b'])).to.deep.equal({ outcome: 'unknown', idempotencyKeys: ['a', 'b'] })
    expect(problems.outcomeUnknown([])).to.include({ code: 'DEADLINE_EXCEEDED', reason: 'USAGE_OUTCOME_UNKNOWN' })
    expect(problems.outcomeUnknown([], 'UNKNOWN').code).to.equal('UNKNOWN')
    expect(problems.outcomeUnknown([], 'UNKNOWN').cause).to.equal(undefined)
    const refusal = new Problem('NOT_FOUND', 'CUSTOMER_NOT_FOUND', 'none')
    expect(problems.outcomeUnknown([], 'UNKNOWN', refusal).cause).to.equal(refusal)
    const cause = new Error('private')
    const certain = problems.notCounted(new Problem('UNAVAILABLE', 'AWAY', 'Away.', { details: { a: 1 }, cause }))
    expect(certain).to.deep.include({ code: 'UNAVAILABLE', reason: 'AWAY', message: 'Away.', details: { a: 1, outcome: 'notCounted' } })
    expect(certain.cause).to.equal(cause)
  })

  it('that were thrown before any usage was handed over are certain, and refusals stay as they are', () => {
    const refused = new Problem('NOT_FOUND', 'X', 'x')
    expect(problems.beforeCounting(refused)).to.equal(refused)
    for (const thrown of [new Error('fault'), new Problem('UNAVAILABLE', 'AWAY', 'Away.')])
      expect(problems.beforeCounting(thrown).details).to.deep.equal({ outcome: 'notCounted' })
  })

  it('refuse what was sent, or leave open what became of it', () => {
    const of = (code: ProblemCode, details = {}) => new Problem(code, 'X', 'x', { details })
    const all: [ProblemCode, isRefusal: boolean, isOpen: boolean][] = [
      ['ALREADY_EXISTS', true, false],
      ['FAILED_PRECONDITION', true, false],
      ['INVALID_ARGUMENT', true, false],
      ['NOT_FOUND', true, false],
      ['RESOURCE_EXHAUSTED', false, false],
      ['PERMISSION_DENIED', false, false],
      ['ABORTED', false, true],
      ['DEADLINE_EXCEEDED', false, true],
      ['INTERNAL', false, true],
      ['UNAVAILABLE', false, true],
      ['UNKNOWN', false, true],
    ]
    for (const [code, isRefusal, isOpen] of all) {
      expect(problems.isRefusal(of(code)), code).to.equal(isRefusal)
      expect(problems.mayBeCounted(of(code)), code).to.equal(isOpen)
      expect(problems.mayBeCounted(of(code, { outcome: 'notCounted' })), code).to.equal(false)
      expect(problems.mayBeCounted(of(code, { outcome: 'unknown' })), code).to.equal(true)
    }
  })

  it('travel without their cause, and name each item that is bad', () => {
    const problem = new Problem('NOT_FOUND', 'X', 'x', { details: { a: 1 }, cause: new Error('private') })
    const plain = problems.toPlainProblem(problem)
    expect(plain).to.deep.equal({ code: 'NOT_FOUND', reason: 'X', message: 'x', details: { a: 1 } })
    expect(problems.fromPlainProblem(plain)).to.be.instanceOf(Problem).and.deep.include(plain)
    expect(problems.fromPlainProblem(plain).cause).to.equal(undefined)
    const item = problems.refusedItem(3, problem)
    expect(item).to.deep.equal({ index: 3, code: 'X', message: 'x' })
    expect(problems.withItems(problem, [item])).to.deep.include({
      code: 'NOT_FOUND',
      reason: 'X',
      message: 'x',
      details: { a: 1, items: [item] },
    })
  })
})
