import 'reflect-metadata'
import { expect } from 'chai'
import { Problem } from '../../../../src/kernel/problem.js'
import { fromUsageHistoryV2Input } from '../../../../src/web/graphql/usage-history.inputs.js'

describe('the question of usageHistoryV2', () => {
  const asked = { customerId: 'acme', featureId: 'api-calls', startDate: 1 }

  it('includes usage under ended subscriptions when that is asked for, or nothing is said', () => {
    for (const includeInactiveSubscriptions of [undefined, null, true])
      expect(fromUsageHistoryV2Input({ ...asked, includeInactiveSubscriptions }, 2)).to.deep.include({ start: 1, end: 2 })
  })

  it('refuses to leave it out, rather than ignoring the wish', () => {
    expect(() => fromUsageHistoryV2Input({ ...asked, includeInactiveSubscriptions: false }, 2)).to.throw(Problem, 'not supported yet')
  })
})
