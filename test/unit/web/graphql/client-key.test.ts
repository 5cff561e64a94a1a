import { expect } from 'chai'
import { type GraphQLNamedType, type GraphQLType, getNamedType, isInputObjectType, isObjectType, isUnionType } from 'graphql'
import { Problem } from '../../../../src/kernel/problem.js'
import { authorize, type Identity } from '../../../../src/web/access/auth.js'
import { createSchema } from '../../../../src/web/graphql/schema.js'

const schema = createSchema()
const client = { kind: 'CLIENT', customerId: 'acme', environmentId: 'e', environmentRefId: 'e' } as Identity
const asker = { customerId: 'acme' }

/** What a client key can ask for, about its own customer. */
const rootFields = [schema.getQueryType()!, schema.getMutationType()!, schema.getSubscriptionType()!].flatMap((root) =>
  Object.values(root.getFields()).filter(({ name, args }) => {
    try {
      authorize(client, { operation: root.name, field: name, args: Object.fromEntries(args.map((arg) => [arg.name, asker])) })
      return true
    } catch {
      return false
    }
  }),
)

/** Types whose records belong to somebody. */
const ownedTypes = new Set(['Customer', 'CustomerResource', 'CustomerSubscription', 'PromotionalEntitlement', 'SubscriptionInvoice'])

/** All fields and inputs within reach that may say something of a customer. */
function ofCustomers(): string[] {
  const found = new Set<string>()
  const seen = new Set<string>()
  const walk = (type: GraphQLNamedType): void => {
    if (seen.has(type.name)) return
    seen.add(type.name)
    if (isUnionType(type)) for (const member of type.getTypes()) walk(member)
    if (!isObjectType(type) && !isInputObjectType(type)) return
    for (const field of Object.values(type.getFields())) {
      const inner = getNamedType(field.type as GraphQLType)
      if (ownedTypes.has(inner.name) || /customer|pay(er|ing)|invoice/i.test(field.name)) found.add(`${type.name}.${field.name}`)
      walk(inner)
      if ('args' in field) for (const argument of field.args) walk(getNamedType(argument.type as GraphQLType))
    }
  }
  for (const field of rootFields) {
    walk(getNamedType(field.type as GraphQLType))
    for (const argument of field.args) walk(getNamedType(argument.type as GraphQLType))
  }
  return [...found].sort()
}

/** Of the customer whose token it is, as everything that is asked for begins there. */
const own = [
  'CouponFilterCustomerFilter.awsMarketplaceCustomerId',
  'CouponFilterCustomerFilter.customerId',
  'CreditBalanceUpdated.customerId',
  'Customer.awsMarketplaceCustomerId',
  'Customer.customerId',
  'Customer.promotionalEntitlements',
  'Customer.subscriptions',
  'CustomerSubscription.customer',
  'CustomerSubscription.customerId',
  'CustomerSubscription.resource',
  'Entitlement.customerId',
  'EntitlementsUpdated.customerId',
  'EntitlementsUpdatedV2.customerId',
  'FetchEntitlementQuery.customerId',
  'FetchEntitlementsQuery.customerId',
  'GetActiveSubscriptionsInput.customerId',
  'GetCustomerByRefIdInput.customerId',
  'GetEntitlementV2Input.customerId',
  'GetPaywallInput.customerId',
  'Paywall.activeSubscriptions',
  'Paywall.customer',
  'Paywall.resource',
  'UsageMeasurementUpdated.customerId',
  'UsageUpdatedV2.customerId',
]

/** May be another customer's: null for a client key, or refused. */
const hidden = [
  'Coupon.customers',
  'CouponFilter.customers',
  'CustomerSubscription.latestInvoice',
  'CustomerSubscription.payingCustomer',
  'CustomerSubscription.payingCustomerId',
]

describe('a client key', () => {
  it('reads from few fields', () => {
    expect(rootFields.map(({ name }) => name)).to.include.members(['entitlement', 'getCustomerByRefId', 'coupons', 'usageUpdated'])
    expect(rootFields.some(({ name }) => name === 'customers' || name === 'subscriptions')).to.equal(false)
  })

  it('reaches no field of customers of which is not known whose it is', () => {
    expect(ofCustomers()).to.deep.equal([...own, ...hidden].sort())
  })

  describe('is not shown', () => {
    const context = { identity: client, app: {}, loaders: {} }
    const paidByAnother = { id: 's', source: { payingCustomerId: 'payer' } }
    const resolve = (type: string, field: string, source: unknown, args = {}) => {
      const parent = schema.getType(type)
      if (!isObjectType(parent)) throw new Error(type)
      return parent.getFields()[field]!.resolve!(source, args, context, { path: {} } as never)
    }

    it('who else has a coupon', async () => {
      expect(await resolve('Coupon', 'customers', { id: 'c' })).to.equal(null)
    })
    for (const field of ['payingCustomer', 'payingCustomerId', 'latestInvoice'])
      it(`${field} of a subscription that another customer pays`, async () => {
        expect(await resolve('CustomerSubscription', field, paidByAnother)).to.equal(null)
      })
    it('which coupons somebody has', async () => {
      const customers = { email: { eq: 'a@example.com' } }
      for (const filter of [{ customers }, { and: [{ name: { eq: 'x' } }, { or: [{ customers }] }] }])
        try {
          await resolve('Query', 'coupons', undefined, { filter, paging: null, sorting: null })
          throw new Error('was answered')
        } catch (error) {
          expect(Problem.from(error).code).to.equal('PERMISSION_DENIED')
        }
    })
  })
})
