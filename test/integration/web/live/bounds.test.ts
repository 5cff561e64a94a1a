import { once } from 'node:events'
import { connect as tcpConnect } from 'node:net'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { Redis } from 'ioredis'
import { WebSocket } from 'ws'
import { type ChangeMessage, changeChannel } from '../../../../src/updates/wire/change-message.js'
import type { Credentials } from '../../../../src/web/access/auth.js'
import { Subscriptions } from '../../../../src/web/live/subscriptions.js'
import { boolean, message, state } from '../../../contract/cache/held.js'
import { eventually } from '../../../support/eventually.js'
import { testRedisUrl } from '../../../support/redis.js'
import { type FrontDoor, openFrontDoor } from '../front-door.js'
import { TestClient } from './test-client.js'

const mebibyte = 2 ** 20

describe('the bounds of sockets', () => {
  let door: FrontDoor
  let redis: Redis
  const closers: Array<() => unknown> = []

  before(async function () {
    this.timeout(60_000)
    door = await openFrontDoor({ limits: { sockets: 12, socketsPerAddress: 10, socketsPerCustomer: 3, socketsPerKey: 8 } })
    redis = new Redis(testRedisUrl())
  })
  afterEach(async () => {
    for (const close of closers.splice(0)) await close()
    await socketsAre(0)
  })
  after(async () => {
    redis.disconnect()
    expect(await door.close()).to.deep.equal([])
  })

  const metric = async (name: string) => {
    const text = await door.life.metrics.metrics()
    const line = text.split('\n').find((candidate) => candidate.startsWith(name))
    return Number(line?.split(' ').at(-1) ?? 0)
  }
  const dropped = (reason: string) => metric(`tollgate_sockets_dropped_total{reason="${reason}"`)

  const socketsAre = (count: number) => eventually(`${count} sockets`, async () => (await metric('tollgate_sockets{')) === count)

  async function open(localAddress = '127.0.0.1'): Promise<TestClient> {
    const client = new TestClient(door.url, { localAddress })
    closers.push(() => client.socket.terminate())
    await once(client.socket, 'open')
    return client
  }

  const initOf = (headers: Record<string, string>) => ({ type: 'connection_init', payload: { headers } })

  async function connect(headers: Record<string, string> = { 'X-API-KEY': door.serverKey }, localAddress?: string): Promise<TestClient> {
    const client = await open(localAddress)
    client.send(initOf(headers))
    expect(await client.next()).to.deep.equal({ type: 'connection_ack' })
    return client
  }

  const customer = (id: string) => ({ 'X-API-KEY': door.clientKey, 'X-CUSTOMER-KEY': door.customerToken(id) })

  const publish = (change: ChangeMessage, environmentId = door.environmentId) =>
    redis.publish(changeChannel(door.queuePrefix, environmentId), JSON.stringify({ ...change, environmentId }))

  /** The code and the reason that a socket is closed with. */
  async function closedWith(client: TestClient): Promise<[number, string]> {
    const [code, reason] = await once(client.socket, 'close')
    return [code, String(reason)]
  }

  /** The status that an upgrade is refused with. */
  async function refusal(localAddress?: string): Promise<number> {
    const socket = new WebSocket(`${door.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', { localAddress })
    const error = once(socket, 'error')
    const [, response] = await once(socket, 'unexpected-response')
    socket.terminate()
    await error
    return response.statusCode
  }

  /** Sends as fast as it can without ever reading, and answers by how much the memory of both sides grew at most. */
  async function flood({ socket }: TestClient, text: string, most: number): Promise<number> {
    socket.pause()
    const before = process.memoryUsage().rss
    let highest = before
    for (let sent = 0; sent < most && socket.readyState === socket.OPEN; sent += text.length) {
      socket.send(text)
      while (socket.bufferedAmount > mebibyte && socket.readyState === socket.OPEN) await setImmediate()
      highest = Math.max(highest, process.memoryUsage().rss)
    }
    socket.resume()
    return highest - before
  }

  /** What is logged as an error meanwhile. */
  async function errorsDuring(work: () => Promise<void>): Promise<unknown[]> {
    const errors: unknown[] = []
    const { error } = door.life.log
    door.life.log.error = ((...line: unknown[]) => void errors.push(line)) as never
    try {
      await work()
    } finally {
      door.life.log.error = error
    }
    return errors
  }

  it('close a socket whose client says what only a server says, which is no error of ours', async () => {
    const errors = await errorsDuring(async () => {
      for (const message of [
        { type: 'connection_ack' },
        { id: '1', type: 'next', payload: {} },
        { id: '1', type: 'error', payload: [{ message: 'm' }] },
      ]) {
        const client = await connect()
        const closed = closedWith(client)
        client.send(message)
        expect(await closed).to.deep.equal([4400, 'Invalid message received'])
      }
    })
    expect(errors).to.deep.equal([])
  })

  const listen = { query: 'subscription { usageUpdated { usage { customerId } } }' }

  it('hold a token of a customer with a client key only, as nobody reads it of a server key', async () => {
    const seen: Array<Partial<Credentials>> = []
    const { prepare } = Subscriptions.prototype
    Subscriptions.prototype.prepare = function (...[of, payload]) {
      seen.push((of.client as unknown as { credentials: Credentials }).credentials)
      return prepare.call(this, of, payload)
    }
    closers.push(() => (Subscriptions.prototype.prepare = prepare))
    for (const headers of [{ 'X-API-KEY': door.serverKey, 'X-CUSTOMER-KEY': 'x'.repeat(4_000) }, customer('c')])
      await (await connect(headers)).subscribe('1', listen.query)
    expect(seen.map(({ customerToken }) => customerToken)).to.deep.equal([undefined, door.customerToken('c')])
  })

  it('refuse a subscription whose id is long', async () => {
    const client = await connect()
    await client.subscribe('i'.repeat(128), listen.query)
    const closed = closedWith(client)
    client.send({ type: 'subscribe', id: 'i'.repeat(129), payload: listen })
    expect(await closed).to.deep.equal([4400, 'The id of a subscription has at most 128 characters'])
  })

  it('close a socket whose client says more than a message may', async () => {
    const client = await connect()
    const closed = closedWith(client)
    client.send({ type: 'ping', payload: { text: 'x'.repeat(65_536) } })
    expect((await closed)[0]).to.equal(1009)
  })

  it('have so many subscriptions on one of them', async () => {
    const client = await connect()
    for (let count = 0; count < 50; count++) client.send({ type: 'subscribe', id: String(count), payload: listen })
    await client.settle()
    client.send({ type: 'subscribe', id: 'more', payload: listen })
    expect(await client.next()).to.have.nested.property('payload[0].message', 'A socket takes at most 50 subscriptions')
  })

  it('close with as much of a reason as a frame takes, which is no error of ours', async () => {
    const errors = await errorsDuring(async () => {
      for (const [id, reason] of [
        ['i'.repeat(128), `Subscriber for ${'i'.repeat(108)}`],
        ['é'.repeat(100), `Subscriber for ${'é'.repeat(54)}`],
        ['😀'.repeat(50), `Subscriber for ${'😀'.repeat(27)}`],
      ] as const) {
        const client = await connect()
        await client.subscribe(id, listen.query)
        const closed = closedWith(client)
        client.send({ type: 'subscribe', id, payload: listen })
        expect(await closed).to.deep.equal([4409, reason])
      }
    })
    expect(errors).to.deep.equal([])
  })

  it('answer a ping with what it says when that is short, however deep a long one is', async () => {
    const client = await connect()
    const errors = await errorsDuring(async () => {
      client.send({ type: 'ping', payload: { at: 1 } })
      expect(await client.next()).to.deep.equal({ type: 'pong', payload: { at: 1 } })
      client.socket.send(`{"type":"ping","payload":{"deep":${'['.repeat(20_000)}${']'.repeat(20_000)}}}`)
      expect(await client.next()).to.deep.equal({ type: 'pong' })
    })
    expect(errors).to.deep.equal([])
  })

  it('cut off who sends more than a key before it shows one', async () => {
    const before = await dropped('early')
    const client = await open()
    const ping = JSON.stringify({ type: 'ping', payload: { text: 'x'.repeat(9_000) } })
    expect(await flood(client, ping, 60 * mebibyte)).to.be.below(40 * mebibyte)
    await eventually('the cut', async () => (await dropped('early')) === before + 1)
  }).timeout(20_000)

  it('cut off who begins a message and does not end it, before it shows a key', async () => {
    const before = await dropped('early')
    const client = await open()
    for (let part = 0; part < 5; part++) client.socket.send('x'.repeat(5_000), { fin: false })
    await eventually('the cut', async () => (await dropped('early')) === before + 1)
  })

  it('read no more from who floods them, and cut it off', async () => {
    const before = await dropped('flood')
    const client = await connect()
    const ping = JSON.stringify({ type: 'ping', payload: { text: 'x'.repeat(30_000) } })
    expect(await flood(client, ping, 140 * mebibyte)).to.be.below(60 * mebibyte)
    await eventually('the cut', async () => (await dropped('flood')) === before + 1)
  }).timeout(20_000)

  it('say so to who floods them with protocol pings and reads', async () => {
    const client = await connect()
    const closed = closedWith(client)
    let answered = 0
    client.socket.on('pong', () => {
      answered += 1
    })
    for (let count = 1; client.socket.readyState === WebSocket.OPEN; count++) {
      client.socket.ping('x'.repeat(100))
      // The library cuts off who leaves too many unanswered.
      if (count % 10 === 0) while (answered < count && client.socket.readyState === WebSocket.OPEN) await setImmediate()
    }
    expect(await closed).to.deep.equal([1013, 'Too many messages'])
  })

  it('cut off who sends nothing, and does not answer the close', async () => {
    const stream = tcpConnect(Number(new URL(door.url).port), '127.0.0.1')
    closers.push(() => stream.destroy())
    stream.write(upgrade)
    stream.resume()
    const ended = once(stream, 'end')
    await socketsAre(1)
    await ended
  }).timeout(20_000)

  it('live on when a peer is gone before its upgrade is refused', async () => {
    for (let count = 0; count < 20; count++) {
      const stream = tcpConnect(Number(new URL(door.url).port), '127.0.0.1')
      await once(stream, 'connect')
      stream.write(upgrade.replace('/graphql', '/elsewhere'))
      stream.resetAndDestroy()
    }
    await (await open()).socket.terminate()
  })

  it('have so many places for one address', async () => {
    const clients: TestClient[] = []
    for (let count = 0; count < 10; count++) clients.push(await open())
    expect(await refusal()).to.equal(429)
    await open('127.0.0.2')
    clients[0]!.socket.close()
    await socketsAre(10)
    await open()
  })

  it('take the place of a stranger rather than of who has shown a key', async () => {
    const known = await connect(undefined, '127.0.0.3')
    const strangers: TestClient[] = []
    for (let count = 0; count < 10; count++) strangers.push(await open())
    const last = await open('127.0.0.4')
    const cutOff = once(strangers[0]!.socket, 'close')
    await connect(undefined, '127.0.0.5')
    await cutOff
    for (const { socket } of [known, last, strangers[1]!]) expect(socket.readyState).to.equal(WebSocket.OPEN)
  })

  it('have so many places for one customer, and for one key', async () => {
    const mine = await Promise.all([1, 2, 3].map(() => connect(customer('mine'))))
    const more = await open()
    more.send(initOf(customer('mine')))
    expect((await closedWith(more))[0]).to.equal(1013)
    await connect(customer('other'))
    mine[0]!.socket.terminate()
    await socketsAre(3)
    await connect(customer('mine'))
    for (const id of ['a', 'b', 'c', 'd']) await connect(customer(id), '127.0.0.2')
    const another = await open('127.0.0.2')
    another.send(initOf(customer('e')))
    expect((await closedWith(another))[0]).to.equal(1013)
  })

  const error = async (client: TestClient, query: string, variables?: object) => {
    client.send({ type: 'subscribe', id: 'refused', payload: { query, variables } })
    const { type, payload } = await client.next()
    expect(type).to.equal('error')
    const [{ message, extensions }] = payload as [{ message: string; extensions: { code: string } }]
    return `${extensions.code}: ${message}`
  }

  it('refuse a subscription that costs too much, and what is no position in its variables', async () => {
    const client = await connect()
    expect(await error(client, dear('a', 95, 8))).to.match(/^BadUserInput: The subscription costs \d+, at most 2000/)
    expect(await error(client, `subscription { usageUpdated { usage { customerId } } } # ${'x'.repeat(20_000)}`)).to.include('costs')
    expect(await error(client, 'subscription { usageUpdatedV2 { customerId } }', { x: 'x'.repeat(2_000) })).to.include('Variables')
  })

  it('add up what a customer listens to on all its sockets, and give it back', async () => {
    const clients = [await connect(customer('mine')), await connect(customer('mine'))]
    for (const [index, name] of Array.from('abcde').entries()) await clients[index % 2]!.subscribe(name, dear(name, 50, 4))
    clients[1]!.send({ type: 'subscribe', id: 'h', payload: { query: dear('h', 50, 4) } })
    expect(await clients[1]!.next()).to.have.nested.property('payload.errors[0].extensions.code', 'RateLimitExceeded')
    // The same again costs nothing more, and another customer has a sum of its own.
    const again = await connect(customer('mine'))
    await again.subscribe('again', dear('a', 50, 4))
    const other = await connect(customer('other'))
    await other.subscribe('h', dear('h', 50, 4))
    for (const { socket } of clients) socket.terminate()
    await socketsAre(2)
    await again.subscribe('h', dear('h', 50, 4))
  })

  it('add up what is listened to on one socket', async () => {
    const client = await connect()
    for (let count = 0; count < 11; count++) await client.subscribe(`n${count}`, dear(`n${count}`, 50, 4))
    client.send({ type: 'subscribe', id: 'h', payload: { query: dear('h', 50, 4) } })
    expect(await client.next()).to.have.nested.property('payload.errors[0].extensions.code', 'BadUserInput')
    expect(await client.next()).to.deep.equal({ id: 'h', type: 'complete' })
    client.send({ type: 'complete', id: 'n0' })
    await client.settle()
    await client.subscribe('h', dear('h', 50, 4))
  })

  it('let one socket ask for what it missed twice at a time', async () => {
    const client = await connect()
    const ask = (id: string) =>
      client.send({ type: 'subscribe', id, payload: { query: 'subscription { stateChanges(after: "") { kind } }' } })
    for (const id of ['1', '2']) {
      ask(id)
      expect(await client.next()).to.have.nested.property('payload.data.stateChanges.kind', 'GAP')
    }
    ask('3')
    expect(await client.next())
      .to.have.nested.property('payload.errors[0].message')
      .that.includes('20000')
    expect(await client.next()).to.deep.equal({ id: '3', type: 'complete' })
    client.send({ type: 'complete', id: '1' })
    ask('4')
    expect(await client.next()).to.have.nested.property('payload.data.stateChanges.kind', 'GAP')
  })

  /** CPU milliseconds of the longest stretch in which nobody else was served, while `work` is done; of this thread, clients among it. */
  async function longestStep(work: () => Promise<void>): Promise<number> {
    // The types do not know it yet.
    const { threadCpuUsage } = process as typeof process & { threadCpuUsage(): NodeJS.CpuUsage }
    const used = () => (threadCpuUsage().user + threadCpuUsage().system) / 1_000
    let longest = 0
    let isDone = false
    const ended = work().finally(() => {
      isDone = true
    })
    for (let last = used(); !isDone; last = used()) {
      await setImmediate()
      longest = Math.max(longest, used() - last)
    }
    await ended
    return longest
  }

  it('tell another environment of a change before all that a noisy one has waiting', async () => {
    const { environment } = await door.app.environments.create({ refId: 'quiet' })
    const { key } = await door.app.environments.createKey({ environment: 'quiet', kind: 'SERVER', name: 'k', expiresAt: null })
    const noisy = [await connect(), await connect()]
    const quiet = await connect({ 'X-API-KEY': key })
    for (let count = 0; count < 20; count++) await noisy[count % 2]!.subscribe(`n${count}`, dear(`n${count}`, 50, 4))
    await quiet.subscribe('q', 'subscription { entitlementsUpdated { customerId } }')
    const large = Array.from({ length: 60 }, (_, index) => boolean(`feature-${index}`))
    const executed = () => metric('tollgate_pushes_executed_total')
    const before = await executed()
    const longest = await longestStep(async () => {
      for (let count = 0; count < 20; count++)
        await publish(message('entitlements', 5, { customerId: 'a', state: state(5, large, { customerId: 'a' }) }))
      await eventually('some pushes', async () => (await executed()) > before + 30)
    })
    // Some 8 ms in a round, beside what the clients of this test take; all 20 documents at once take ten times as long. On a busy machine a step takes several times as much.
    expect(longest).to.be.below(200)
    await publish(message('entitlements', 5, { customerId: 'b', state: state(5, [boolean('sso')], { customerId: 'b' }) }), environment.id)
    expect(await quiet.next()).to.have.nested.property('payload.data.entitlementsUpdated.customerId', 'b')
    expect((await executed()) - before).to.be.below(20 * 20)
  }).timeout(30_000)

  /** That has the text in it: what was published before may still be told. */
  async function nextWith(client: TestClient, text: string): Promise<Record<string, unknown>> {
    for (;;) {
      const heard = await client.next()
      if (JSON.stringify(heard).includes(text)) return heard
    }
  }

  /** A change of the only entitlement of a customer, by the length of what is said of its feature. */
  async function publishDescribed(customerId: string, characters: number): Promise<void> {
    const described = { ...boolean('sso') }
    described.feature = { ...described.feature, description: 'x'.repeat(characters) }
    await publish(message('entitlements', 5, { customerId, state: state(5, [described], { customerId }) }))
  }

  it('refuse a push that is larger than an answer may be, and go on with the next', async () => {
    const client = await connect()
    const aliases = Array.from({ length: 99 }, (_, index) => `a${index}: entitlements { feature { description } }`)
    await client.subscribe('s', `subscription { entitlementsUpdated { customerId ${aliases.join(' ')} } }`)
    const before = process.memoryUsage().rss
    await publishDescribed('large', mebibyte)
    const { id, type, payload } = await nextWith(client, '"errors"')
    expect([id, type]).to.deep.equal(['s', 'next'])
    expect(payload)
      .to.have.nested.property('errors[0].message')
      .that.matches(/^The answer is larger than \d+ bytes: ask for/)
    expect(payload).to.not.have.property('data')
    expect(process.memoryUsage().rss - before).to.be.below(100 * mebibyte)
    await publishDescribed('small', 10)
    await nextWith(client, '"customerId":"small"')
  })

  it('tell all who listen to the same of a large change', async () => {
    const query = `subscription { entitlementsUpdated { customerId a: entitlements { feature { description } } entitlements { feature { description } } } }`
    const clients = [await connect(), await connect(), await connect()]
    for (const client of clients) await client.subscribe('s', query)
    await publishDescribed('large', mebibyte)
    const told = await Promise.all(clients.map((client) => nextWith(client, '"customerId":"large"')))
    expect(told[0]).to.have.nested.property('payload.data.entitlementsUpdated.a[0].feature.description').with.length(mebibyte)
    for (const heard of told.slice(1)) expect(JSON.stringify(heard) === JSON.stringify(told[0])).to.equal(true)
  })

  it('wait for a peer that reads slowly', async () => {
    const client = await connect()
    await client.subscribe('s', 'subscription { entitlementsUpdated { customerId entitlements { feature { description } } } }')
    client.socket.pause()
    for (let count = 0; count < 10; count++) await publishDescribed(`c${count}`, 200_000)
    await sleep(100)
    client.socket.resume()
    for (let count = 0; count < 10; count++)
      expect(await nextWith(client, '"customerId":"c')).to.have.nested.property('payload.data.entitlementsUpdated.customerId', `c${count}`)
    await client.settle()
  })
})

/** A document of `aliases` lists of entitlements with `fields` fields each; no two names make the same one. */
function dear(name: string, aliases: number, fields: number): string {
  const inner = ['refId', 'displayName', 'description', 'featureType', 'meterType', 'featureUnits', 'featureUnitsPlural', '__typename']
  const lists = Array.from(
    { length: aliases },
    (_, index) => `${name}${index}: entitlements { feature { ${inner.slice(0, fields).join(' ')} } }`,
  )
  return `subscription { entitlementsUpdated { ${lists.join(' ')} } }`
}

const upgrade = `GET /graphql HTTP/1.1\r
Host: localhost\r
Connection: Upgrade\r
Upgrade: websocket\r
Sec-WebSocket-Version: 13\r
Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
Sec-WebSocket-Protocol: graphql-transport-ws\r
\r
`
