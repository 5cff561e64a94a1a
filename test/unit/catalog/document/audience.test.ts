import { expect } from 'chai'
import { publishedForAll } from '../../../../src/catalog/document/audience.js'

describe('whom a document publishes for', () => {
  it('names the plans and add-ons that are for existing subscriptions too, in data and in text', () => {
    const document = {
      plans: [{ refId: 'basic', publish: 'ALL_CUSTOMERS' }, { refId: 'top', publish: 'NEW_CUSTOMERS' }, { refId: 'free' }],
      addons: [{ refId: 'basic', publish: 'ALL_CUSTOMERS' }],
    }
    expect([...publishedForAll(document)]).to.deep.equal(['plan basic', 'addon basic'])
  })
  it('is nobody in particular where nothing is said', () => {
    for (const document of [null, {}, { plans: null }, { addons: null }]) expect(publishedForAll(document).size).to.equal(0)
  })
})
