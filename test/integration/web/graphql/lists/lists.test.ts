import { expect } from 'chai'
import { type GraphQLEnumType, type GraphQLInputObjectType, getNamedType, isEnumType } from 'graphql'
import { createSchema } from '../../../../../src/web/graphql/schema.js'
import { eventually } from '../../../../support/eventually.js'
import { countStatements } from '../../../../support/statements.js'
import { type FrontDoor, openFrontDoor } from '../../front-door.js'

interface Connection<Node> {
  edges: { node: Node; cursor: string }[]
  pageInfo: { startCursor: string | null; endCursor: string | null; hasNextPage: boolean; hasPreviousPage: boolean }
  totalCount: number
}

const page = 'pageInfo { startCursor endCursor hasNextPage hasPreviousPage } totalCount'

describe('lists of the front door', () => {
  let door: FrontDoor
  const customerCount = 50
  const customerId = (index: number) => `customer-${String(index).padStart(2, '0')}`

  before(async function () {
    this.timeout(60_000)
    door = await openFrontDoor()
    for (let index = 0; index < customerCount; index++) {
      const isTeam = index % 5 === 0
      await door.app.customers.provision(door.environmentId, {
        refId: customerId(index),
        name: index % 2 === 0 ? `Even ${index}` : null,
        email: `${index}@example.com`,
        subscription: isTeam
          ? {
              planRefId: 'team',
              billingPeriod: 'MONTHLY',
              skipTrial: true,
              resourceRefId: null,
              addons: [{ addonRefId: 'extra-api-calls', quantity: 2 }],
            }
          : undefined,
      })
    }
  })
  after(async () => expect(await door.close()).to.deep.equal([]))

  const codes = ({ errors }: { errors?: { extensions: { code: string } }[] }) => errors?.map(({ extensions }) => extensions.code)
  const list = async <Node>(field: string, type: string, node: string, variables: object = {}): Promise<Connection<Node>> => {
    const hasSorting = field !== 'products'
    const sorting = hasSorting ? [`, $sorting: [${type}Sort!]`, ', sorting: $sorting'] : ['', '']
    const answer = await door.ask<Record<string, Connection<Node>>>(
      `query($filter: ${field === 'products' ? 'JSON' : `${type}Filter`}, $paging: CursorPaging${sorting[0]}) {
        ${field}(filter: $filter, paging: $paging${sorting[1]}) { edges { cursor node { ${node} } } ${page} } }`,
      variables,
    )
    expect(answer.errors, JSON.stringify(answer.errors)).to.equal(undefined)
    return answer.data![field]!
  }
  const customers = (variables?: object) => list<{ customerId: string }>('customers', 'Customer', 'customerId', variables)
  const subscriptions = (variables?: object) =>
    list<{ subscriptionId: string; status: string; customer: { customerId: string } }>(
      'subscriptions',
      'SubscriptionQuery',
      'subscriptionId status customer { customerId }',
      variables,
    )
  const idsOf = ({ edges }: Connection<{ customerId: string }>) => edges.map(({ node }) => node.customerId)

  it('answer the first ten, the newest first, and how many there are', async () => {
    const { edges, pageInfo, totalCount } = await customers()
    expect(edges.map(({ node }) => node.customerId)).to.deep.equal(Array.from({ length: 10 }, (_, i) => customerId(customerCount - 1 - i)))
    expect(totalCount).to.equal(customerCount)
    expect(pageInfo).to.deep.equal({
      startCursor: edges[0]!.cursor,
      endCursor: edges[9]!.cursor,
      hasNextPage: true,
      hasPreviousPage: false,
    })
  })

  it('are walked by cursor in the order that was asked for', async () => {
    const sorting = [{ field: 'name', direction: 'ASC', nulls: 'NULLS_FIRST' }]
    const seen: string[] = []
    for (let after: string | null = null; ; ) {
      const found: Connection<{ customerId: string }> = await customers({ sorting, paging: { first: 7, after } })
      seen.push(...idsOf(found))
      if (!found.pageInfo.hasNextPage) break
      after = found.pageInfo.endCursor
    }
    expect(seen).to.have.length(customerCount)
    expect(new Set(seen).size).to.equal(customerCount)
    expect(seen.slice(0, 25).every((id) => Number(id.slice(-2)) % 2 === 1)).to.equal(true)
  })

  it('are filtered by fields, groups and what belongs to a row', async () => {
    expect(idsOf(await customers({ filter: { email: { eq: '3@example.com' } } }))).to.deep.equal([customerId(3)])
    expect(idsOf(await customers({ filter: { searchQuery: { iLike: '%EVEN 48%' } } }))).to.deep.equal([customerId(48)])
    const either = { or: [{ customerId: { in: [customerId(1)] } }, { refId: { eq: customerId(2) } }] }
    expect(idsOf(await customers({ filter: either }))).to.deep.equal([customerId(2), customerId(1)])
    const paying = await customers({
      filter: { subscriptions: { pricingType: { eq: 'PAID' }, status: { in: ['ACTIVE'] } } },
      paging: { first: 1 },
    })
    expect(paying.totalCount).to.equal(customerCount / 5)
    expect((await customers({ filter: { promotionalEntitlements: { status: { eq: 'Active' } } } })).totalCount).to.equal(0)
    const since = { createdAt: { between: { lower: '2020-01-01T00:00:00.000Z', upper: '2020-02-01T00:00:00.000Z' } } }
    expect((await customers({ filter: since })).totalCount).to.equal(0)
  })

  it('of subscriptions are filtered and sorted, and know the customer, plan and resource', async () => {
    const paid = await subscriptions({ filter: { plan: { refId: { eq: 'team' } }, status: { eq: 'ACTIVE' } }, paging: { first: 100 } })
    expect(paid.totalCount).to.equal(customerCount / 5)
    expect(paid.edges.map(({ node }) => node.status)).to.satisfy((all: string[]) => all.every((status) => status === 'ACTIVE'))
    const own = await subscriptions({ filter: { customer: { customerId: { eq: customerId(5) } } } })
    expect(own.edges.map(({ node }) => node.customer.customerId)).to.deep.equal([customerId(5)])
    const byCustomer = await subscriptions({
      filter: { customerId: { lt: customerId(3) } },
      sorting: [{ field: 'customerId', direction: 'ASC' }],
    })
    expect(byCustomer.edges.map(({ node }) => node.customer.customerId)).to.deep.equal([0, 1, 2].map(customerId))
    expect((await subscriptions({ filter: { resource: { resourceId: { like: '%' } } } })).totalCount).to.equal(0)
    expect((await subscriptions({ filter: { plan: { isLatest: { is: true }, versionNumber: { gte: 1 } } } })).totalCount).to.equal(
      customerCount,
    )
  })

  it('of subscriptions are filtered and answered by the status of now, though no worker has recorded it', async () => {
    const trialEndDate = Date.now() + 400
    await door.app.subscriptions.provision(door.environmentId, {
      customerRefId: customerId(1),
      planRefId: 'team',
      billingPeriod: 'MONTHLY',
      subscriptionRefId: 'short-trial',
      trialOverride: { isTrial: true, trialEndDate, trialEndBehavior: 'CONVERT_TO_PAID' },
    })
    const statuses = async (status: string) =>
      (await subscriptions({ filter: { subscriptionId: { eq: 'short-trial' }, status: { eq: status } } })).edges.map(
        ({ node }) => node.status,
      )
    expect(await statuses('IN_TRIAL')).to.deep.equal(['IN_TRIAL'])
    await eventually('the end of the trial', () => Date.now() > trialEndDate)
    expect(await statuses('IN_TRIAL')).to.deep.equal([])
    expect(await statuses('ACTIVE')).to.deep.equal(['ACTIVE'])
  })

  it('of coupons and products are read from the catalog', async () => {
    const coupons = await list<object>(
      'coupons',
      'Coupon',
      'refId name type percentOff amountsOff { amount } discountValue durationInMonths status source',
    )
    expect(coupons.edges.map(({ node }) => node)).to.deep.equal([
      {
        refId: 'launch-20',
        name: 'Launch discount',
        type: 'PERCENTAGE',
        percentOff: 20,
        amountsOff: null,
        discountValue: 20,
        durationInMonths: 3,
        status: 'ACTIVE',
        source: 'STIGG',
      },
    ])
    const products = await list<object>('products', 'Product', 'refId displayName downgradePlan { refId }', {
      filter: { refId: { eq: 'acme-cloud' } },
    })
    expect(products.edges.map(({ node }) => node)).to.deep.equal([
      { refId: 'acme-cloud', displayName: 'Acme Cloud', downgradePlan: { refId: 'free' } },
    ])
    expect((await list('products', 'Product', 'refId', { filter: { refId: { eq: 'other' } } })).totalCount).to.equal(0)
  })

  describe('by every field that the schema has', () => {
    const schema = createSchema()
    for (const [field, type, node] of [
      ['customers', 'Customer', 'customerId'],
      ['subscriptions', 'SubscriptionQuery', 'subscriptionId'],
      ['coupons', 'Coupon', 'refId'],
    ] as const) {
      it(`${field} are filtered`, async () => {
        for (const filter of everyFilter(schema.getType(`${type}Filter`) as GraphQLInputObjectType))
          await list(field, type, node, { filter, paging: { first: 1 } })
      })

      it(`${field} are sorted`, async () => {
        for (const { name } of (schema.getType(`${type}SortFields`) as GraphQLEnumType).getValues())
          await list(field, type, node, { sorting: [{ field: name, direction: 'DESC' }], paging: { first: 1 } })
      })
    }
  })

  it('take what is compared with in lists, and no more than a filter may have in all of them', async () => {
    const named = await customers({ filter: { customerId: { in: [customerId(3), 'q"u\\o{t},e', customerId(7)] } } })
    expect(idsOf(named)).to.deep.equal([customerId(7), customerId(3)])
    expect((await customers({ filter: { customerId: { notIn: [customerId(3), customerId(7)] } } })).totalCount).to.equal(customerCount - 2)
    const query = 'query($filter: CouponFilter) { coupons(filter: $filter) { totalCount } }'
    const texts = Array.from({ length: 1_000 }, (_, n) => `text-${n}`)
    expect((await door.ask(query, { filter: { refId: { in: texts } } })).data).to.deep.equal({ coupons: { totalCount: 0 } })
    const tooMany = await door.ask(query, { filter: { and: Array(66).fill({ refId: { in: texts } }) } }, { 'x-api-key': door.clientKey })
    expect(tooMany.errors?.map(({ message, extensions }) => [message, extensions.code])).to.deep.equal([
      ['The lists of a filter may have at most 1000 values, all of them together.', 'BadUserInput'],
    ])
  })

  it('refuse what cannot be right, by name', async () => {
    const refused: [string, object][] = [
      ['{ customers(paging: {first: 101}) { totalCount } }', {}],
      ['{ customers(paging: {first: 1, last: 1}) { totalCount } }', {}],
      ['{ customers(paging: {after: "nonsense"}) { totalCount } }', {}],
      ['{ customers(filter: {name: {eq: null}}) { totalCount } }', {}],
      ['{ customers(filter: {colour: {eq: "red"}}) { totalCount } }', {}],
      ['{ products(filter: {colour: {eq: "red"}}) { totalCount } }', {}],
      ['{ products(filter: "acme") { totalCount } }', {}],
    ]
    for (const [query] of refused) expect(codes(await door.ask(query)), query).to.deep.equal(['BadUserInput'])
  })

  it('hide archived customers, unless they are asked for', async () => {
    await door.app.customers.provision(door.environmentId, { refId: 'gone' })
    const before = (await customers()).totalCount
    const { data } = await door.ask<{ archiveCustomer: { customerId: string } }>(
      'mutation { archiveCustomer(input: {customerId: "gone"}) { customerId } }',
    )
    expect(data?.archiveCustomer).to.deep.equal({ customerId: 'gone' })
    expect((await customers()).totalCount).to.equal(before - 1)
    expect(idsOf(await customers({ filter: { deletedAt: { isNot: null } } }))).to.deep.equal(['gone'])
  })

  it('cost a bounded number of statements, however many rows and related records they answer', async () => {
    const query = (count: number) => `{ subscriptions(paging: {first: ${count}}) { totalCount edges { node {
      subscriptionId status pricingType startDate currentBillingPeriodEnd trialConfiguration { trialEndBehavior } resource { resourceId }
      customer { customerId name } payingCustomer { customerId }
      plan { refId isLatest status createdAt isParent product { refId downgradePlan { refId } }
        basePlan { refId } compatibleAddons { refId dependencies { refId } } inheritedEntitlements { feature { refId } usageLimit }
        entitlements { feature { refId additionalMetaData } } prices { price { amount } feature { refId } usedInSubscriptions } }
      addons { quantity addon { refId hasSubscriptions prices { price { amount } } } }
    } } } }`
    const statements = async (count: number) => {
      const counted = countStatements()
      try {
        const { data, errors } = await door.ask<{ subscriptions: Connection<object> }>(query(count))
        expect(errors).to.equal(undefined)
        expect(data!.subscriptions.edges).to.have.length(count)
      } finally {
        counted.stop()
      }
      return counted.texts
    }
    await statements(50)
    const [few, many] = [await statements(2), await statements(50)]
    expect(many.length, many.join('\n')).to.be.at.most(40)
    // A large answer is made in turns, and what one turn asks for is loaded together.
    expect(many.length - few.length, 'more rows, more statements').to.be.at.most(12)
  })
})

/** One filter for each field of the type, and of what belongs to a row. */
function everyFilter(type: GraphQLInputObjectType): object[] {
  return Object.values(type.getFields()).flatMap(({ name, type: fieldType }) => {
    const named = getNamedType(fieldType) as GraphQLInputObjectType
    if (named === type) return [{ [name]: [] }]
    const operators = named.getFields()
    if ('and' in operators) return everyFilter(named).map((filter) => ({ [name]: filter }))
    if ('is' in operators) return [{ [name]: { is: null } }]
    const { type: operandType } = operators.eq ?? operators.iLike!
    return [{ [name]: isEnumType(operandType) ? { eq: operandType.getValues()[0]!.name } : { iLike: 'a%' } }]
  })
}
