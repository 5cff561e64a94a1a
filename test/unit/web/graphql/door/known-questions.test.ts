import { expect } from 'chai'
import { Registry } from '../../../../../src/platform/metrics.js'
import type { Identity } from '../../../../../src/web/access/auth.js'
import { RateLimits } from '../../../../../src/web/access/rate-limits.js'
import { KnownQuestions, maxRequestLength } from '../../../../../src/web/graphql/door/known-questions.js'
import type { Services } from '../../../../../src/web/graphql/operations/context.js'
import { createSchema } from '../../../../../src/web/graphql/schema.js'
import { boolean, state } from '../../../../contract/cache/held.js'
import { createGraphqlDoor, serverIdentity } from '../../../../support/graphql-door.js'

const query = 'query($query: FetchEntitlementsQuery!) { cachedEntitlements(query: $query) { feature { refId } } }'
const asking = (customerId: string, more: object = {}) => ({ query, variables: { query: { customerId, ...more } } })

describe('questions that are known by their text', () => {
  const schema = createSchema()
  const headers = { 'x-api-key': 'key', 'content-type': 'application/json' }
  const server = { identity: serverIdentity, isOperator: false }
  const clientOf = (customerId: string | null) => ({
    identity: { ...serverIdentity, kind: 'CLIENT', keyId: 'client', customerId } as Identity,
    isOperator: false,
  })

  function open() {
    const held = new Map([['customer', state(1, [boolean('one')], { environmentId: 'e', customerId: 'customer' })]])
    const read: (number | undefined)[] = []
    const metrics = new Registry()
    const heldState = (environmentId: string, customerId: string, resourceId: string | null, maxAgeMs?: number) => {
      read.push(maxAgeMs)
      return environmentId === 'e' && resourceId === null ? (held.get(customerId) ?? null) : null
    }
    const door = createGraphqlDoor({
      app: {
        clock: { now: () => 1_000 },
        entitlements: { state: async (...[, customerId]: [string, string]) => held.get(customerId) ?? state(1, []) },
      } as unknown as Services,
      schema,
      rateLimits: new RateLimits({ perKey: 1e6, perCustomer: 1e6, perAddress: 1e6 }),
      heldState,
      grow: () => true,
      metrics,
    })
    const ask = async (body: object, asker = server) => {
      const bodyText = JSON.stringify(body)
      const request = { method: 'POST', url: '/graphql', headers, address: '::1', asker, bodyText, onHangUp: () => {} }
      return String((await door.answer({ ...request, body: JSON.parse(bodyText) as unknown })).body)
    }
    return { door, ask, held, read, metrics }
  }

  /** A door that was asked often enough, what it was asked, and what it answered. */
  async function openKnowing(body = asking('customer')) {
    const opened = open()
    const text = JSON.stringify(body)
    const [first, second] = [await opened.ask(body), await opened.ask(body)]
    expect(second).to.equal(first)
    return { ...opened, text, answer: first, question: opened.door.questionIn(text) }
  }

  it('are those that were answered before by what was kept, and are answered alike', async () => {
    const { door, ask } = open()
    const text = JSON.stringify(asking('customer'))
    expect(door.questionIn(text)).to.equal(undefined)
    const answer = await ask(asking('customer'))
    expect(door.questionIn(text), 'asked once').to.equal(undefined)
    await ask(asking('customer'))
    const question = door.questionIn(text)!
    expect(question).to.deep.equal({ holder: { customerId: 'customer', resourceId: null }, field: 'cachedEntitlements' })
    const { status, body, environmentId } = door.answerKnown(question, { headers, asker: server, bodyText: text })!
    expect({ status, body, environmentId }).to.deep.equal({ status: 200, body: answer, environmentId: 'e' })
    expect(answer).to.equal('{"data":{"cachedEntitlements":[{"feature":{"refId":"one"}}]}}')
  })

  it('are counted as operations', async () => {
    const { door, metrics, question, text } = await openKnowing()
    const counted = async () => /operation_seconds_count\{field="cachedEntitlements",code="ok"\} (\d+)/.exec(await metrics.metrics())?.[1]
    expect(await counted()).to.equal('2')
    door.answerKnown(question!, { headers, asker: server, bodyText: text })
    expect(await counted()).to.equal('3')
  })

  it('are answered from what is held now, and by nothing else', async () => {
    const { door, held, question, text } = await openKnowing()
    const answer = () => door.answerKnown(question!, { headers, asker: server, bodyText: text })
    held.set('customer', state(2, [], { environmentId: 'e', customerId: 'customer' }))
    expect(answer(), 'another state').to.equal(null)
    held.clear()
    expect(answer(), 'no state').to.equal(null)
  })

  it('are answered to a client key only for the customer of its token', async () => {
    const { door, question, text, answer } = await openKnowing()
    const to = (customerId: string | null) => door.answerKnown(question!, { headers, asker: clientOf(customerId), bodyText: text })?.body
    expect(to('customer')).to.equal(answer)
    expect(to('another')).to.equal(undefined)
    expect(to(null)).to.equal(undefined)
  })

  it('are answered to no other environment', async () => {
    const { door, question, text } = await openKnowing()
    const asker = { identity: { ...serverIdentity, environmentId: 'other' } as Identity, isOperator: false }
    expect(door.answerKnown(question!, { headers, asker, bodyText: text })).to.equal(null)
  })

  const read = [
    ['what says how fresh it has to be', { 'x-consistency': 'strong' }],
    ['what says how old it may be', { 'x-max-staleness-ms': '100' }],
    ['what has its key elsewhere than in the header', { 'x-api-key': '' }],
    ['what is to be answered in another form', { accept: 'application/graphql-response+json' }],
    ['what is sent in another form', { 'content-type': 'application/graphql+json' }],
  ] as const
  for (const [what, given] of read)
    it(`are read all the same in ${what}`, async () => {
      const { door, question, text } = await openKnowing()
      expect(door.answerKnown(question!, { headers: { ...headers, ...given }, asker: server, bodyText: text })).to.equal(null)
    })

  const never = [
    ['a list of operations', [asking('customer')]],
    ['what is to be counted', asking('customer', { options: { shouldTrack: true } })],
    ['what is longer than requests are that are sent over and over', asking('customer', { resourceId: null, x: 'x'.repeat(4_000) })],
    ['what is refused', { query: '{ unknown }' }],
    ['what nothing is held of', asking('another')],
  ] as const
  for (const [what, body] of never)
    it(`are not ${what}`, async () => {
      const { door, ask } = open()
      for (let n = 0; n < 3; n++) await ask(body)
      expect(door.questionIn(JSON.stringify(body))).to.equal(undefined)
    })

  it('take no more memory than they may, whatever is asked', () => {
    const known = new KnownQuestions()
    const texts = Array.from({ length: 8_000 }, (_, n) => `${n}`.padEnd(maxRequestLength, 'x'))
    for (const [n, text] of texts.entries()) known.remember(text, { holder: { customerId: `c${n}`, resourceId: null }, field: 'f' })
    expect(known.bytes).to.be.within(15 * 2 ** 20, 16 * 2 ** 20)
    expect(known.find(texts[0]!)).to.equal(undefined)
    expect(known.find(texts.at(-1)!)).to.deep.equal({ holder: { customerId: 'c7999', resourceId: null }, field: 'f' })
    known.remember(`${texts[0]}x`, { holder: { customerId: 'c', resourceId: null }, field: 'f' })
    expect(known.find(`${texts[0]}x`)).to.equal(undefined)
  })
})
