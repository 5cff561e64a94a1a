import { expect } from 'chai'
import { differenceOf } from '../../../../../src/audit/model/difference.js'
import * as decimal from '../../../../../src/kernel/decimal.js'
import type { Alert } from '../../../../../src/notifications/alerts/rules/alert.js'
import { auditedAlert } from '../../../../../src/notifications/alerts/rules/audited.js'

const alert: Alert = {
  id: 'a',
  environmentId: 'e',
  description: 'most of the calls',
  feature: { id: 'f-calls', refId: 'calls' },
  planId: 'team',
  customer: { id: 'c-acme', refId: 'acme' },
  thresholds: [{ kind: 'SHARE', value: decimal.fromNumber(80) }],
  hysteresisPercent: 10,
  createdAt: 1,
  updatedAt: 2,
}
const entity = { environmentId: 'e', kind: 'ALERT', id: 'a' }
const fields = {
  id: 'a',
  description: 'most of the calls',
  subject: 'FEATURE',
  featureId: 'calls',
  planId: 'team',
  customerId: 'acme',
  thresholds: [{ kind: 'SHARE', value: '80' }],
  hysteresisPercent: 10,
}

describe('what the audit log says of an alert', () => {
  it('is all that it has when it is made, and when it is gone, in the identifiers of the host application', () => {
    expect(auditedAlert(null, alert)).to.include(entity)
    expect(differenceOf(auditedAlert(null, alert))).to.deep.equal({ before: null, after: fields })
    expect(auditedAlert(alert, null)).to.include(entity)
    expect(differenceOf(auditedAlert(alert, null))).to.deep.equal({ before: fields, after: null })
  })

  it('is of one that is for all customers, and of budgets, that it names nobody and no feature', () => {
    const { customerId: _, featureId: __, planId: ___, ...rest } = fields
    const ofAll = auditedAlert(null, { ...alert, feature: null, planId: null, customer: null })
    expect(differenceOf(ofAll)?.after).to.deep.equal({ ...rest, subject: 'BUDGET' })
  })

  it('is what became different of it', () => {
    expect(differenceOf(auditedAlert(alert, { ...alert, description: null, hysteresisPercent: 0, updatedAt: 9 }))).to.deep.equal({
      before: { description: 'most of the calls', hysteresisPercent: 10 },
      after: { description: null, hysteresisPercent: 0 },
    })
    expect(differenceOf(auditedAlert(alert, { ...alert, updatedAt: 9 }))).to.equal(null)
  })
})
