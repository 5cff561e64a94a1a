import { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { setImmediate as nextRound } from 'node:timers/promises'
import { expect } from 'chai'
import { parse } from 'graphql'
import type { CatalogSizes } from '../../../../src/catalog/model/sizes.js'
import type { Entitlement, EntitlementState } from '../../../../src/entitlement/rules/state.js'
import { silentLogger } from '../../../../src/platform/logger.js'
import { Registry } from '../../../../src/platform/metrics.js'
import { TrustedProxies } from '../../../../src/web/access/address.js'
import type { Identity } from '../../../../src/web/access/auth.js'
import { bytesPerField, costPerKey, RateLimits } from '../../../../src/web/access/rate-limits.js'
import { UnreadAnswers } from '../../../../src/web/access/unread-answers.js'
import { edgeDocuments } from '../../../../src/web/edge/documents.js'
import { type EdgeOptions, openEdge } from '../../../../src/web/edge/edge.js'
import { largeAnswers, largeAnswersAtATime } from '../../../../src/web/graphql/door/execution.js'
import { maxCostAtOnce, prepareCost } from '../../../../src/web/graphql/door/limits.js'
import { Turns } from '../../../../src/web/graphql/operations/turns.js'
import { createSchema } from '../../../../src/web/graphql/schema.js'
import { boolean, state } from '../../../contract/cache/held.js'
import { eventually } from '../../../support/eventually.js'

const schema = createSchema()

const nothingSold: CatalogSizes = {
  plans: 0,
  billingPeriods: 2,
  plan: { entitlements: 0, prices: 0, compatibleAddons: 0, inheritedEntitlements: 0 },
  addon: { entitlements: 0, prices: 0, dependencies: 0 },
  tiers: 0,
}

/** An edge whose customers hold as many entitlements as their names say (`3-…`), of one key; what it takes and gives back of the rates is noted. */
function edgeOf({ timeoutMs = 20_000, sizes = nothingSold, ofEach = {} as Partial<Entitlement> } = {}) {
  const states = new Map<string, EntitlementState>()
  const stateOf = (customerId: string) => {
    const known = states.get(customerId)
    if (known) return known
    const entitlements = Array.from({ length: Number.parseInt(customerId, 10) }, (_, n) => boolean(`feature-${n}`, ofEach))
    const made = state(1, entitlements, { customerId })
    states.set(customerId, made)
    return made
  }
  const begun: string[] = []
  const entitlements = {
    held: (_: string, customerId: string) => stateOf(customerId),
    state: async (_: string, customerId: string) => stateOf(customerId),
    grow: () => true,
    check: async () => undefined,
  }
  const key = { environmentId: 'e', environmentRefId: 'e', keyId: 'k', keyName: 'k', kind: 'SERVER' }
  let now = 0
  const rateLimits = new RateLimits({ perKey: 1e6, perCustomer: 1e6, perAddress: 1e6 }, () => now)
  const costs: number[] = []
  const given: number[] = []
  const { takeCost, giveBackCost, takeBytes } = rateLimits
  rateLimits.takeCost = (identity, address, cost) => {
    costs.push(cost)
    takeCost.call(rateLimits, identity, address, cost)
  }
  rateLimits.giveBackCost = (identity, address, cost) => {
    costs.push(-cost)
    giveBackCost.call(rateLimits, identity, address, cost)
  }
  rateLimits.takeBytes = (identity, address, bytes) => {
    given.push(bytes)
    takeBytes.call(rateLimits, identity, address, bytes)
  }
  const app = {
    environments: { authenticate: async () => key },
    entitlements,
    offers: { sizes: async () => sizes },
    clock: {
      now: () => {
        begun.push('read')
        return 1_000
      },
    },
  }
  const unread = new UnreadAnswers(new Registry())
  const options = { app, schema, trusted: new TrustedProxies([]), rateLimits, timeoutMs, log: silentLogger(), unread }
  const edge = openEdge(options as unknown as EdgeOptions)
  const ask = (customerId: string, { page = 'entitlements-state', etag = undefined as string | undefined, method = 'GET' } = {}) => {
    const answer = { status: 0, etag: '', body: undefined as string | undefined }
    const pieces: Buffer[] = []
    const res = Object.assign(new EventEmitter(), {
      closed: false,
      writableLength: 0,
      req: { socket: {} },
      writeHead(status: number, headers: { etag: string }) {
        Object.assign(answer, { status, etag: headers.etag })
        return res
      },
      write: (piece: Buffer) => pieces.push(piece),
      end: (body?: string) => {
        answer.body = pieces.length > 0 ? Buffer.concat(pieces).toString() : body
      },
    })
    const headers = { 'x-api-key': 'server-1', 'if-none-match': etag }
    const url = page === 'paywall' ? '/v1/paywall.json' : `/v1/c/${customerId}/${page}.json`
    const req = { method, url, socket: {}, headers }
    const done = edge.answer(req as unknown as IncomingMessage, res as unknown as ServerResponse).then(() => answer)
    return { done, answer, hangUp: () => res.emit('close'), res }
  }
  return {
    ask,
    costs,
    given,
    spend: (cost: number) => takeCost.call(rateLimits, { ...key, customerId: null } as Identity, 'elsewhere', cost),
    /** Times that somebody asked what time it is: once for each page that is begun, and once for each that is given. */
    begun,
    tick: (ms: number) => {
      now += ms
    },
  }
}

/** Lists of objects that are answered in turns, by their length. */
async function listsInTurns(work: () => Promise<unknown>): Promise<number[]> {
  const { take } = Turns.prototype
  const lengths: number[] = []
  Turns.prototype.take = function (value) {
    if (Array.isArray(value)) lengths.push(value.length)
    return take.call(this, value)
  }
  try {
    await work()
  } finally {
    Turns.prototype.take = take
  }
  return lengths
}

describe('a page of the edge', function () {
  this.timeout(20_000)

  it('costs the fields that it has when they are many, and is made in turns', async () => {
    const { ask, costs } = edgeOf()
    const lists = await listsInTurns(async () => {
      expect((await ask('1000-a').done).status).to.equal(200)
    })
    expect(costs).to.have.length(1)
    expect(costs[0]).to.be.within(50_000, 70_000)
    expect(lists).to.include(1_000)
    expect((await ask('500-a', { page: 'entitlements' }).done).status).to.equal(200)
    expect(costs[1]).to.be.within(15_000, 25_000)
  })

  it('costs nothing but the request when they are few, and makes no turns of it', async () => {
    const { ask, costs, given } = edgeOf()
    const lists = await listsInTurns(async () => {
      for (const page of ['entitlements', 'entitlements-state'])
        for (let n = 0; n < 3; n++) expect((await ask('20-a', { page }).done).status).to.equal(200)
    })
    expect({ costs, given, lists }).to.deep.equal({ costs: [], given: [], lists: [] })
  })

  it('is made in turns and not paid while it is no larger than a state that is read often', async () => {
    const { ask, costs } = edgeOf()
    const lists = await listsInTurns(async () => {
      expect((await ask('140-a').done).status).to.equal(200)
    })
    expect(lists).to.include(140)
    expect(costs).to.deep.equal([])
  })

  it('gives back what was taken for its subscriptions when they cannot be read', async () => {
    const { ask, costs } = edgeOf()
    expect((await ask('3-a', { page: 'subscriptions' }).done).status).to.be.above(399)
    expect(costs.reduce((sum, cost) => sum + cost, 0)).to.equal(0)
    expect(costs[0]).to.be.above(0)
  })

  it('is small with so few entitlements, whatever fields it has', () => {
    for (const text of [edgeDocuments.entitlements, edgeDocuments.entitlementsState]) {
      const costOf = prepareCost(schema, parse(text))
      const most = maxCostAtOnce / 100
      for (const [now, next] of [
        [most, 0],
        [0, most],
        [most / 2, most / 2],
      ] as const)
        expect(costOf({}, (type) => (type === 'NextEntitlements' ? next : now))).to.be.at.most(maxCostAtOnce)
    }
  })

  it('costs what the catalog comes to when it is a paywall, and is refused when that is too much', async () => {
    const sizesOf = (plans: number) => {
      const ofPackage = { entitlements: 10, prices: 2, compatibleAddons: 3, inheritedEntitlements: 5, dependencies: 0 }
      return { plans, billingPeriods: 2, plan: ofPackage, addon: ofPackage, tiers: 0 }
    }
    for (const plans of [20, 10_000]) {
      const { ask, costs } = edgeOf({ sizes: sizesOf(plans) })
      const { status } = await ask('', { page: 'paywall' }).done
      if (plans === 20) expect(costs[0]).to.be.within(10_000, 40_000)
      else expect([status, costs]).to.deep.equal([400, []])
    }
    const { ask, costs } = edgeOf({ sizes: sizesOf(1) })
    await ask('', { page: 'paywall' }).done
    expect(costs, 'of a small one').to.deep.equal([])
  })

  it('has a place and costs its bytes when it is long with few fields, and is refused to who owes', async () => {
    const { ask, costs, spend } = edgeOf({ ofEach: { feature: { ...boolean('long').feature, displayName: 'x'.repeat(200_000) } } })
    const ends: (() => void)[] = []
    for (let n = 0; n < largeAnswersAtATime.ofOwner; n++)
      void largeAnswers.run('e', () => new Promise<void>((resolve) => void ends.push(resolve)))
    const waiting = ask('3-a')
    try {
      for (let round = 0; round < 100; round++) await nextRound()
      expect(waiting.answer.status).to.equal(0)
    } finally {
      for (const end of ends) end()
    }
    const { status, body } = await waiting.done
    expect(status).to.equal(200)
    expect(costs).to.deep.equal([0, body!.length / bytesPerField])
    spend(4 * costPerKey)
    expect((await ask('3-b').done).status).to.equal(429)
  })

  it('costs its bytes when it is given again, and nothing to who has it', async () => {
    const { ask, costs, given } = edgeOf()
    const { etag, body } = await ask('1000-a').done
    expect([costs.length, given]).to.deep.equal([1, []])
    expect((await ask('1000-a').done).body).to.equal(body)
    expect([costs.length, given]).to.deep.equal([1, [body!.length]])
    expect((await ask('1000-a', { etag }).done).status).to.equal(304)
    expect((await ask('1000-a', { method: 'HEAD' }).done).status).to.equal(200)
    expect([costs.length, given]).to.deep.equal([1, [body!.length]])
  })

  it('is refused to who has had too many large ones, who is given small ones', async () => {
    const { ask, spend, tick } = edgeOf()
    spend(2 * costPerKey)
    expect((await ask('1000-a').done).status).to.equal(200)
    spend(costPerKey)
    expect((await ask('1000-b').done).status).to.equal(429)
    expect((await ask('3-a').done).status).to.equal(200)
    tick(3_000)
    expect((await ask('1000-b').done).status).to.equal(200)
  }).timeout(60_000)

  it('has its place among the large answers of its environment, and none when nobody waits for it any more', async () => {
    const { ask, costs, begun } = edgeOf()
    const [first, ...others] = Array.from({ length: largeAnswersAtATime.ofOwner + 3 }, (_, n) => ask(`1000-${n}`))
    await eventually('all to have asked', () => costs.length === others.length + 1)
    const gone = others.at(-1)!
    gone.hangUp()
    expect((await gone.done).status).to.equal(503)
    const waiting = others.at(-2)!
    await first!.done
    expect(waiting.answer.status, 'it waits for its place').to.equal(0)
    for (const { done } of others.slice(0, -1)) expect((await done).status).to.equal(200)
    // Each of the others was begun, and given, at a time.
    expect(begun.length).to.equal(2 * others.length)
    await eventually('what the one that is gone had paid to be given back', () => costs.filter((cost) => cost < 0).length === 1)
    for (const { res } of [first!, ...others]) expect(res.listenerCount('close')).to.equal(0)
  }).timeout(60_000)

  it('is made once for those who wait for it, and paid by one of them', async () => {
    const { ask, costs } = edgeOf()
    const asked = Array.from({ length: largeAnswersAtATime.ofOwner + 2 }, () => ask('1000-a').done)
    const bodies = new Set((await Promise.all(asked)).map(({ body }) => body))
    expect(bodies.size).to.equal(1)
    const paid = costs.filter((cost) => cost > 0).length - costs.filter((cost) => cost < 0).length
    expect(paid).to.be.at.most(largeAnswersAtATime.ofOwner)
  })

  it('is given up after its time, also while it waits for its place', async () => {
    const { ask } = edgeOf({ timeoutMs: 1 })
    const statuses = await Promise.all(Array.from({ length: 4 }, (_, n) => ask(`2000-${n}`).done))
    expect(new Set(statuses.map(({ status }) => status))).to.deep.equal(new Set([504]))
  })
})
