import { once } from 'node:events'
import { expect } from 'chai'
import fc from 'fast-check'
import { WebSocket } from 'ws'
import { createSchema } from '../../src/web/graphql/schema.js'
import { maxEarlyBytes } from '../../src/web/live/connection.js'
import { type FrontDoor, openFrontDoor } from '../integration/web/front-door.js'
import { TestClient } from '../integration/web/live/test-client.js'
import { holds, timeoutOf } from './fuzz.js'
import { operations } from './operations.js'
import { json, nearly, nearlyText, text, written } from './values.js'
import { expectNothingInternal, expectQuiet, soon, watchedLog } from './watch.js'

const schema = createSchema()

/** What is sent in place of the key. */
const ownKey = '@key'

const subscription = operations(schema, 'subscription').map(
  ({ query, variables }) => `{"id": "1", "type": "subscribe", "payload": {"query": ${JSON.stringify(query)}, "variables": ${variables}}}`,
)
const messages: Record<string, unknown>[] = [
  { type: 'connection_init', payload: { headers: { 'X-API-KEY': ownKey } } },
  { type: 'connection_init' },
  { type: 'ping', payload: { a: 1 } },
  { type: 'pong' },
  { id: '1', type: 'subscribe', payload: { query: 'subscription { usageUpdated { customerId } }' } },
  {
    id: '2',
    type: 'subscribe',
    payload: {
      operationName: 'A',
      query: 'subscription A($x: Boolean) { __typename @skip(if: $x) }',
      variables: { x: true },
      extensions: {},
    },
  },
  { id: '3', type: 'subscribe', payload: { query: '{ __typename }' } },
  { id: '1', type: 'complete' },
  { id: '1', type: 'next', payload: {} },
  { id: '1', type: 'error', payload: [{ message: 'm' }] },
]
const message = fc.oneof(
  { arbitrary: fc.constantFrom(...messages).map(written), weight: 4 },
  { arbitrary: nearly(messages).map(written), weight: 4 },
  { arbitrary: subscription, weight: 4 },
  { arbitrary: nearlyText(fc.oneof(subscription, nearly(messages).map(written))), weight: 2 },
  { arbitrary: fc.oneof(json.map(written), text), weight: 1 },
)
const frame = fc.oneof(
  { arbitrary: message, weight: 8 },
  { arbitrary: fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)), weight: 1 },
)

describe('socket messages that nobody should send', () => {
  const { log, lines } = watchedLog()
  let door: FrontDoor
  let bystander: TestClient

  before(async function () {
    this.timeout(30_000)
    door = await openFrontDoor({ log, limits: { perKey: 1_000_000, perAddress: 1_000_000, perCustomer: 1_000_000 } })
    bystander = new TestClient(door.url)
    await once(bystander.socket, 'open')
    bystander.send({ type: 'connection_init', payload: { headers: { 'X-API-KEY': door.serverKey } } })
    expect(await bystander.next()).to.deep.equal({ type: 'connection_ack' })
  })
  afterEach(() => soon('the socket of a bystander', bystander.settle()))
  after(async () => {
    bystander.socket.terminate()
    expect(await door.close()).to.deep.equal([])
  })

  async function converse(frames: readonly (string | Buffer)[], isKnown: boolean): Promise<void> {
    const about = frames.map(String).join('\n')
    const socket = new WebSocket(`${door.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws')
    let said = ''
    let answers = 0
    const heard = new Set<string>()
    socket.on('error', () => undefined)
    socket.on('message', (data) => {
      said += `${data}\n`
      answers++
      heard.add((JSON.parse(String(data)) as { type: string }).type)
    })
    const closed = once(socket, 'close') as Promise<[number, Buffer]>
    await once(socket, 'open')
    if (isKnown) socket.send(written({ type: 'connection_init', payload: { headers: { 'X-API-KEY': door.serverKey } } }))
    for (const one of frames)
      socket.send(typeof one === 'string' ? Buffer.from(one.replaceAll(ownKey, door.serverKey)) : one, { binary: typeof one !== 'string' })
    // Answered when it stays open, else closed; without a key the door does that itself after a moment.
    const ended = Promise.race([closed, pinged(socket)])
    await soon(about, ended)
    socket.close()
    const [code, reason] = await soon(about, closed)
    // Who sends more than a key before it is known is cut off.
    const isEarly = frames.reduce((bytes, one) => bytes + Buffer.byteLength(one), 0) > maxEarlyBytes / 2
    expect(code, `${about}\n${reason}`).to.not.be.oneOf(isEarly ? [1011, 4500] : [1011, 1006, 4500])
    expectNothingInternal(String(reason).replaceAll(/"(?:[^"\\]|\\.)*"/g, ''), about)
    const errors = said.split('\n').filter((line) => line.includes('"type":"error"'))
    for (const line of errors) {
      expect(line, about).to.not.include('InternalServerError')
      for (const { message: told } of (JSON.parse(line) as { payload: { message: string }[] }).payload)
        expectNothingInternal(told.replaceAll(/"(?:[^"\\]|\\.)*"/g, ''), about)
    }
    expect(answers, about).to.be.below(100)
    expectQuiet(lines, about)
  }

  /** A client's own ping is answered by the library below, whatever the protocol above makes of what came before. */
  async function pinged(socket: WebSocket): Promise<void> {
    const answered = once(socket, 'pong')
    socket.ping()
    await answered
  }

  it('are answered or end the socket, after a key', async () => {
    await holds(100, fc.array(frame, { minLength: 1, maxLength: 5 }), (frames) => converse(frames, true))
  }).timeout(timeoutOf(100))

  it('are answered or end the socket, before a key', async () => {
    await holds(50, fc.array(frame, { minLength: 1, maxLength: 4 }), (frames) => converse(frames, false))
  }).timeout(timeoutOf(50))
})
