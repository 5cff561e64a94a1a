import { once } from 'node:events'
import { connect } from 'node:net'
import { expect } from 'chai'
import fc from 'fast-check'
import { type FrontDoor, openFrontDoor } from '../integration/web/front-door.js'
import { holds, timeoutOf } from './fuzz.js'
import { json, nearlyText, text, written } from './values.js'
import { expectNothingInternal, expectQuiet, soon, watchedLog } from './watch.js'

const customer = '/v1/c/acme/entitlements.json'
const part = fc.oneof(
  text.map((part) => encodeURIComponent(part.toWellFormed())),
  text.map((part) =>
    Buffer.from(part)
      .toString('latin1')
      .replaceAll(/[\r\n ]/g, ''),
  ),
  fc.constantFrom(
    '%',
    '%0',
    '%00',
    '%c0%af',
    '%ed%a0%80',
    '%2e%2e',
    '..',
    '.',
    '//',
    '%2F',
    '%5c',
    '\\',
    ';',
    '#',
    '?',
    '&',
    '=',
    '%25',
    '+',
    'x'.repeat(9_000),
  ),
)
/** Whole paths, which are mixed with what is above. */
const known = [
  customer,
  '/v1/c/acme/r/site/entitlements.json',
  '/v1/paywall.json',
  '/v1/p/product/paywall.json',
  '/docs',
  '/docs/security',
  '/docs/assets/x.css',
  '/queues',
  '/queues/api/queues',
  '/queues/queue/metering?status=latest',
  '/queues/api/queues/x/1/retry',
  '/graphql',
  '/graphiql',
  '/assets/x.js',
  '/health/ready',
  '/health/live',
  '/metrics',
  '/',
]
const queryOf = fc
  .array(
    fc.tuple(
      fc.oneof(fc.constantFrom('context', 'status', 'page', 'query', 'variables', 'operationName', 'para', '__proto__', 'a[b]'), part),
      fc.oneof(
        part,
        // A longer one is cut off by Node while it still arrives.
        json.map((value) => encodeURIComponent(written(value).toWellFormed()).slice(0, 9_000)),
      ),
    ),
    { maxLength: 4 },
  )
  .map((pairs) => (pairs.length === 0 ? '' : `?${pairs.map((pair) => pair.join('=')).join('&')}`))
const path = fc.oneof(
  fc.tuple(fc.constantFrom(...known), queryOf).map(([head, tail]) => head + tail),
  fc.tuple(fc.constantFrom(...known), fc.nat(), part, queryOf).map(([head, at, part, tail]) => {
    const parts = head.split('/')
    parts[1 + (at % (parts.length - 1))] = part
    return parts.join('/') + tail
  }),
  fc.array(part, { maxLength: 6 }).map((parts) => `/${parts.join('/')}`),
  nearlyText(fc.constantFrom(...known)).map((given) => `/${given.replaceAll(/[\r\n ]/g, '')}`),
  fc.constantFrom(...known).map((given) => given.toUpperCase()),
  fc.constantFrom(
    '*',
    'http://elsewhere/v1/c/acme/entitlements.json',
    'http://',
    '//',
    '///',
    '/v1/',
    '/v1/c//entitlements.json',
    '//v1/c/acme/entitlements.json',
  ),
)
const methods = fc.oneof(
  { arbitrary: fc.constant('GET'), weight: 8 },
  { arbitrary: fc.constantFrom('HEAD', 'OPTIONS', 'PUT', 'POST', 'DELETE', 'PATCH', 'TRACE'), weight: 2 },
)
const headers = fc.constantFrom(
  '',
  '',
  'if-none-match: "x", *, W/"\r\n',
  'accept-encoding: nobody\r\n',
  'range: bytes=9-1\r\n',
  'origin: null\r\n',
  'x-customer-key: a.b\r\n',
  'cookie: =;;=\r\n',
  'authorization: Basic !\r\n',
)

describe('paths that nobody should ask for', () => {
  const { log, lines } = watchedLog()
  let door: FrontDoor
  let port: number

  before(async function () {
    this.timeout(30_000)
    door = await openFrontDoor({ log, limits: { perKey: 1_000_000, perAddress: 1_000_000, perCustomer: 1_000_000 } })
    port = Number(new URL(door.url).port)
    await door.ask('mutation { provisionCustomer(input: {customerId: "acme"}) { customer { id } } }')
  })
  afterEach(async () => {
    const response = await fetch(door.url + customer, { headers: { 'x-api-key': door.serverKey } })
    expect(response.status).to.equal(200)
    expect(await response.json()).to.have.nested.property('data')
  })
  after(async () => expect(await door.close()).to.deep.equal([]))

  it('are answered or refused', async () => {
    await holds(250, fc.tuple(methods, path, headers), async ([method, asked, extra]) => {
      const about = `${method} ${asked} ${extra}`
      const socket = connect({ port, host: '127.0.0.1' })
      const chunks: Buffer[] = []
      socket.on('error', () => undefined).on('data', (chunk) => chunks.push(chunk))
      const operator = `authorization: Basic ${Buffer.from(`operator:${door.operatorKey}`).toString('base64')}\r\n`
      socket.write(
        `${method} ${asked} HTTP/1.1\r\nhost: t\r\nconnection: close\r\nx-api-key: ${door.serverKey}\r\n${extra.startsWith('authorization') ? '' : operator}${extra}\r\n`,
      )
      await soon(about, once(socket, 'close'))
      const said = Buffer.concat(chunks).toString()
      expect(said, about).to.match(/^HTTP\/1\.1 [1-4]\d\d /)
      // Our own pages and their scripts speak of what they are made of.
      if (!/^HTTP\/1\.1 200 /.test(said) || asked.startsWith('/v1/'))
        expectNothingInternal(said.replaceAll(/\\?"(?:[^"\\]|\\.)*\\?"/g, ''), `${about}\n${said.slice(0, 600)}`)
      expect(said, about).to.not.include('InternalServerError')
      expectQuiet(lines, about)
    })
  }).timeout(timeoutOf(250))
})
