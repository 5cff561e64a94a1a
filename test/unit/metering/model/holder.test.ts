import { expect } from 'chai'
import { type Holder, holderKey } from '../../../../src/metering/model/holder.js'

describe('the key of a holder', () => {
  it('is another one for each customer and each of its resources', () => {
    const holders: Holder[] = ['a', 'ab', 'b'].flatMap((customerId) =>
      [null, 'null', '', 'a', 'b', 'bb'].map((resourceId) => ({ customerId, resourceId })),
    )
    expect(new Set(holders.map(holderKey)).size).to.equal(holders.length)
    for (const holder of holders) expect(holderKey({ ...holder })).to.equal(holderKey(holder))
  })
})
