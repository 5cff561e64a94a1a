import { request } from 'node:http'
import { runInNewContext } from 'node:vm'
import { expect } from 'chai'
import { readAsset } from '../../../../src/web/pages/package-files.js'
import { type FrontDoor, type GraphqlBody, graphiqlKey, openFrontDoor } from '../front-door.js'

describe('what the front door shows to people', () => {
  let door: FrontDoor
  before(async function () {
    this.timeout(10_000)
    door = await openFrontDoor()
  })
  after(async () => expect(await door.close()).to.deep.equal([]))

  /** With a Host of our own, which fetch does not allow. */
  const get = (path: string, headers: Record<string, string> = {}) =>
    new Promise<{ status: number | undefined; headers: Record<string, unknown>; text: string }>((resolve, reject) => {
      const sent = request(door.url + path, { headers }, (response) => {
        let text = ''
        response.on('data', (chunk) => (text += chunk))
        response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, text }))
      })
      sent.on('error', reject).end()
    })

  describe('a request that is refused for its method or headers', () => {
    const body = '{"query": "{ __typename }"}'
    for (const [what, init, status, words] of [
      ['no content type', { method: 'POST', body: Buffer.from(body) }, 415, ['content-type: application/json', 'curl']],
      [
        'that of curl -d',
        { method: 'POST', body, headers: { 'content-type': 'application/x-www-form-urlencoded' } },
        415,
        ['x-www-form-urlencoded'],
      ],
      ['text', { method: 'POST', body, headers: { 'content-type': 'text/plain' } }, 415, ['text/plain']],
      ['another method', { method: 'PUT', body, headers: { 'content-type': 'application/json' } }, 405, ['PUT', 'POST']],
      [
        'an answer in another form',
        { method: 'POST', body, headers: { 'content-type': 'application/json', accept: 'image/png' } },
        406,
        ['image/png'],
      ],
      [
        'a list of them, in another form',
        { method: 'POST', body: `[${body},${body}]`, headers: { 'content-type': 'application/json', accept: 'image/png' } },
        406,
        ['image/png'],
      ],
    ] as [string, RequestInit, number, string[]][])
      it(`says what is wrong: ${what}`, async () => {
        const headers = { 'x-api-key': door.serverKey, ...(init.headers as Record<string, string>) }
        const response = await fetch(`${door.url}/graphql`, { ...init, headers })
        expect(response.status).to.equal(status)
        expect(response.headers.get('content-type')).to.include('application/json')
        const { errors } = (await response.json()) as GraphqlBody
        expect(errors).to.have.length(1)
        expect(errors![0]!.extensions.code).to.equal('BadUserInput')
        for (const word of words) expect(errors![0]!.message).to.include(word)
      })

    it('keeps the header that says what is allowed', async () => {
      const mutation = encodeURIComponent('mutation { archiveCustomer(input: { customerId: "a" }) { id } }')
      const response = await fetch(`${door.url}/graphql?query=${mutation}`, { headers: { 'x-api-key': door.serverKey } })
      expect([response.status, response.headers.get('allow')]).to.deep.equal([405, 'POST'])
      expect(((await response.json()) as GraphqlBody).errors![0]!.message).to.include('GET')
    })
  })

  describe('the page at /', () => {
    it('leads to everything that is here', async () => {
      const { status, text } = await get('/')
      expect(status).to.equal(200)
      const links = Array.from(text.matchAll(/<a href="([^"]+)"/g), ([, path]) => path!)
      expect(links).to.deep.equal(['/docs', '/graphql', '/queues', '/readyz', '/metrics'])
      for (const path of links) expect((await get(path, { accept: 'text/html' })).status, path).to.equal(path === '/queues' ? 401 : 200)
    })

    it('and all others have an icon', async () => {
      for (const path of ['/', '/docs', '/docs/reference']) expect((await get(path)).text, path).to.include('href="/favicon.svg"')
      for (const path of ['/favicon.svg', '/favicon.ico']) {
        const { status, headers, text } = await get(path)
        expect([status, headers['content-type']]).to.deep.equal([200, 'image/svg+xml'])
        expect(text).to.match(/^<svg /)
      }
    })
  })

  describe('GraphiQL with a key', () => {
    const accept = 'text/html'
    const keyIn = (text: string) => /data-key="([^"]*)"/.exec(text)?.[1]?.replaceAll('&quot;', '"')

    it('has it in a browser on this machine, and nowhere else', async () => {
      const { port } = new URL(door.url)
      for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, '[::1]'])
        expect(keyIn((await get('/graphql', { accept, host })).text), host).to.equal(graphiqlKey)
      for (const more of [{ host: 'rebound.example' }, { host: `rebound.example:${port}` }, { 'x-forwarded-for': '203.0.113.9' }] as Record<
        string,
        string
      >[])
        expect(keyIn((await get('/graphql', { accept, ...more })).text), JSON.stringify(more)).to.equal('')
    })

    it('gives no other page a way to it', async () => {
      const { headers } = await get('/graphql', { accept, origin: 'https://app.example' })
      expect(headers).to.include({
        'cache-control': 'no-store',
        'content-security-policy': "frame-ancestors 'none'",
        'cross-origin-resource-policy': 'same-origin',
      })
      expect(headers).to.not.have.property('access-control-allow-origin')
      expect((await get('/graphiql/start.js')).text).to.not.include(graphiqlKey)
    })

    interface Started {
      props: { fetcher: (params: object, options?: object) => unknown; shouldPersistHeaders: boolean; defaultHeaders?: string }
      sent: { headers: Record<string, string> }[]
    }
    /** What the script does in a browser, as far as the editor is told. */
    function start(key: string): Started {
      const sent: Started['sent'] = []
      let props: Started['props'] | undefined
      runInNewContext(readAsset('graphiql.js'), {
        document: { getElementById: () => ({ dataset: { key } }) },
        React: { createElement: (_: unknown, given: Started['props']) => (props = given) },
        ReactDOM: { createRoot: () => ({ render: () => undefined }) },
        GraphiQL: { createFetcher: () => (_: object, options: Started['sent'][0]) => sent.push(JSON.parse(JSON.stringify(options))) },
      })
      return { props: props!, sent }
    }

    it('sends it, unless the headers name another one', () => {
      const { props, sent } = start('server-local')
      expect(props.shouldPersistHeaders).to.equal(false)
      props.fetcher({})
      props.fetcher({}, { headers: { 'x-customer-key': 'token' } })
      props.fetcher({}, { headers: { 'x-api-key': 'server-mine' } })
      props.fetcher({}, { headers: { 'X-API-KEY': 'paste-a-server-key-here' } })
      expect(sent.map(({ headers }) => headers)).to.deep.equal([
        { 'X-API-KEY': 'server-local' },
        { 'x-customer-key': 'token', 'X-API-KEY': 'server-local' },
        { 'x-api-key': 'server-mine' },
        { 'X-API-KEY': 'server-local' },
      ])
    })

    it('asks for one when there is none', () => {
      const { props, sent } = start('')
      expect(JSON.parse(props.defaultHeaders!)).to.have.property('X-API-KEY')
      props.fetcher({}, { headers: {} })
      expect(sent[0]!.headers).to.deep.equal({})
    })
  })
})
