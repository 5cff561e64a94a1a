import { expect } from 'chai'
import { Inheritance } from '../../../../../src/catalog/model/inheritance.js'
import type { PackageVersion } from '../../../../../src/catalog/model/package.js'
import { catalogSizes } from '../../../../../src/catalog/model/sizes.js'
import { inSteps } from '../../../../../src/catalog/steps.js'
import type { Identity } from '../../../../../src/web/access/auth.js'
import { RateLimits } from '../../../../../src/web/access/rate-limits.js'
import type { Services } from '../../../../../src/web/graphql/operations/context.js'
import { createSchema } from '../../../../../src/web/graphql/schema.js'
import { boolean, state } from '../../../../contract/cache/held.js'
import { openGraphqlDoor, serverIdentity } from '../../../../support/graphql-door.js'
import { ended, longestStepMs } from '../../../../support/steps.js'
import { wholeText } from '../../../../support/whole-text.js'
import { entitled, feature, plan } from '../../../subscription/support.js'

const features = Array.from({ length: 10_000 }, (_, index) => feature(`f${index}`))
const entitledTo = (from: number, to: number) => features.slice(from, to).map((one) => entitled(one, { limit: 10 }))

const heldState = (count: number) =>
  state(
    1,
    Array.from({ length: count }, (_, index) => boolean(`f${index}`, { hasUnlimitedUsage: true })),
    { environmentId: 'e' },
  )

class Costs extends RateLimits {
  readonly taken: number[] = []

  override takeCost(_: Identity, __: string, cost: number): void {
    this.taken.push(cost)
  }
}

/** A door to this catalog and state. `isHeld`: the state is at hand. */
function openDoor({
  plans = [],
  held = heldState(0),
  isHeld = false,
  listCoupons,
}: {
  plans?: PackageVersion[]
  held?: ReturnType<typeof heldState>
  isHeld?: boolean
  listCoupons?: () => Promise<object>
}) {
  const versions = new Map(plans.map((version) => [version.id, version]))
  const inheritance = new Inheritance(versions)
  const costs = new Costs({ perKey: 1e6, perCustomer: 1e6, perAddress: 1e6 })
  let catalogReads = 0
  const app = {
    clock: { now: () => 1_000 },
    entitlements: { state: async () => held },
    offers: {
      listCoupons,
      plansOf: async () => plans,
      inherited: async (_: string, ids: string[]) => new Map(ids.map((id) => [id, inheritance.of(versions.get(id)!)])),
      sizes: async () => {
        catalogReads += 1
        return ended(catalogSizes(plans, versions))
      },
    },
  } as unknown as Services
  const post = openGraphqlDoor({ app, schema: createSchema(), rateLimits: costs, heldState: () => (isHeld ? held : null) })
  const ask = async (query: string, variables = {}) => {
    const { body: text } = await post({ query, variables }, { asker: { identity: serverIdentity, isOperator: false } })
    return { text: wholeText(text!), taken: costs.taken.splice(0), catalogReads }
  }
  return ask
}

const plans = Array.from({ length: 100 }, (_, index) => plan(`p${index}`, { entitlements: entitledTo(index * 50, index * 50 + 200) }))
const aliased = (count: number, field: string) => Array.from({ length: count }, (_, index) => `a${index}: ${field}`).join(' ')

describe('a large answer', function () {
  this.timeout(300_000)

  /** On a slow machine, of which copying the data in one step tells how slow it is, a step may take longer. Without turns it takes twice of that and more. */
  async function expectShortSteps(what: string, work: () => Promise<unknown>): Promise<void> {
    const longest = await longestStepMs(work)
    const copied = await longestStepMs(async () => structuredClone(plans))
    expect(longest, `${what}: copying a catalog in one step took ${copied} ms`).to.be.below(Math.max(20, copied * 1.5))
  }

  it('of the sizes of a catalog of plans that inherit from each other never takes long at a time', async () => {
    const chain = Array.from({ length: 100 }, (_, index) =>
      plan(`c${index}`, {
        basePlanVersionId: index === 0 ? null : `c${index - 1}-v1`,
        entitlements: entitledTo(index * 100, index * 100 + 100),
      }),
    )
    const versions = new Map(chain.map((version) => [version.id, version]))
    await expectShortSteps('sizes', () => inSteps(catalogSizes(chain, versions)))
    expect(ended(catalogSizes(chain, versions)).plan.inheritedEntitlements).to.equal(4_950)
  })

  it('of a paywall never takes long at a time, and takes its points, however short its document is', async () => {
    const ask = openDoor({ plans })
    const query = '{ getPaywall { refId entitlements { featureId usageLimit hasUnlimitedUsage feature { refId displayName } } } }'
    const { text, taken } = await ask(query)
    expect(JSON.parse(text).data.getPaywall[99].entitlements).to.have.length(200)
    expect(taken).to.deep.equal([100 * (2 + 200 * 6) + 1])
    await expectShortSteps('paywall', () => ask(query))
  })

  it('is refused when the catalog makes too much of it, though its lists are short as a rule', async () => {
    const { text, catalogReads } = await openDoor({ plans })(`{ getPaywall { entitlements { ${aliased(70, 'featureId')} } } }`)
    expect(JSON.parse(text).errors[0].message).to.equal(
      'The answer may have 1400101 fields, at most 500000 are given: ask for shorter pages or fewer fields.',
    )
    expect(catalogReads).to.equal(1)
  })

  const question = { query: { customerId: 'acme' } }
  const ofState = (fields: string) => `query($query: FetchEntitlementsQuery!) { entitlementsState(query: $query) { ${fields} } }`
  const lists = ofState(aliased(40, 'entitlements { isGranted usageLimit feature { refId } }'))

  it('of a state of many entitlements never takes long at a time, whether it is at hand or not', async () => {
    for (const isHeld of [true, false]) {
      const ask = openDoor({ held: heldState(1_000), isHeld })
      const { text, taken } = await ask(lists, question)
      expect(JSON.parse(text).data.entitlementsState.a39).to.have.length(1_000)
      expect(taken.includes(1 + 40 * (1 + 1_000 * 4) + 2), 'as far as it is known').to.equal(isHeld)
      await expectShortSteps('state', () => ask(lists, question))
    }
    const many = `{ ${aliased(50, 'cachedEntitlements(query: { customerId: "acme" }) { isGranted }')} }`
    const ask = openDoor({ held: heldState(1_000) })
    await expectShortSteps('states', () => ask(many))
  })

  it('to questions with many values is begun in turns, and takes a point for each of them where it is used', async () => {
    let served = 0
    let isOver = false
    const serve = () => {
      served += 1
      if (!isOver) setImmediate(serve)
    }
    const servedBefore: number[] = []
    const listCoupons = async () => {
      servedBefore.push(served)
      // As long as a turn is.
      for (const startedAt = performance.now(); performance.now() - startedAt < 9; );
      return { rows: [], totalCount: async () => 0 }
    }
    const ask = openDoor({ listCoupons })
    const document = (count: number) => `query($f: CouponFilter) { ${aliased(count, 'coupons(filter: $f) { totalCount }')} }`
    const f = { refId: { in: Array.from({ length: 100 }, (_, index) => `coupon-${100 + index}`) } }
    serve()
    const { text, taken } = await ask(document(30), { f })
    isOver = true
    expect(JSON.parse(text).data.a29).to.deep.equal({ totalCount: 0 })
    expect(new Set(servedBefore)).to.have.property('size', 30)
    expect(taken).to.deep.equal([document(30).length, 30 * (11 + 2 + 100 + 10)])
    expect((await ask(document(1), { f })).taken).to.deep.equal([])
  })

  it('is made of a state of few entitlements at once, and asks nobody how long the lists of the catalog are', async () => {
    const { text, taken, catalogReads } = await openDoor({ held: heldState(20), isHeld: true })(
      ofState('entitlements { isGranted }'),
      question,
    )
    expect(JSON.parse(text).data.entitlementsState.entitlements).to.have.length(20)
    expect([taken, catalogReads]).to.deep.equal([[], 0])
  })
})
