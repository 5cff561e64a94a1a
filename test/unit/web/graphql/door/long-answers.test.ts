import { setImmediate as nextRound } from 'node:timers/promises'
import { expect } from 'chai'
import { Registry } from '../../../../../src/platform/metrics.js'
import { bytesPerField, costPerKey, RateLimits } from '../../../../../src/web/access/rate-limits.js'
import { maxBytesOfOwner, UnreadAnswers } from '../../../../../src/web/access/unread-answers.js'
import { largeAnswers, largeAnswersAtATime } from '../../../../../src/web/graphql/door/execution.js'
import type { Services } from '../../../../../src/web/graphql/operations/context.js'
import { createSchema } from '../../../../../src/web/graphql/schema.js'
import { boolean, state } from '../../../../contract/cache/held.js'
import { serverIdentity as identity, openGraphqlDoor } from '../../../../support/graphql-door.js'
import { wholeText } from '../../../../support/whole-text.js'

const schema = createSchema()

const additionalMetaData = { note: 'x'.repeat(60_000) }
const aliased = (count: number, field: string) => Array.from({ length: count }, (_, n) => `a${n}: ${field}`).join(' ')
const query = (count: number) => `{ getCustomerByRefId(input: { customerId: "acme" }) { ${aliased(count, 'additionalMetaData')} } }`
const mutation = (count: number) =>
  `mutation { archiveCustomer(input: { customerId: "acme" }) { ${aliased(count, 'additionalMetaData')} } }`
/** 2 MB. */
const long = query(33)
const longChange = mutation(33)
const short = query(1)
/** Large by its fields, and long. */
const large = `query($query: FetchEntitlementsQuery!) { entitlementsState(query: $query) { ${aliased(10, 'entitlements { isGranted feature { refId displayName } }')} } }`

/** A door to one customer, who holds 600 entitlements; what is owed in the end is noted. */
function openDoor() {
  const owed: number[] = []
  const rateLimits = new RateLimits({ perKey: 1e6, perCustomer: 1e6, perAddress: 1e6 }, () => 0)
  const { giveBackCost } = rateLimits
  rateLimits.giveBackCost = (of, address, cost) => {
    owed.push(-cost)
    giveBackCost.call(rateLimits, of, address, cost)
  }
  const metrics = new Registry()
  const unread = new UnreadAnswers(metrics)
  const customer = { id: 'c', refId: 'acme', additionalMetaData, archivedAt: null }
  const held = state(
    1,
    Array.from({ length: 600 }, (_, n) => boolean(`f${n}`)),
    { environmentId: 'e' },
  )
  const counts = { begun: 0 }
  const app = {
    clock: { now: () => 1_000 },
    environments: { authenticate: async () => ({ ...identity, keyName: 'k' }) },
    customers: { get: async () => customer, archive: async () => customer },
    entitlements: {
      state: async () => {
        counts.begun += 1
        return held
      },
    },
  } as unknown as Services
  const post = openGraphqlDoor({ app, schema, rateLimits, heldState: () => held, metrics, unread })
  const send = (body: unknown) => post(body, { asker: { identity, isOperator: false } })
  const ask = async (document: string) => {
    const answer = await send({ query: document, variables: { query: { customerId: 'acme' } } })
    answer.release?.()
    const text = wholeText(answer.body!)
    const { data, errors = [] } = JSON.parse(text)
    return { status: answer.status, text, data, code: errors[0]?.extensions.code, extensions: errors[0]?.extensions }
  }
  const keptBytes = async () => Number(/what="unread answers"\} (\d+)/.exec(await metrics.metrics())![1])
  const spend = (cost: number) => rateLimits.takeCost(identity, 'elsewhere', cost)
  return { ask, send, owed, unread, counts, keptBytes, spend }
}

describe('a long answer', function () {
  this.timeout(60_000)

  it('has a place among the large ones of its environment, whatever its fields are, and short ones wait for none', async () => {
    const { ask } = openDoor()
    const ends: (() => void)[] = []
    for (let n = 0; n < largeAnswersAtATime.ofOwner; n++)
      void largeAnswers.run('e', () => new Promise<void>((resolve) => void ends.push(resolve)))
    const answered: string[] = []
    const asked = [long, longChange].map((document) => ask(document).then(({ text }) => answered.push(text)))
    try {
      expect((await ask(short)).data.getCustomerByRefId.a0).to.deep.equal(additionalMetaData)
      for (let round = 0; round < 200; round++) await nextRound()
      expect(answered).to.have.length(0)
    } finally {
      for (const end of ends) end()
    }
    await Promise.all(asked)
    expect(answered.map(({ length }) => length > 1_900_000)).to.deep.equal([true, true])
  })

  it('has one place when it is large too, until it is written: those that wait are not begun before', async () => {
    const { ask, unread, counts } = openDoor()
    let written = 0
    const atATime: number[] = []
    const { hold } = unread
    unread.hold = (...of) => {
      atATime.push(counts.begun - written)
      written += 1
      return hold.apply(unread, of)
    }
    const answers = await Promise.all(Array.from({ length: 7 }, () => ask(large)))
    expect(answers.map(({ data }) => data.entitlementsState.a9.length)).to.deep.equal(Array(7).fill(600))
    expect(atATime).to.have.length(7)
    expect(Math.max(...atATime)).to.equal(largeAnswersAtATime.ofOwner)
  })

  it('owes what its fields do not account for', async () => {
    const { ask, owed } = openDoor()
    for (const document of [long, longChange]) {
      const { text } = await ask(document)
      expect(owed.splice(0)).to.deep.equal([text.length / bytesPerField - 34])
    }
    await ask(large)
    await ask(short)
    expect(owed).to.deep.equal([])
  })

  it('is refused to who owes, before it is written, unless it tells of a change; short ones are given', async () => {
    const { ask, owed, spend } = openDoor()
    spend(4 * costPerKey)
    const { code, extensions } = await ask(long)
    expect(code).to.equal('RateLimitExceeded')
    expect(extensions.retryAfterMs).to.be.above(900)
    expect(owed).to.deep.equal([])
    expect((await ask(longChange)).data.archiveCustomer.a32).to.deep.equal(additionalMetaData)
    expect(owed).to.have.length(1)
    expect((await ask(short)).data.getCustomerByRefId.a0).to.deep.equal(additionalMetaData)
  })

  it('is counted from when it is made until it is written, also in a list, and refused where others are not read', async () => {
    const { ask, send, unread, owed, keptBytes } = openDoor()
    for (const body of [{ query: long }, [{ query: long }, { query: short }, { query: long }]]) {
      const answer = await send(body)
      const bytes = wholeText(answer.body!).length
      expect(bytes).to.be.above(Array.isArray(body) ? 3_900_000 : 1_900_000)
      expect(await keptBytes()).to.be.within(bytes - 70_000, bytes)
      answer.release!()
      expect(await keptBytes()).to.equal(0)
    }
    owed.splice(0)
    unread.hold(maxBytesOfOwner - 1_000_000, 'e')
    const refused = await ask(long)
    expect([refused.status, refused.code]).to.deep.equal([503, 'ServiceUnavailable'])
    expect(refused.text).to.match(/wait for their readers/)
    expect(owed, 'it was not written').to.deep.equal([])
    expect((await ask(longChange)).data.archiveCustomer.a32).to.deep.equal(additionalMetaData)
    const [first, second] = JSON.parse(wholeText((await send([{ query: short }, { query: long }])).body!))
    expect(first.data.getCustomerByRefId.a0).to.deep.equal(additionalMetaData)
    expect(second.errors[0].extensions.code).to.equal('ServiceUnavailable')
    expect((await ask(short)).status).to.equal(200)
  })
})
