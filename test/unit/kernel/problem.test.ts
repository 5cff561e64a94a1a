import { expect } from 'chai'
import { invalidInput, Problem, timedOut, unavailable } from '../../../src/kernel/problem.js'

const failure = (message: string, code?: string) => Object.assign(new Error(message), code === undefined ? {} : { code })

describe('a problem made of what was thrown', () => {
  it('is itself when it is one already', () => {
    const problem = invalidInput('no')
    expect(Problem.from(problem)).to.equal(problem)
  })

  it('is INTERNAL and hides the text of anything else', () => {
    const cause = failure('password of the database is hunter2')
    const problem = Problem.from(cause)
    expect(problem.code).to.equal('INTERNAL')
    expect(problem.message).to.not.include('hunter2')
    expect(problem.cause).to.equal(cause)
    expect(problem.isRetryable).to.equal(false)
  })

  const outages: [string, Error][] = [
    ['a refused connection', failure('connect ECONNREFUSED 127.0.0.1:5432', 'ECONNREFUSED')],
    ['PostgreSQL shutting down', failure('terminating connection due to administrator command', '57P01')],
    ['Prisma without a server', failure('no server', 'P1001')],
    ['a raw query of Prisma without a server', failure("Raw query failed. Message: `Can't reach database server at host:5432`", 'P2010')],
    [
      'a query of Prisma while PostgreSQL starts',
      failure(
        'Invalid `prisma.apiKey.findUnique()` invocation: Database error. Code: `57P03`. Message: `the database system is starting up`',
        'P2039',
      ),
    ],
    ['a cut connection', failure('Connection terminated unexpectedly')],
  ]
  for (const [title, thrown] of outages) {
    it(`is UNAVAILABLE, to be tried again, for ${title}`, () => {
      const problem = Problem.from(thrown)
      expect(problem.code).to.equal('UNAVAILABLE')
      expect(problem.isRetryable).to.equal(true)
      expect(problem.message).to.not.include(thrown.message)
    })
  }
})

describe('a problem', () => {
  const cause = failure('a secret')
  const cases: [make: () => Problem, code: string, reason: string, isRetryable: boolean][] = [
    [() => invalidInput('no'), 'INVALID_ARGUMENT', 'BAD_USER_INPUT', false],
    [() => unavailable('not now', cause), 'UNAVAILABLE', 'UNAVAILABLE', true],
    [() => timedOut('not in time', cause), 'DEADLINE_EXCEEDED', 'TIMEOUT', true],
    [() => Problem.from(cause), 'INTERNAL', 'INTERNAL', false],
  ]
  for (const [make, code, reason, isRetryable] of cases) {
    it(`${reason} is told apart by programs`, () => {
      const problem = make()
      expect(problem).to.include({ name: 'Problem', code, reason, isRetryable })
      expect(problem.details).to.deep.equal({})
      expect(problem.cause).to.equal(code === 'INVALID_ARGUMENT' ? undefined : cause)
    })
  }

  it('has the details that it is given', () => {
    expect(invalidInput('no', { field: 'limit' }).details).to.deep.equal({ field: 'limit' })
  })

  it('without a cause has none to be logged', () => {
    expect(invalidInput('no')).to.not.have.property('cause')
  })

  it('tells a store that is away from one that is there and busy', () => {
    expect(Problem.from(failure('gone', 'ECONNREFUSED')).message).to.include('cannot reach')
    expect(Problem.from(failure('full', '53100')).message).to.include('cannot do this')
  })
})
