import { expect } from 'chai'
import { differenceOf } from '../../../../src/audit/model/difference.js'
import { auditedPromotional, type PromotionalFacts } from '../../../../src/entitlement/rules/audited.js'
import { fromNumber } from '../../../../src/kernel/decimal.js'

const granted: PromotionalFacts = {
  environmentId: 'e',
  id: 'p',
  customerId: 'acme',
  featureRefId: 'calls',
  usageLimit: fromNumber(5),
  hasUnlimitedUsage: false,
  hasSoftLimit: false,
  enumValues: [],
  resetPeriod: null,
  period: 'ONE_MONTH',
  description: null,
  isVisible: true,
  startDate: 0,
  endDate: null,
  status: 'Active',
}
const entity = { environmentId: 'e', kind: 'PROMOTIONAL_ENTITLEMENT', id: 'p' }
const fields = {
  id: 'p',
  customer: { id: 'acme' },
  feature: { refId: 'calls' },
  usageLimit: '5',
  hasUnlimitedUsage: false,
  hasSoftLimit: false,
  period: 'ONE_MONTH',
  isVisible: true,
  startDate: '1970-01-01T00:00:00.000Z',
  status: 'Active',
}

describe('what the audit log says of a promotional entitlement', () => {
  it('is all of it when it is granted, and when it is taken back', () => {
    const grant = auditedPromotional(null, granted)
    expect(grant).to.include(entity)
    expect(differenceOf(grant)).to.deep.equal({ before: null, after: fields })
    const revocation = auditedPromotional(granted, null)
    expect(revocation).to.include(entity)
    expect(differenceOf(revocation)).to.deep.equal({ before: fields, after: null })
  })

  it('is what became different of it', () => {
    const change = auditedPromotional(granted, { ...granted, endDate: 1_000, usageLimit: null })
    expect(change).to.include(entity)
    expect(differenceOf(change)).to.deep.equal({
      before: { usageLimit: '5', endDate: null },
      after: { usageLimit: null, endDate: '1970-01-01T00:00:01.000Z' },
    })
  })
})
