import { expect } from 'chai'
import { Problem } from '../../../../src/kernel/problem.js'
import { readRoute } from '../../../../src/web/edge/route.js'

describe('paths of the edge API', () => {
  const customers = {
    '/v1/c/customer-1/entitlements.json': 'customer-1',
    '/v1/c/a/b/entitlements.json': 'a/b',
    '/v1/c/../entitlements.json': '..',
    '/v1/c/./entitlements.json': '.',
    '/v1/c/100%/entitlements.json': '100%',
    '/v1/c/100%25/entitlements.json': '100%',
    '/v1/c/a%2Fb/entitlements.json': 'a/b',
    '/v1/c/50%zz%20off/entitlements.json': '50%zz off',
    '/v1/c/Z%C3%BCrich/entitlements.json': 'Zürich',
    '/v1/c/ZÃ¼rich/entitlements.json': 'Zürich',
    '/v1/c/entitlements.json/entitlements.json': 'entitlements.json',
    '/v1/c//v1/c/x/entitlements.json': '/v1/c/x',
    '/v1/c/a:b@c/entitlements.json': 'a:b@c',
  }
  for (const [target, customerId] of Object.entries(customers)) {
    it(`${target} is of customer ${JSON.stringify(customerId)}`, () => {
      expect(readRoute(target)).to.deep.equal({ document: 'entitlements', input: { customerId }, resourceIds: [] })
    })
  }

  it('tell the pages of a customer apart', () => {
    expect(readRoute('/v1/c/a/entitlements-state.json').document).to.equal('entitlementsState')
    expect(readRoute('/v1/c/a/subscriptions.json').document).to.equal('activeSubscriptions')
  })

  it('take one resource or several', () => {
    expect(readRoute('/v1/c/a/entitlements.json?resourceId=r%2F1').resourceIds).to.deep.equal(['r/1'])
    expect(readRoute('/v1/c/a/subscriptions.json?resourceIds=r&resourceIds=s').resourceIds).to.deep.equal(['r', 's'])
  })

  it('know paywalls and configurations', () => {
    expect(readRoute('/v1/paywall.json')).to.deep.equal({ document: 'paywall', input: {}, resourceIds: [] })
    expect(readRoute('/v1/p/a/b/paywall.json?billingCountryCode=DE').input).to.deep.equal({ productId: 'a/b', billingCountryCode: 'DE' })
    for (const kind of ['server', 'client'])
      expect(readRoute(`/v1/config/${kind}-sdk-configuration.json`).document).to.equal('sdkConfiguration')
  })

  const reasonOf = (target: string) => {
    try {
      return readRoute(target)
    } catch (error) {
      return Problem.from(error).reason
    }
  }

  it('are no others', () => {
    for (const target of [
      '/v1/',
      '/v1/c/',
      '/v1/c/entitlements.json',
      '/v1/c//entitlements.json',
      '/v1/c/a/nope.json',
      '/v1/p/paywall.json',
    ])
      expect(reasonOf(target), target).to.equal('PAGE_NOT_FOUND')
  })

  it('refuse what is no identifier', () => {
    expect(reasonOf('/v1/c/%20/entitlements.json')).to.equal('BAD_USER_INPUT')
    expect(reasonOf('/v1/c/a%00/entitlements.json')).to.equal('BAD_USER_INPUT')
    expect(reasonOf(`/v1/c/${'x'.repeat(256)}/entitlements.json`)).to.equal('BAD_USER_INPUT')
  })

  it('refuse what is not UTF-8, raw or escaped: different bytes would become one identifier', () => {
    for (const target of [
      '/v1/c/a%FF/entitlements.json',
      '/v1/c/a%c3/entitlements.json',
      '/v1/c/a\xff/entitlements.json',
      '/v1/c/%ed%a0%80/entitlements.json',
    ])
      expect(reasonOf(target), target).to.equal('BAD_USER_INPUT')
    for (const id of ['%FF', 'a\xfe', '%c0%80'])
      expect(reasonOf(`/v1/c/a/entitlements.json?resourceId=${id}`), id).to.equal('BAD_USER_INPUT')
    expect(
      readRoute('/v1/c/a/entitlements.json?resourceId=Z%C3%BCrich%EF%BF%BD&resourceIds=100%&resourceIds=Z\xc3\xbc').resourceIds,
    ).to.deep.equal(['Zürich\ufffd', '100%', 'Zü'])
  })
})
