import { expect } from 'chai'
import { differenceOf } from '../../../../src/audit/model/difference.js'
import { auditedCustomer } from '../../../../src/customer/model/audited.js'
import type { Customer } from '../../../../src/customer/model/customer.js'
import { toldCustomer } from '../../../../src/customer/model/events.js'

const customer: Customer = {
  id: 'c',
  refId: 'acme',
  environmentId: 'e',
  name: 'Ada',
  email: 'ada@example.com',
  timeZone: 'Europe/Berlin',
  billingCurrency: 'EUR',
  billingId: 'cus_1',
  crmId: null,
  salesforceId: null,
  awsMarketplaceCustomerId: null,
  couponId: 'launch',
  additionalMetaData: { team: 'blue' },
  archivedAt: null,
  createdAt: 0,
  updatedAt: 0,
}
const archived = { ...customer, name: null, email: null, archivedAt: 1_000 }
const changed = { changed: true }

describe('what the audit log says of a customer', () => {
  it('is all that it has when it is made, without its name and address', () => {
    const change = auditedCustomer(null, customer)
    expect(change).to.include({ environmentId: 'e', kind: 'CUSTOMER', id: 'acme' })
    expect(differenceOf(change)).to.deep.equal({
      before: null,
      after: {
        customerId: 'acme',
        name: changed,
        email: changed,
        billingCurrency: 'EUR',
        timezone: 'Europe/Berlin',
        billingId: 'cus_1',
        coupon: { id: 'launch' },
        additionalMetaData: { team: 'blue' },
      },
    })
  })

  it('is what became different of it', () => {
    expect(differenceOf(auditedCustomer(customer, { ...customer, email: 'eve@example.com', couponId: null }))).to.deep.equal({
      before: { email: changed, coupon: { id: 'launch' } },
      after: { email: changed, coupon: null },
    })
    expect(differenceOf(auditedCustomer(customer, archived))?.after).to.deep.equal({
      name: null,
      email: null,
      deletedAt: '1970-01-01T00:00:01.000Z',
    })
    expect(differenceOf(auditedCustomer(customer, { ...customer, updatedAt: 9 }))).to.equal(null)
  })
})

describe('what events say of a customer', () => {
  it('is no name, no address and no metadata', () => {
    const told = { customerId: 'acme', timezone: 'Europe/Berlin', billingCurrency: 'EUR', createdAt: '1970-01-01T00:00:00.000Z' }
    expect(toldCustomer(customer)).to.deep.equal({ customer: { ...told, isArchived: false } })
    expect(toldCustomer({ ...archived, archivedAt: 0 })).to.deep.equal({ customer: { ...told, isArchived: true } })
  })
})
