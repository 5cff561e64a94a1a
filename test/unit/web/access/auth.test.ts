import { expect } from 'chai'
import { Problem } from '../../../../src/kernel/problem.js'
import { authorize, type Identity, identify, operator, operatorFields, operatorsToo } from '../../../../src/web/access/auth.js'
import { createSchema } from '../../../../src/web/graphql/schema.js'

const key = {
  environmentId: 'env-id',
  environmentRefId: 'production',
  hasPersistentCache: false,
  allowsUnsignedClientReads: false,
  keyId: 'k',
  keyName: 'backend',
}
const server: Identity = { ...key, kind: 'SERVER', customerId: null }
const client: Identity = { ...key, kind: 'CLIENT', customerId: 'mine' }
const unsigned: Identity = { ...client, customerId: null }

describe('what a key may ask', () => {
  const reasonOf = (identity: Identity, operation: string, field: string, input: Record<string, unknown> = {}, isOperator = false) => {
    try {
      authorize(identity, { operation, field, args: { query: input, input } }, { isOperator })
      return null
    } catch (error) {
      return Problem.from(error).reason
    }
  }
  const reads = ['cachedEntitlements', 'entitlement', 'entitlementV2', 'entitlementsState', 'getActiveSubscriptions', 'getCustomerByRefId']
  const offers = ['getPaywall', 'paywall']
  const open = ['coupons', 'products', 'sdkConfiguration']
  const heard = [
    'entitlementsUpdated',
    'entitlementsUpdatedV2',
    'usageUpdated',
    'usageUpdatedV2',
    'creditBalanceUpdated',
    'packagePublished',
  ]

  const schema = createSchema()
  const everything = [schema.getQueryType()!, schema.getMutationType()!, schema.getSubscriptionType()!].flatMap((root) =>
    Object.keys(root.getFields()).map((field) => [root.name, field] as const),
  )
  it('knows the fields that are for the operator alone', () => {
    expect([...operatorFields].filter((field) => !everything.some(([, known]) => known === field))).to.deep.equal([])
  })

  for (const [operation, field] of everything) {
    it(`${operation}.${field}: the operator what crosses environments, and nothing of one without a key of it`, () => {
      const isForOperator = operatorFields.has(field)
      expect(reasonOf(operator, operation, field, {}, true)).to.equal(
        isForOperator || operatorsToo.has(field) ? null : 'IDENTITY_FORBIDDEN',
      )
      expect(reasonOf(server, operation, field, {}, true)).to.equal(null)
      if (!isForOperator) return
      for (const identity of [operator, server, client, unsigned])
        expect(reasonOf(identity, operation, field)).to.equal('IDENTITY_FORBIDDEN')
    })
    if (operatorFields.has(field)) continue

    it(`${operation}.${field}: a server key everything, a client key only reads of its customer`, () => {
      const mine = { customerId: 'mine' }
      const isOpen =
        operation === 'Subscription' ? heard.includes(field) : operation === 'Query' && [...reads, ...open, ...offers].includes(field)
      expect(reasonOf(server, operation, field, { customerId: 'anybody' })).to.equal(null)
      expect(reasonOf(client, operation, field, mine)).to.equal(isOpen ? null : 'IDENTITY_FORBIDDEN')
      expect(reasonOf(unsigned, operation, field, mine)).to.equal(open.includes(field) ? null : 'IDENTITY_FORBIDDEN')
    })
  }

  for (const field of reads) {
    it(`${field}: not of another customer, nor of nobody`, () => {
      expect(reasonOf(client, 'Query', field, { customerId: 'other' })).to.equal('AUTH_CUSTOMER_MISMATCH')
      expect(reasonOf(client, 'Query', field, { customerId: 'MINE' })).to.equal('AUTH_CUSTOMER_MISMATCH')
      expect(reasonOf(client, 'Query', field)).to.equal('AUTH_CUSTOMER_MISMATCH')
    })

    it(`${field}: of anybody where the environment allows unsigned reads`, () => {
      expect(reasonOf({ ...unsigned, allowsUnsignedClientReads: true }, 'Query', field, { customerId: 'x' })).to.equal(null)
      expect(reasonOf({ ...client, allowsUnsignedClientReads: true }, 'Query', field, { customerId: 'x' })).to.equal(
        'AUTH_CUSTOMER_MISMATCH',
      )
    })
  }

  for (const field of offers) {
    it(`${field}: of anybody’s own, and of nobody`, () => {
      expect(reasonOf(unsigned, 'Query', field)).to.equal(null)
      expect(reasonOf(client, 'Query', field, { customerId: null })).to.equal(null)
      expect(reasonOf(client, 'Query', field, { customerId: 'other' })).to.equal('AUTH_CUSTOMER_MISMATCH')
    })
  }

  it('unsigned reads allow no change and no listening', () => {
    const lenient = { ...unsigned, allowsUnsignedClientReads: true }
    expect(reasonOf(lenient, 'Mutation', 'reportUsage')).to.equal('IDENTITY_FORBIDDEN')
    expect(reasonOf(lenient, 'Query', 'catalog')).to.equal('IDENTITY_FORBIDDEN')
    for (const field of heard) expect(reasonOf(lenient, 'Subscription', field), field).to.equal('IDENTITY_FORBIDDEN')
  })

  it('names of things that every object has are no fields, nor is one that nobody has named yet', () => {
    for (const operation of ['Query', 'Mutation', 'Subscription'])
      for (const field of ['constructor', 'toString', '__proto__', 'somethingNewUpdated'])
        expect(reasonOf(client, operation, field), `${operation}.${field}`).to.equal('IDENTITY_FORBIDDEN')
  })

  it('an input may name the environment of the key by either identifier, and no other', () => {
    for (const environmentId of ['env-id', 'production', null, undefined])
      expect(reasonOf(server, 'Query', 'entitlement', { environmentId })).to.equal(null)
    // Of a list's filter.
    expect(reasonOf(server, 'Query', 'customers', { environmentId: { eq: 'staging' } })).to.equal(null)
    expect(reasonOf(server, 'Query', 'entitlement', { environmentId: 'staging' })).to.equal('IDENTITY_FORBIDDEN')
  })
})

describe('who asks', () => {
  const address = '192.0.2.1'
  const environments = {
    authenticate: async (apiKey: string) => ({ ...key, kind: apiKey.startsWith('client') ? ('CLIENT' as const) : ('SERVER' as const) }),
    verifyCustomerToken: async (environmentId: string, token: string) => `${environmentId}/${token}`,
  }

  it('is nobody without a key', async () => {
    for (const apiKey of [undefined, '']) {
      const error = await identify(environments, { apiKey, customerToken: undefined }, address).catch((thrown: unknown) => thrown)
      expect(Problem.from(error).code).to.equal('UNAUTHENTICATED')
    }
  })

  it('is the customer of the token for a client key, and never for a server key', async () => {
    expect((await identify(environments, { apiKey: 'client-1', customerToken: 't' }, address)).customerId).to.equal('env-id/t')
    expect((await identify(environments, { apiKey: 'client-1', customerToken: undefined }, address)).customerId).to.equal(null)
    expect((await identify(environments, { apiKey: 'server-1', customerToken: 't' }, address)).customerId).to.equal(null)
  })
})
