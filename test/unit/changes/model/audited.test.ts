import { expect } from 'chai'
import { differenceOf } from '../../../../src/audit/model/difference.js'
import { auditedDiscarding, auditedRetry } from '../../../../src/changes/model/audited.js'

describe('what the audit log says of work that failed for good', () => {
  const letter = { environmentId: 'e', id: 'usage-ingestion/7', job: 'usage-reported', attempts: 5 }
  const entity = { environmentId: 'e', kind: 'DEAD_LETTER', id: 'usage-ingestion/7' }

  it('is, when it is tried again, that it waits', () => {
    expect(auditedRetry(letter)).to.include(entity)
    expect(differenceOf(auditedRetry(letter))).to.deep.equal({ before: { status: 'FAILED' }, after: { status: 'WAITING' } })
  })

  it('is, when it is discarded, what is gone', () => {
    expect(auditedDiscarding(letter)).to.include(entity)
    expect(differenceOf(auditedDiscarding(letter))).to.deep.equal({
      before: { id: 'usage-ingestion/7', job: 'usage-reported', attempts: 5 },
      after: null,
    })
  })
})
