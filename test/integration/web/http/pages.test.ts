import { readdirSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { runInNewContext } from 'node:vm'
import { expect } from 'chai'
import { packageRoot, readAsset } from '../../../../src/web/pages/package-files.js'
import { type FrontDoor, type GraphqlBody, graphiqlKey, openFrontDoor } from '../front-door.js'

describe('what the front door shows to people', () => {
  let door: FrontDoor
  before(async function () {
    this.timeout(20_000)
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
      expect(links).to.deep.equal(['/docs', '/graphql', '/queues', '/readyz'])
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

  describe('the docs', () => {
    const pages = (html: string) =>
      Array.from(html.matchAll(/<h2>([^<]+)<\/h2>\n<ul>\n([\s\S]*?)<\/ul>/g), ([, title, list]) => ({
        title: title!,
        names: Array.from(list!.matchAll(/href="\/docs\/([\w-]+)"/g), ([, name]) => name!),
      }))

    it('list every page once, in an order for people who begin', async () => {
      const sections = pages((await get('/docs')).text)
      expect(sections.map(({ title }) => title)).to.deep.equal(['Start', 'Clients', 'Recipes', 'How it works', 'Reference', 'Operation'])
      const names = sections.flatMap((section) => section.names)
      expect(names[0]).to.equal('index')
      const files = readdirSync(join(packageRoot, 'src/web/docs')).filter((file) => file.endsWith('.md'))
      expect([...names].sort()).to.deep.equal([...files.map((file) => file.slice(0, -3)), 'reference'].sort())
    })

    it('have each request in curl and TypeScript, and a button to copy each block', async () => {
      const { text } = await get('/docs/index')
      expect(text.match(/<summary>curl<\/summary>/g)).to.have.length(5)
      expect(text.match(/<summary>TypeScript<\/summary>/g)).to.have.length(5)
      expect(text.match(/<div class="code"><button type="button" class="copy" hidden>/g)).to.have.length(text.match(/<pre/g)!.length)
    })

    it('keep what is wide inside itself', async () => {
      const { text } = await get('/docs/sidecar')
      expect(text.match(/<div class="table" tabindex="0"><table>/g)).to.have.length(text.match(/<table/g)!.length)
      const css = (await get('/docs/docs.css')).text
      for (const block of [/^pre \{[^}]*overflow-x: auto/m, /^\.table \{[^}]*overflow-x: auto/m]) expect(css).to.match(block)
      expect(text.indexOf('<main>')).to.be.below(text.indexOf('<nav'))
    })

    it('are short: what the search looks through is in one file, which is known by its tag', async () => {
      for (const path of ['/docs', '/docs/graphql-api', '/docs/nope']) {
        const { text } = await get(path)
        expect(text.length, path).to.be.below(60_000)
        expect(text.match(/data-words="[^"]*"/g), path).to.deep.equal(['data-words="/docs/search.json"'])
      }
      const { headers, text } = await get('/docs/search.json')
      expect(headers['content-type']).to.equal('application/json; charset=utf-8')
      expect(headers['content-security-policy']).to.include("connect-src 'self'")
      const words = JSON.parse(text) as Record<string, string>
      const names = pages((await get('/docs')).text).flatMap((section) => section.names)
      expect(Object.keys(words).sort()).to.deep.equal(names.map((name) => `/docs/${name}`).sort())
      expect(words['/docs/edge']).to.include('if-none-match')
      expect(words['/docs/reference']).to.include('provisioncustomer')
    })

    it('and all that is served without a key is given again only to who has another one', async () => {
      const paths = [
        '/',
        '/favicon.svg',
        '/docs',
        '/docs/reference',
        '/docs/search.json',
        '/docs/docs.js',
        '/docs/docs.css',
        '/docs/cost.svg',
      ]
      for (const path of [...paths, '/graphiql/start.js', '/graphiql/graphiql.js', '/graphiql/graphiql.css', '/graphiql/react.js']) {
        const first = await get(path)
        expect(first.status, path).to.equal(200)
        const again = await get(path, { 'if-none-match': String(first.headers.etag) })
        expect([again.status, again.text], path).to.deep.equal([304, ''])
        expect((await get(path, { 'if-none-match': '"another"' })).text, path).to.equal(first.text)
      }
      const [one, other] = [await get('/docs/clients', { host: 'one.example' }), await get('/docs/clients', { host: 'other.example' })]
      expect(one.headers.etag).to.not.equal(other.headers.etag)
    })

    interface Element {
      text: string
      hidden: boolean
    }
    /** What the script does in a browser, as far as the search is concerned. `load`: what the file has. */
    function searching(titles: Record<string, string>, load: (path: string) => Promise<object>) {
      const items = Object.entries(titles).map(([path, text]) => ({
        text,
        hidden: false,
        querySelector: () => ({ textContent: text, getAttribute: () => path }),
      }))
      const section = { hidden: false, querySelector: () => items.find(({ hidden }) => !hidden) ?? null }
      const nothing = { hidden: true }
      let onInput!: () => void
      const search = {
        value: '',
        dataset: { words: '/docs/search.json' },
        addEventListener: (_: string, listener: () => void) => (onInput = listener),
      }
      const found: Record<string, Element[] | object[]> = { '#pages li': items, '#pages section': [section], 'button.copy': [] }
      runInNewContext(readAsset('docs.js'), {
        document: {
          getElementById: (id: string) => (id === 'search' ? search : nothing),
          querySelectorAll: (selector: string) => found[selector]!,
        },
        fetch: load,
      })
      const settled = () => new Promise((resolve) => setImmediate(resolve))
      return async (text: string) => {
        search.value = text
        onInput()
        await settled()
        return { shown: items.filter(({ hidden }) => !hidden).map((item) => item.text), nothing: !nothing.hidden, section: !section.hidden }
      }
    }
    const titles = { '/docs/a': 'First steps', '/docs/b': 'Billing' }

    it('are searched by title and words, which are loaded once, when somebody searches', async () => {
      const asked: string[] = []
      const type = searching(titles, async (path) => {
        asked.push(path)
        return { ok: true, json: async () => ({ '/docs/a': 'npm start', '/docs/b': 'invoices and taxes' }) }
      })
      expect(asked).to.deep.equal([])
      expect(await type('TAXES in')).to.deep.equal({ shown: ['Billing'], nothing: false, section: true })
      expect(await type('steps')).to.deep.equal({ shown: ['First steps'], nothing: false, section: true })
      expect(await type('taxes start')).to.deep.equal({ shown: [], nothing: true, section: false })
      expect(await type('')).to.deep.equal({ shown: ['First steps', 'Billing'], nothing: false, section: true })
      expect(asked).to.deep.equal(['/docs/search.json'])
    })

    it('are searched by title while their words cannot be had', async () => {
      let asked = 0
      const type = searching(titles, async () => {
        asked += 1
        if (asked === 1) throw new Error('away')
        return { ok: asked > 2, status: 503, json: async () => ({ '/docs/a': 'npm start' }) }
      })
      expect((await type('bill')).shown).to.deep.equal(['Billing'])
      expect((await type('npm')).shown).to.deep.equal([])
      expect((await type('npm ')).shown).to.deep.equal(['First steps'])
      await type('npm s')
      expect(asked).to.equal(3)
    })

    it('name the address under which they were reached, and the sidecar of the platform', async () => {
      const shown = async (headers: Record<string, string>) => {
        const { text } = await get('/docs/clients', headers)
        expect(text).to.include('127.0.0.1:9443').and.not.include('127.0.0.1:8443')
        return Array.from(text.matchAll(/<code>((?:https?|wss?):[^<]+)<\/code>/g), ([, address]) => address)
      }
      const at = (http: string, ws: string) => [`${http}/graphql`, http, `${ws}/graphql`]
      expect(await shown({})).to.deep.equal(at(door.url, door.url.replace('http', 'ws')))
      expect(await shown({ host: 'tollgate.example' })).to.deep.equal(at('http://tollgate.example', 'ws://tollgate.example'))
      expect(await shown({ host: '[::1]:4321', 'x-forwarded-proto': 'https' })).to.deep.equal(at('https://[::1]:4321', 'wss://[::1]:4321'))
      expect(await shown({ host: '"><script>' })).to.deep.equal(at('http://127.0.0.1:4000', 'ws://127.0.0.1:4000'))
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
      expect(headers).to.include({ 'cache-control': 'no-store', 'cross-origin-resource-policy': 'same-origin' })
      expect(headers['content-security-policy']).to.include("frame-ancestors 'none'")
      expect(headers).to.not.have.property('access-control-allow-origin')
      expect((await get('/graphiql/start.js')).text).to.not.include(graphiqlKey)
    })

    interface Started {
      props: { fetcher: (params: object, options?: object) => unknown; shouldPersistHeaders?: boolean; defaultHeaders?: string }
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
      expect(props.shouldPersistHeaders, 'left to the settings of the editor, where it is off').to.equal(undefined)
      props.fetcher({}, { headers: {} })
      expect(sent[0]!.headers).to.deep.equal({})
    })
  })
})
