import { readFileSync } from 'node:fs'
import { createServer, request, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { expect } from 'chai'
import { lookupsPerSecond } from '../../../../src/environment/key-lookups.js'
import { Problem } from '../../../../src/kernel/problem.js'
import { Registry } from '../../../../src/platform/metrics.js'
import { TrustedProxies } from '../../../../src/web/access/address.js'
import { Admission } from '../../../../src/web/access/admission.js'
import { FairTurns, ofPages } from '../../../../src/web/access/fair-turns.js'
import { pagesPerAddress, RateLimits } from '../../../../src/web/access/rate-limits.js'
import { Aborted, Bodies, maxBodyBytes, maxHeldBytesPerKey } from '../../../../src/web/http/body.js'
import { boundConnections } from '../../../../src/web/http/connections.js'
import { packageRoot } from '../../../../src/web/pages/package-files.js'
import { eventually } from '../../../support/eventually.js'
import { countStatements } from '../../../support/statements.js'
import { type FrontDoor, openFrontDoor, post } from '../front-door.js'

const listening = (server: Server) =>
  new Promise<number>((resolve) => server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)))

/** All that the peer says until it closes, or for so long. */
function heard(socket: Socket, forMs = 2_000): Promise<string> {
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk
  })
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.on('error', () => undefined)
  return Promise.race([closed, setTimeout(forMs)]).then(() => text)
}

/** The beginning of a body, of texts as long as they are sent. */
const ofTexts = (bytes: number) => Buffer.alloc(bytes, `"${'x'.repeat(997)}",`)

describe('the defence of the front door', () => {
  let door: FrontDoor
  let port: number
  const sockets: Socket[] = []

  before(async function () {
    this.timeout(20_000)
    door = await openFrontDoor()
    port = Number(new URL(door.url).port)
  })
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy()
  })
  after(async () => expect(await door.close()).to.deep.equal([]))

  const open = (head: string, localAddress = '127.0.0.1') => {
    const socket = connect({ port, host: '127.0.0.1', localAddress })
    sockets.push(socket)
    socket.on('error', () => undefined)
    socket.write(head)
    return socket
  }
  const head = (key: string, length: number) =>
    `POST /graphql HTTP/1.1\r\nhost: t\r\nx-api-key: ${key}\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`
  /** `labels`: of which it has at least these. */
  const metric = async (name: string, labels = '') =>
    Number(new RegExp(`^${name}\\{[^}]*${labels}[^}]*\\} (\\S+)$`, 'm').exec(await door.life.metrics.metrics())?.[1] ?? Number.NaN)

  /** What is logged meanwhile, but for what only who looks closely sees. */
  async function linesOf(work: () => Promise<void>): Promise<[level: string, ...line: unknown[]][]> {
    const lines: [level: string, ...line: unknown[]][] = []
    const { log } = door.life
    const levels = ['info', 'warn', 'error'] as const
    const kept = levels.map((level) => log[level])
    for (const level of levels) log[level] = ((...line: unknown[]) => void lines.push([level, ...line])) as never
    try {
      await work()
    } finally {
      for (const [index, level] of levels.entries()) log[level] = kept[index]!
    }
    return lines
  }

  describe('of bodies', () => {
    it('reads none of a body without a key', async () => {
      const answer = await heard(open(head('server-00000000000000000000000000000000', 5_000_000)))
      expect(answer)
        .to.match(/^HTTP\/1\.1 200 /)
        .and.to.match(/connection: close/i)
        .and.to.include('"Unauthenticated"')
      expect(await metric('tollgate_held_body_bytes')).to.equal(0)
    })

    it('holds no more of one key than its share, and lets others send meanwhile', async () => {
      const part = ofTexts(4_900_000)
      const answers = Array.from({ length: 12 }, () => {
        const socket = open(head(door.serverKey, maxBodyBytes))
        socket.write(part)
        return heard(socket, 3_000)
      })
      await eventually('bodies to be refused', async () => (await metric('tollgate_bodies_refused_total', 'reason="share"')) >= 8)
      expect(await metric('tollgate_held_body_bytes')).to.be.within(1, maxHeldBytesPerKey)
      expect((await door.ask('{ __typename }')).data).to.deep.equal({ __typename: 'Query' })
      const other = await post(door.url, { query: '{ products { totalCount } }' }, { 'x-api-key': door.clientKey })
      expect(other.status).to.equal(200)
      for (const socket of sockets.splice(0)) socket.destroy()
      const refused = (await Promise.all(answers)).filter((answer) => answer.startsWith('HTTP/1.1 429'))
      expect(refused.length).to.be.above(0)
      await eventually('the memory to be given back', async () => (await metric('tollgate_held_body_bytes')) === 0)
    }).timeout(15_000)

    it('holds less of a customer with a client key, so that one takes nothing from the others', async () => {
      const of = (customerId: string) =>
        `POST /graphql HTTP/1.1\r\nhost: t\r\nx-api-key: ${door.clientKey}\r\nx-customer-key: ${door.customerToken(customerId)}\r\ncontent-type: application/json\r\ncontent-length: ${maxBodyBytes}\r\n\r\n`
      const send = (customerId: string) => {
        const socket = open(of(customerId))
        socket.write(ofTexts(4_000_000))
        return socket
      }
      for (let n = 0; n < 2; n++) send('one')
      await eventually('the first to arrive', async () => (await metric('tollgate_held_body_bytes')) > 7_900_000)
      expect(await heard(send('one'))).to.match(/^HTTP\/1\.1 429 /)
      send('two')
      await eventually('that of another customer to arrive', async () => (await metric('tollgate_held_body_bytes')) > 11_900_000)
    }).timeout(20_000)

    it('weighs the pieces that a body comes in, not only its bytes', async () => {
      const socket = open(
        `POST /graphql HTTP/1.1\r\nhost: t\r\nx-api-key: ${door.serverKey}\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`,
      )
      const said = heard(socket, 5_000)
      for (let n = 0; n < 100; n++) socket.write('1\r\n"\r\n'.repeat(1_000))
      expect(await said).to.match(/^HTTP\/1\.1 429 /)
    }).timeout(20_000)

    it('counts a body until it is answered', async () => {
      const original = door.app.customers.get
      let answer!: (value: null) => void
      door.app.customers.get = (() => new Promise((resolve) => (answer = resolve))) as never
      try {
        const query = `{ getCustomerByRefId(input: {customerId: "a"}) { id } }${' '.repeat(200_000)}`
        const asked = door.ask(query)
        await eventually('the question to be asked', async () => answer !== undefined)
        expect(await metric('tollgate_held_body_bytes')).to.be.above(200_000)
        answer(null)
        await asked
        await eventually('it to be given back', async () => (await metric('tollgate_held_body_bytes')) === 0)
      } finally {
        door.app.customers.get = original
      }
    })

    for (const [what, length, sent] of [
      ['of which nothing had come', 100_000, ''],
      ['that had come whole', 24, '{"query":"{__typename}"}'],
    ] as const)
      it(`gives up a body ${what}, and whose client has gone while its key was looked up`, async () => {
        const { authenticate } = door.app.environments
        let found!: () => void
        door.app.environments.authenticate = async (...asked) => {
          await new Promise<void>((resolve) => (found = resolve))
          return authenticate.apply(door.app.environments, asked)
        }
        const settled = { count: 0 }
        const { read } = Bodies.prototype
        Bodies.prototype.read = function (...asked) {
          return read.apply(this, asked).finally(() => (settled.count += 1))
        }
        try {
          const socket = open(head(door.serverKey, length) + sent)
          await eventually('the key to be looked up', async () => found !== undefined)
          socket.destroy()
          await setTimeout(100)
          found()
          await eventually('it to be given up', async () => settled.count === 1)
        } finally {
          door.app.environments.authenticate = authenticate
          Bodies.prototype.read = read
        }
      })

    it('has a call give up its place when its client hangs up while it waits to enter', async () => {
      const { enter, leave } = Admission.prototype
      let given: Error | undefined
      let isWaiting = false
      let left = 0
      Admission.prototype.enter = () => {
        isWaiting = true
        let refuse!: (error: Error) => void
        const entered = new Promise<void>((_, reject) => (refuse = reject))
        const giveUp = (error: Error) => {
          given = error
          refuse(error)
        }
        return { entered, giveUp }
      }
      Admission.prototype.leave = () => {
        left += 1
      }
      const query = `{"query":"{__typename}"}${' '.repeat(60_000)}`
      try {
        const lines = await linesOf(async () => {
          const socket = open(head(door.serverKey, query.length) + query)
          await eventually('it to wait', () => isWaiting)
          expect(await metric('tollgate_held_body_bytes')).to.be.above(60_000)
          socket.destroy()
          await eventually('its place to be given up', () => given !== undefined)
          await eventually('its body to be given back', async () => (await metric('tollgate_held_body_bytes')) === 0)
        })
        expect(given).to.be.instanceOf(Aborted)
        expect({ left, lines }).to.deep.equal({ left: 0, lines: [] })
      } finally {
        Object.assign(Admission.prototype, { enter, leave })
      }
    })

    it('takes 1,000 events of some kilobytes each', async () => {
      const dimensions = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`dimension-${n}`, 'a value of a dimension '.repeat(2)]))
      const usageEvents = Array.from({ length: 1_000 }, (_, n) => ({
        customerId: `c-${n}`,
        eventName: 'e',
        idempotencyKey: `k-${n}`,
        dimensions,
      }))
      const query = 'mutation($input: UsageEventsReportInput!) { reportEvent(events: $input) }'
      const { errors } = await door.ask(query, { input: { usageEvents } })
      // It has come as far as the worker that does not run here.
      expect(errors?.map(({ extensions, message }) => [extensions.code, message])).to.deep.equal([['ServiceUnavailable', 'no worker']])
    }).timeout(20_000)

    it('gives up what arrives too slowly, and says so', async () => {
      const bodies = new Bodies({ metrics: new Registry(), timeoutMs: 100 })
      const server = createServer((incoming, response) => {
        bodies.read(incoming, { keyId: 'key', environmentId: 'e', customerId: null }).then(
          () => response.end('whole'),
          (error: Error) => response.writeHead(408, { connection: 'close' }).end(error.message),
        )
      })
      const at = await listening(server)
      try {
        const socket = connect({ port: at, host: '127.0.0.1' })
        socket.write(`${head('key', 10_000)} `)
        expect(await heard(socket))
          .to.match(/^HTTP\/1\.1 408 /)
          .and.to.include('did not arrive within 0.1 s: nothing was done')
      } finally {
        server.closeAllConnections()
        server.close()
      }
    })

    it('refuses what would take long to parse, before it is parsed', async () => {
      for (const [body, named] of [
        ['['.repeat(5_000), /nests deeper/],
        [`[${Array(100_000).fill('{}').join()}]`, /values/],
        [`{${Array.from({ length: 160_000 }, (_, n) => `"${n}":1`).join()}}`, /values/],
        [JSON.stringify({ query: 'x'.repeat(2_100_000) }), /a text of more than/],
      ] as const) {
        const response = await post(door.url, body, { 'x-api-key': door.serverKey })
        expect(response.status).to.equal(413)
        expect(((await response.json()) as { errors: { message: string }[] }).errors[0]!.message).to.match(named)
      }
    })

    it('refuses what is not UTF-8', async () => {
      const response = await fetch(`${door.url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': door.serverKey },
        body: Buffer.concat([Buffer.from('{"query":"{ __typename }","operationName":"'), Buffer.from([0xff]), Buffer.from('"}')]),
      })
      expect(response.status).to.equal(400)
      expect(await response.text()).to.include('The body is not UTF-8')
    })

    it('reads no form for the queue board before its key, and no line of the log calls a bad one an error', async () => {
      const form = (key: string, length: number) =>
        `PUT /queues/api/queues/usage-ingestion/pause HTTP/1.1\r\nhost: t\r\nx-operator-key: ${key}\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`
      expect(await heard(open(form('wrong', 5_000_000)), 500)).to.match(/^HTTP\/1\.1 401 /)
      const lines = await linesOf(async () => {
        for (const body of ['{"a":', '['.repeat(100_000)]) await heard(open(form(door.operatorKey, body.length) + body), 500)
        await fetch(`${door.url}/docs/%E0%A4%A`)
        await fetch(`${door.url}/v1/c/%E0%A4%A/entitlements.json?apiKey=${door.serverKey}`)
      })
      expect(lines.filter(([level]) => level === 'error')).to.deep.equal([])
      expect(JSON.stringify(lines)).to.not.include(door.serverKey)
    })

    it('says nothing about who hangs up, but to who looks closely', async () => {
      const lines = await linesOf(async () => {
        const socket = open(`${head(door.serverKey, 100_000)}{"query":`)
        await setTimeout(100)
        socket.destroy()
        await setTimeout(200)
      })
      expect(lines.filter(([level]) => level !== 'info')).to.deep.equal([])
    })

    it('says no more when the answers were being made', async () => {
      const provision = 'mutation ($input: ProvisionCustomerInput!) { provisionCustomer(input: $input) { customer { id } } }'
      for (let n = 0; n < 20; n++) await door.ask(provision, { input: { customerId: `leaves-${n}` } })
      const query = `{ customers(paging: { first: 100 }) { edges { node { subscriptions { plan { product { displayName } } } } } } }`
      const body = JSON.stringify({ query })
      const request = `${head(door.serverKey, body.length)}${body}`
      const lines = await linesOf(async () => {
        for (let round = 0; round < 5; round++) {
          const socket = open(request.repeat(15))
          await setTimeout(15)
          socket.destroy()
          await setTimeout(100)
        }
      })
      expect(lines.filter(([level]) => level !== 'info')).to.deep.equal([])
    })
  })

  describe('of keys', () => {
    it('looks so many that are made up up for one address, and those of others meanwhile', async () => {
      const { key } = await door.app.environments.createKey({ environment: 'test', kind: 'SERVER', name: 'unseen', expiresAt: null })
      const counted = countStatements()
      const startedAt = performance.now()
      const outcomes = await Promise.all(
        Array.from({ length: 300 }, (_, n) => {
          const made = `server-${String(n).padStart(40, 'x')}`
          return post(door.url, { query: '{ __typename }' }, { 'x-api-key': made }).then(
            async (response) => (await response.json()) as never,
          )
        }),
      )
      counted.stop()
      const codes = outcomes.map(({ errors }: { errors: { extensions: { code: string } }[] }) => errors[0]!.extensions.code)
      expect(new Set(codes)).to.deep.equal(new Set(['Unauthenticated', 'RateLimitExceeded']))
      const { address } = lookupsPerSecond
      // Others may still be answered what was asked before.
      const lookups = counted.texts.filter((text) => text.includes('api_key'))
      expect(lookups.length).to.be.below(address * (5 + 1 + (performance.now() - startedAt) / 1_000) + 10)
      const answer = await new Promise<number | undefined>((resolve, reject) => {
        const sent = request(
          {
            port,
            host: '127.0.0.1',
            localAddress: '127.0.0.9',
            path: '/graphql',
            method: 'POST',
            headers: { 'content-type': 'application/json', 'x-api-key': key },
          },
          (response) => {
            let text = ''
            response.on('data', (chunk) => {
              text += chunk
            })
            response.on('end', () => resolve(JSON.parse(text).data?.__typename === 'Query' ? response.statusCode : undefined))
          },
        )
        sent.on('error', reject)
        sent.end('{"query":"{ __typename }"}')
      })
      expect(answer).to.equal(200)
    })

    it('knows a key that is none from memory', async () => {
      const made = { 'x-api-key': `server-${'k'.repeat(40)}` }
      await post(door.url, { query: '{ __typename }' }, made)
      const counted = countStatements()
      for (let n = 0; n < 50; n++) await post(door.url, { query: '{ __typename }' }, made)
      counted.stop()
      // The first may have been refused: this address has asked for many.
      expect(counted.texts.filter((text) => text.includes('api_key')).length).to.be.below(2)
    })
  })

  describe('of pages, which need no key', () => {
    const page = '/docs/reference'
    const get = (localAddress: string, path = page, headers: Record<string, string> = {}, method = 'GET') =>
      new Promise<number | undefined>((resolve, reject) => {
        const sent = request({ port, host: '127.0.0.1', localAddress, path, headers, method, agent: false }, (response) => {
          response.resume().on('end', () => resolve(response.statusCode))
        })
        sent.on('error', reject).end()
      })

    it('leaves only so many bytes of an address unread, and gives others theirs', async () => {
      const { takeBytesFrom, takePage } = RateLimits.prototype
      // What is written at once is held by the system at first, which is more than an address is given in a second.
      Object.assign(RateLimits.prototype, { takeBytesFrom: () => undefined, takePage: () => undefined })
      try {
        await get('127.0.0.1')
        for (let n = 0; n < 64; n++) open(`GET ${page} HTTP/1.1\r\nhost: t\r\n\r\n`.repeat(30), '127.0.0.7').pause()
        await eventually('it to be refused more', async () => (await get('127.0.0.7')) === 503)
        expect(await metric('tollgate_kept_bytes', 'what="unread pages"')).to.be.within(8 * 2 ** 20, 17 * 2 ** 20)
        expect([await get('127.0.0.8'), await get('127.0.0.7', '/docs')]).to.deep.equal([200, 200])
        for (const socket of sockets.splice(0)) socket.destroy()
        await eventually('it to be given back', async () => (await metric('tollgate_kept_bytes', 'what="unread pages"')) === 0)
        expect(await get('127.0.0.7')).to.equal(200)
      } finally {
        Object.assign(RateLimits.prototype, { takeBytesFrom, takePage })
      }
    }).timeout(60_000)

    it('has turns that GraphQL over GET, health, and who asks before it calls with a key do not wait for, nor what is refused', async () => {
      const { take, takeNow } = FairTurns.prototype
      const { takePage } = RateLimits.prototype
      let letPagesGo = (): void => undefined
      const released = new Promise<void>((resolve) => {
        letPagesGo = resolve
      })
      FairTurns.prototype.takeNow = function (owner) {
        return owner !== ofPages && takeNow.call(this, owner)
      }
      FairTurns.prototype.take = function (owner) {
        return owner === ofPages ? released : take.call(this, owner)
      }
      try {
        let isShown = false
        const shown = get('127.0.0.1', '/docs').then((status) => {
          isShown = true
          return status
        })
        expect(await get('127.0.0.1', '/graphql?query=%7B__typename%7D', { 'x-api-key': door.serverKey })).to.equal(200)
        for (const path of ['/graphql', '/v1/c/a/entitlements.json']) expect(await get('127.0.0.1', path, {}, 'OPTIONS')).to.equal(204)
        RateLimits.prototype.takePage = () => {
          throw new Problem('RESOURCE_EXHAUSTED', 'RATE_LIMIT_EXCEEDED', 'over')
        }
        expect(await get('127.0.0.1', '/docs')).to.equal(429)
        expect([await get('127.0.0.1', '/livez'), isShown]).to.deep.equal([200, false])
        letPagesGo()
        expect(await shown).to.equal(200)
      } finally {
        letPagesGo()
        Object.assign(FairTurns.prototype, { take, takeNow })
        Object.assign(RateLimits.prototype, { takePage })
      }
    })

    it('gives an address so many a second, and others theirs', async () => {
      const { takeBytesFrom } = RateLimits.prototype
      RateLimits.prototype.takeBytesFrom = () => undefined
      try {
        const statuses = await Promise.all(Array.from({ length: 2 * pagesPerAddress }, () => get('127.0.0.9', '/favicon.svg')))
        expect(statuses.filter((status) => status === 200).length).to.be.at.least(pagesPerAddress)
        expect(statuses).to.include(429)
        expect([
          await get('127.0.0.8'),
          (await post(door.url, { query: '{ __typename }' }, { 'x-api-key': door.serverKey })).status,
        ]).to.deep.equal([200, 200])
      } finally {
        RateLimits.prototype.takeBytesFrom = takeBytesFrom
      }
    })

    it('counts the bytes that an address is given, and none that it has', async () => {
      const { takeBytesFrom, takePage } = RateLimits.prototype
      let [bytes, requests, isOver] = [0, 0, false]
      RateLimits.prototype.takeBytesFrom = (address, given) => {
        expect(address).to.equal('127.0.0.1')
        if (isOver) throw new Problem('RESOURCE_EXHAUSTED', 'RATE_LIMIT_EXCEEDED', 'over', { details: { retryAfterMs: 1_500 } })
        bytes += given
      }
      RateLimits.prototype.takePage = () => {
        requests += 1
      }
      const html = { accept: 'text/html' }
      try {
        for (const path of ['/', '/favicon.svg', '/docs', '/docs/search.json', '/docs/nope', '/graphiql/graphiql.js', '/graphql']) {
          bytes = requests = 0
          const response = await fetch(`${door.url}${path}`, { headers: html })
          expect([bytes, requests], path).to.deep.equal([(await response.arrayBuffer()).byteLength, 1])
          await get('127.0.0.1', path, html, 'HEAD')
          const etag = response.headers.get('etag')
          if (etag && response.ok) expect(await get('127.0.0.1', path, { ...html, 'if-none-match': etag }), path).to.equal(304)
          if (path !== '/graphql') expect(bytes, path).to.equal(Number(response.headers.get('content-length')))
        }
        requests = 0
        // Refused, a browser would not hear why.
        for (const path of ['/graphql', '/v1/c/a/entitlements.json']) expect(await get('127.0.0.1', path, {}, 'OPTIONS')).to.equal(204)
        expect(requests).to.equal(0)
        await get('127.0.0.1', '/queues', {}, 'OPTIONS')
        expect(requests).to.equal(1)
        isOver = true
        const refused = await fetch(`${door.url}/favicon.svg`)
        expect([refused.status, await refused.text()]).to.deep.equal([429, 'over'])
        expect(['retry-after', 'cache-control', 'etag'].map((name) => refused.headers.get(name))).to.deep.equal(['2', null, null])
      } finally {
        Object.assign(RateLimits.prototype, { takeBytesFrom, takePage })
      }
    })
  })

  it('lets a customer have so many large answers a second', async () => {
    const client = { 'x-api-key': door.clientKey, 'x-customer-key': door.customerToken('shopper') }
    const paywall = readFileSync(join(packageRoot, 'test/integration/web/graphql/paywall/paywall.graphql'), 'utf8')
    const together = async () => {
      const outcomes = await Promise.all(Array.from({ length: 10 }, () => door.ask(paywall, { input: {} }, client)))
      return outcomes.map(({ errors }) => errors?.[0]?.extensions.code ?? 'answered')
    }
    // A slow machine may take more than a second for them.
    await eventually('some to be answered, and others not', async () => {
      const codes = await together()
      return codes.includes('answered') && codes.includes('RateLimitExceeded')
    })
    await eventually('the next second', async () => (await door.ask(paywall, { input: {} }, client)).errors === undefined)
  }).timeout(30_000)
})

describe('connections', () => {
  const limits = { connections: 5, connectionsPerAddress: 3 }

  async function serve(answer: string, options: { writeTimeoutMs?: number; proxies?: string[] } = {}) {
    const metrics = new Registry()
    const server = createServer((_, response) => response.end(answer))
    boundConnections(server, {
      limits,
      trusted: new TrustedProxies(options.proxies ?? []),
      metrics,
      timeoutMs: options.writeTimeoutMs,
    })
    const port = await listening(server)
    const sockets: Socket[] = []
    const open = async (localAddress: string) => {
      const socket = connect({ port, host: '127.0.0.1', localAddress })
      sockets.push(socket)
      const said = heard(socket, 300)
      socket.write('GET / HTTP/1.1\r\nhost: t\r\n\r\n')
      return (await said).split('\r\n')[0]
    }
    return {
      open,
      sockets,
      port,
      metrics,
      close: () => {
        for (const socket of sockets) socket.destroy()
        server.closeAllConnections()
        server.close()
      },
    }
  }

  it('are so many of one address, and so many in all', async () => {
    const { open, sockets, close, metrics } = await serve('hello')
    try {
      for (let n = 0; n < 3; n++) expect(await open('127.0.0.2')).to.equal('HTTP/1.1 200 OK')
      expect(await open('127.0.0.2')).to.equal('HTTP/1.1 503 Service Unavailable')
      for (let n = 0; n < 2; n++) expect(await open('127.0.0.3')).to.equal('HTTP/1.1 200 OK')
      expect(await open('127.0.0.4')).to.equal('HTTP/1.1 503 Service Unavailable')
      for (const socket of sockets.splice(0)) socket.destroy()
      await eventually('places to be free', async () => /^tollgate_connections 0$/m.test(await metrics.metrics()))
      expect(await open('127.0.0.2')).to.equal('HTTP/1.1 200 OK')
      expect(await metrics.metrics())
        .to.match(/refused_total\{reason="address"\} 1/)
        .and.to.match(/refused_total\{reason="all"\} 1/)
    } finally {
      close()
    }
  })

  it('are more of a proxy, which brings those of many', async () => {
    const { open, close } = await serve('hello', { proxies: ['127.0.0.2'] })
    try {
      for (let n = 0; n < 5; n++) expect(await open('127.0.0.2')).to.equal('HTTP/1.1 200 OK')
    } finally {
      close()
    }
  })

  it('are cut off when nobody reads the answer', async () => {
    const { port, sockets, close, metrics } = await serve('x'.repeat(30_000_000), { writeTimeoutMs: 200 })
    try {
      const socket = connect({ port, host: '127.0.0.1' })
      sockets.push(socket)
      socket.on('error', () => undefined)
      socket.pause()
      // One after another: the second has no connection of its own to be looked at.
      socket.write('GET / HTTP/1.1\r\nhost: t\r\n\r\n'.repeat(2))
      await eventually('the connection to be cut', async () => /^tollgate_answers_unread_total 1$/m.test(await metrics.metrics()))
    } finally {
      close()
    }
  })
})
