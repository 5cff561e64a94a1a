import { once } from 'node:events'
import { createServer } from 'node:http'
import { expect } from 'chai'
import { buildSchema } from 'graphql'
import { listen } from '../../../../src/platform/health.js'
import { silentLogger } from '../../../../src/platform/logger.js'
import { Life } from '../../../../src/platform/process.js'
import { TrustedProxies } from '../../../../src/web/access/address.js'
import { RateLimits } from '../../../../src/web/access/rate-limits.js'
import { SocketDoor } from '../../../../src/web/live/socket.js'
import { TestClient } from './test-client.js'

const many = 1_000_000

describe('the rates of sockets', () => {
  let url: string
  const closers: Array<() => unknown> = []

  /** Sockets for customers, each with its name as token, at an instant that does not pass. */
  async function openDoor(limits: { perKey?: number; perCustomer?: number; perAddress?: number }): Promise<void> {
    const life = new Life('web', silentLogger())
    const key = { kind: 'CLIENT', keyId: 'key', environmentId: 'environment' }
    const sockets = new SocketDoor({
      environments: { authenticate: async () => key, verifyCustomerToken: async (_: string, token: string) => token } as never,
      trusted: new TrustedProxies([]),
      schema: buildSchema('type Query { a: Int } type Subscription { a: Int }'),
      push: { join: async () => () => {} } as never,
      feed: { onGap: () => {}, hold: async () => () => {} } as never,
      rateLimits: new RateLimits({ perKey: many, perCustomer: many, perAddress: many, ...limits }, () => 0),
      places: { sockets: many, socketsPerAddress: many, socketsPerKey: many, socketsPerCustomer: many },
      life,
    })
    const server = createServer()
    sockets.attach(server)
    url = `http://127.0.0.1:${await listen(server, { port: 0, host: '127.0.0.1' })}`
    closers.push(
      () => server.close(),
      () => life.stop(),
    )
  }

  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close()
  })

  function open(localAddress: string): TestClient {
    const client = new TestClient(url, { localAddress })
    closers.push(() => client.socket.terminate())
    return client
  }

  /** What becomes of a socket that shows its key. */
  async function connect(client: TestClient, customer: string): Promise<unknown> {
    await once(client.socket, 'open')
    client.send({ type: 'connection_init', payload: { headers: { 'X-API-KEY': 'key', 'X-CUSTOMER-KEY': customer } } })
    const closed = once(client.socket, 'close').then(([code, reason]) => `${code} ${reason}`)
    return Promise.race([client.next().then(({ type }) => type), closed])
  }

  const accepted = 'connection_ack'
  const refused = '1013 Try again later'

  it('are those of the customer and of the key that opens them', async () => {
    await openDoor({ perCustomer: 2, perKey: 4 })
    for (const end of [accepted, accepted, refused]) expect(await connect(open('127.0.0.1'), 'mine')).to.equal(end)
    for (const end of [accepted, accepted, refused]) expect(await connect(open('127.0.0.1'), `other ${closers.length}`)).to.equal(end)
  })

  it('are those of the address, before a key is shown', async () => {
    await openDoor({ perAddress: 3 })
    const statusOf = async (address: string) => {
      const { socket } = open(address)
      const opened = once(socket, 'open').then(() => 101)
      return Promise.race([opened, once(socket, 'unexpected-response').then(([, response]) => response.statusCode)])
    }
    for (const status of [101, 101, 101, 429]) expect(await statusOf('127.0.0.1')).to.equal(status)
    expect(await statusOf('127.0.0.2')).to.equal(101)
  })

  it('of documents that are not known are those of large answers', async () => {
    await openDoor({})
    const known = 'subscription { a }'
    const sockets: TestClient[] = []
    for (let count = 0; count < 2; count++) {
      const client = open('127.0.0.1')
      expect(await connect(client, 'mine')).to.equal(accepted)
      await client.subscribe('known', known)
      sockets.push(client)
    }
    const refusals: string[] = []
    for (let count = 0; count < 6; count++) {
      const client = sockets[count % 2]!
      client.send({ type: 'subscribe', id: 'new', payload: { query: `subscription { b${count} } # ${'x'.repeat(60_000)}` } })
      const { payload } = await client.next()
      refusals.push((payload as [{ message: string }])[0].message)
    }
    for (const message of refusals.slice(0, 5)) expect(message).to.match(/^Cannot query field/)
    expect(refusals[5]).to.match(/^Too many large answers, .*new documents/)
    for (const client of sockets) await client.subscribe('known again', known)
  })
})
