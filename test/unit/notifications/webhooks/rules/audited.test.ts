import { expect } from 'chai'
import { differenceOf } from '../../../../../src/audit/model/difference.js'
import { auditedDisabling, auditedEndpoint, auditedSecret } from '../../../../../src/notifications/webhooks/rules/audited.js'
import type { WebhookEndpoint } from '../../../../../src/notifications/webhooks/rules/endpoint.js'

const endpoint: WebhookEndpoint = {
  id: 'w',
  environmentId: 'e',
  url: 'https://app.example.com/hooks',
  description: 'billing',
  eventTypes: ['invoice.paid'],
  status: 'ACTIVE',
  disabledReason: null,
  disabledAt: null,
  failingSince: 5,
  previousSecretExpiresAt: null,
  createdAt: 1,
  updatedAt: 2,
}
const entity = { environmentId: 'e', kind: 'WEBHOOK_ENDPOINT', id: 'w' }
const changed = { changed: true }
const origin = 'https://app.example.com'
const fields = { id: 'w', url: origin, urlRest: changed, description: 'billing', eventTypes: ['invoice.paid'], status: 'ACTIVE' }

describe('what the audit log says of a webhook endpoint', () => {
  it('is all that it has when it is made, and when it is gone', () => {
    const made = auditedEndpoint(null, endpoint)
    expect(made).to.include(entity)
    expect(differenceOf(made)).to.deep.equal({ before: null, after: fields })
    const gone = auditedEndpoint(endpoint, null)
    expect(gone).to.include(entity)
    expect(differenceOf(gone)).to.deep.equal({ before: fields, after: null })
  })

  it('is what became different of it', () => {
    const later: WebhookEndpoint = { ...endpoint, status: 'DISABLED', disabledReason: 'GONE', disabledAt: 0 }
    const change = auditedEndpoint(endpoint, later)
    expect(change).to.include(entity)
    expect(differenceOf(change)).to.deep.equal({
      before: { status: 'ACTIVE', disabledReason: null, disabledAt: null },
      after: { status: 'DISABLED', disabledReason: 'GONE', disabledAt: '1970-01-01T00:00:00.000Z' },
    })
    expect(differenceOf(auditedEndpoint(endpoint, { ...endpoint, failingSince: null, updatedAt: 9 }))).to.equal(null)
  })

  for (const url of [
    'https://a@app.example.com/',
    'https://:b@app.example.com/',
    'https://app.example.com/?c',
    'https://app.example.com/#d',
    'https://app.example.com/d',
  ])
    it(`shows ${url} without what may be secret, but that there is some, and that it changed`, () => {
      const [bare, other] = [`https://app.example.com/`, url.replace(/[a-d](?=@|$)/, 'x')]
      const changeOf = (from: string, to: string) => differenceOf(auditedEndpoint({ ...endpoint, url: from }, { ...endpoint, url: to }))
      expect(differenceOf(auditedEndpoint(null, { ...endpoint, url }))?.after).to.deep.equal(fields)
      expect(changeOf(bare, url)).to.deep.equal({ before: { urlRest: null }, after: { urlRest: changed } })
      expect(changeOf(url, other)).to.deep.equal({ before: { urlRest: changed }, after: { urlRest: changed } })
      expect(changeOf(url, url)).to.equal(null)
    })

  it('is of another secret that it is another one, and until when the one before is used', () => {
    const change = auditedSecret(endpoint, { ...endpoint, previousSecretExpiresAt: 1_000 })
    expect(change).to.include(entity)
    expect(differenceOf(change)).to.deep.equal({
      before: { secret: changed, previousSecretExpiresAt: null },
      after: { secret: changed, previousSecretExpiresAt: '1970-01-01T00:00:01.000Z' },
    })
    expect(differenceOf(auditedSecret({ ...endpoint, previousSecretExpiresAt: 0 }, endpoint))?.before).to.deep.equal({
      secret: changed,
      previousSecretExpiresAt: '1970-01-01T00:00:00.000Z',
    })
  })

  it('is why it was disabled', () => {
    expect(auditedDisabling('e', 'w', 'NO_SUCCESS')).to.deep.equal({
      ...entity,
      before: { status: 'ACTIVE', disabledReason: null },
      after: { status: 'DISABLED', disabledReason: 'NO_SUCCESS' },
    })
  })
})
