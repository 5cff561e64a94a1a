import { expect } from 'chai'
import { Problem } from '../../../../src/kernel/problem.js'
import { notCounted, outcomeUnknown } from '../../../../src/metering/model/problems.js'
import type { SentReport } from '../../../../src/reader/api/client.js'
import { PersistentUsage } from '../../../../src/reader/source/persistent-usage.js'

/** What a door fails with, one attempt after the other, and what is made of it. */
describe('usage that is sent until it is known what became of it', () => {
  const report = { customerId: 'c', idempotencyKey: 'key' } as SentReport
  const failAfter = async (...failures: Problem[]) => {
    let attempts = 0
    const fail = () => Promise.reject(failures[Math.min(attempts++, failures.length - 1)])
    const usage = new PersistentUsage({ reportUsage: fail, reportUsageBulk: fail, reportEvents: fail }, 60_000)
    const problem = await usage.reportUsage(report, 60_000).catch(Problem.from)
    return { problem: problem as Problem, attempts }
  }
  const archived = new Problem('FAILED_PRECONDITION', 'ENTITY_IS_ARCHIVED', 'It is archived.')
  const broken = new Problem('UNAVAILABLE', 'UNAVAILABLE', 'The connection broke.')

  it('was not counted when the first attempt is refused, or was never handed over', async () => {
    for (const certain of [archived, notCounted(broken)]) expect(await failAfter(certain)).to.deep.equal({ problem: certain, attempts: 1 })
  })

  for (const code of ['ALREADY_EXISTS', 'FAILED_PRECONDITION', 'INVALID_ARGUMENT', 'NOT_FOUND'] as const) {
    it(`may have been when an attempt is refused (${code}) after one whose outcome is unknown`, async () => {
      const refusal = new Problem(code, 'REFUSED', 'It is refused.')
      for (const unknown of [broken, outcomeUnknown(['key'])]) {
        const { problem, attempts } = await failAfter(unknown, refusal)
        expect(problem).to.include({ code: 'UNKNOWN', reason: 'USAGE_OUTCOME_UNKNOWN', cause: refusal })
        expect(problem.details).to.deep.equal({ outcome: 'unknown', idempotencyKey: 'key' })
        expect(problem.message).to.match(/It is refused\.$/)
        expect(attempts).to.equal(2)
      }
    })
  }
})
