import 'reflect-metadata'
import { expect } from 'chai'
import { fromUsageHistoryV2Input } from '../../../../../src/web/graphql/usage/usage-history.inputs.js'

describe('the question of usageHistoryV2', () => {
  const asked = { customerId: 'acme', featureId: 'api-calls', startDate: 1 }

  it('includes usage under ended subscriptions unless that is declined', () => {
    for (const includeInactiveSubscriptions of [undefined, null, true])
      expect(fromUsageHistoryV2Input({ ...asked, includeInactiveSubscriptions }, 2)).to.deep.include({
        start: 1,
        end: 2,
        isOfActiveOnly: false,
      })
    expect(fromUsageHistoryV2Input({ ...asked, includeInactiveSubscriptions: false }, 2)).to.deep.include({ isOfActiveOnly: true })
  })

  it('is about all series unless a page is asked for', () => {
    expect(fromUsageHistoryV2Input(asked, 2).paging).to.equal(null)
    expect(fromUsageHistoryV2Input({ ...asked, paging: { first: 3 } }, 2).paging).to.deep.equal({
      first: 3,
      last: null,
      after: null,
      before: null,
    })
  })
})
