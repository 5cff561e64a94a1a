import { Queue } from 'bullmq'
import { expect } from 'chai'
import { Redis } from 'ioredis'
import { queuePrefix as prefixOf } from '../../../../src/platform/redis/slots.js'
import { readPage } from '../../../support/page-policy.js'
import { testRedisUrl } from '../../../support/redis.js'
import { type FrontDoor, openFrontDoor, operatorKey } from '../front-door.js'

/** What browsers are told about our pages, so that no other page makes use of them. */
describe('the pages of the front door', function () {
  this.timeout(60_000)

  let door: FrontDoor
  before(async () => {
    door = await openFrontDoor()
  })
  after(async () => expect(await door.close()).to.deep.equal([]))

  const asOperator = { authorization: `Basic ${Buffer.from(`anybody:${operatorKey}`).toString('base64')}` }
  const open = (path: string, init: RequestInit = {}) =>
    fetch(door.url + path, { ...init, headers: { accept: 'text/html', ...asOperator, ...(init.headers as Record<string, string>) } })

  const paths = [
    '/',
    '/docs',
    '/docs/clients',
    '/docs/cost',
    '/docs/reference',
    '/docs/security',
    '/docs/nope',
    '/graphql',
    '/queues',
    '/queues/queue/usage-ingestion',
  ]

  for (const path of paths) {
    it(`${path} is shown in no other page, and tells none of its reader`, async () => {
      const { headers } = await open(path)
      expect(headers.get('content-type')).to.include('text/html')
      expect(headers.get('content-security-policy')).to.include("frame-ancestors 'none'").and.include("default-src 'none'")
      expect(headers.get('content-security-policy')).to.match(/script-src 'self';/)
      expect(headers.get('x-frame-options')).to.equal('DENY')
      expect(headers.get('x-content-type-options')).to.equal('nosniff')
      expect(headers.get('referrer-policy')).to.equal('no-referrer')
    })

    it(`${path} works with its own policy: all that it loads is allowed, and is there under the type it has to have`, async () => {
      const page = await open(path)
      const { loads, refused } = readPage(await page.text(), page.headers.get('content-security-policy')!, page.url)
      expect(refused).to.deep.equal([])
      expect(loads).to.not.deep.equal([])
      const types = { 'script-src': /javascript/, 'style-src': /text\/css/, 'img-src': /^image\// }
      for (const { directive, url } of loads) {
        const loaded = await fetch(url, { headers: asOperator })
        await loaded.arrayBuffer()
        expect([loaded.status, loaded.headers.get('content-type')?.match(types[directive]) !== null], url.href).to.deep.equal([200, true])
      }
    })
  }

  it('run no programs that the policy would stop', async () => {
    for (const path of ['/graphql', '/queues', '/docs']) {
      const page = await open(path)
      const { loads } = readPage(await page.text(), page.headers.get('content-security-policy')!, page.url)
      for (const { url } of loads.filter(({ directive }) => directive === 'script-src')) {
        const program = await (await fetch(url, { headers: asOperator })).text()
        // A way to the global object that is taken only where there is no other.
        const own = program.replaceAll('Function("return this")', '')
        expect(own, url.href).not.to.match(/\beval\(|\bnew Function\(|\bFunction\("|new (Shared)?Worker\(|importScripts\(|WebAssembly/)
      }
    }
  })

  describe('the queue board', () => {
    let redis: Redis
    let queue: Queue
    before(() => {
      redis = new Redis(testRedisUrl())
      queue = new Queue('cache-invalidation', { connection: redis, prefix: prefixOf(door.queuePrefix, 'cache-invalidation') })
    })
    after(async () => {
      await queue.close()
      redis.disconnect()
    })

    const change = (method: string, headers: Record<string, string>, path = 'pause') =>
      fetch(`${door.url}/queues/api/queues/cache-invalidation/${path}`, { method, headers })

    it('takes changes from its own page and from programs, and from nowhere else', async () => {
      const before = await queue.count()
      const own = { ...asOperator, origin: door.url }
      expect((await change('PUT', own)).status).to.equal(200)
      expect(await queue.isPaused()).to.equal(true)
      expect((await change('PUT', { 'x-operator-key': operatorKey }, 'resume')).status).to.equal(200)
      expect(await queue.isPaused()).to.equal(false)
      const foreign: Record<string, string>[] = [
        { ...asOperator, origin: 'https://evil.example' },
        { ...asOperator, origin: 'null' },
        { ...asOperator, 'sec-fetch-site': 'cross-site' },
        { ...asOperator, 'sec-fetch-site': 'same-site', origin: door.url },
        { ...asOperator },
        { 'x-operator-key': operatorKey, origin: 'https://evil.example' },
      ]
      for (const headers of foreign)
        for (const method of ['PUT', 'POST', 'DELETE', 'PATCH'])
          expect((await change(method, headers)).status, JSON.stringify(headers)).to.equal(403)
      const form = { ...asOperator, 'content-type': 'application/x-www-form-urlencoded', origin: 'https://evil.example' }
      expect(
        (await fetch(`${door.url}/queues/api/queues/cache-invalidation/add`, { method: 'POST', headers: form, body: 'name=x' })).status,
      ).to.equal(403)
      expect(await queue.isPaused()).to.equal(false)
      expect(await queue.count()).to.equal(before)
    })

    it('loads nothing from another site', async () => {
      expect(await (await open('/queues')).text()).not.to.match(/(?:src|href)="(?:https?:)?\/\//)
    })
  })
})
