import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { parse, print } from 'graphql'
import { Marked, type Token } from 'marked'
import { curlExample, type ExampleRequest, typescriptExample, withExamples } from '../../../../src/web/pages/examples.js'
import { packageRoot } from '../../../../src/web/pages/package-files.js'
import { readRecipes } from '../../../support/recipes.js'

const page = (name: string) => readFileSync(join(packageRoot, 'src/web/docs', `${name}.md`), 'utf8')
const markdown = new Marked()
const added = (text: string) =>
  withExamples(markdown.lexer(text)).flatMap((token: Token) =>
    token.type === 'code' && ['sh', 'ts'].includes(token.lang ?? '') ? [token.lang] : [],
  )

const tricky: ExampleRequest = {
  query: 'mutation ($input: JSON!) {\n  applyCatalog(input: $input, note: "a `b` \u0024{c} \\" d") {\n    hash\n  }\n}\n',
  variables: { input: { text: 'it\'s "so" `and` \u0024{not} \\ otherwise', list: [1, null] } },
}
const requests: [string, ExampleRequest][] = [
  ...['index', 'recipes'].flatMap((name) =>
    readRecipes(page(name)).map((recipe): [string, ExampleRequest] => [`${name}: ${recipe.title}`, recipe]),
  ),
  ['without variables', { query: '{ catalog }', variables: null }],
  ['everything that has to be escaped', tricky],
]

/** The body that the TypeScript sends. */
async function sentBy(source: string): Promise<{ url: string; init: { headers: Record<string, string>; body: string } }> {
  let sent: [string, { headers: Record<string, string>; body: string }] | undefined
  const fetch = async (...given: NonNullable<typeof sent>) => {
    sent = given
    return { json: async () => ({}) }
  }
  const process = { env: { SERVER_API_KEY: 'server-key' } }
  await new Function('fetch', 'process', `return (async () => {${source.replace('SERVER_API_KEY!', 'SERVER_API_KEY')}})()`)(fetch, process)
  return { url: sent![0], init: sent![1] }
}

describe('examples of the docs', () => {
  for (const [what, request] of requests) {
    const { query, variables } = request
    const same = (body: string) => {
      const sent = JSON.parse(body) as { query: string; variables?: object }
      expect(print(parse(sent.query))).to.equal(print(parse(query)))
      expect(sent.variables ?? null).to.deep.equal(variables)
    }

    it(`ask the same in curl: ${what}`, () => {
      const text = curlExample(request)
      const [, body] = /<<'END'\n([\s\S]*)\nEND$/.exec(text)!
      same(body!)
      expect(text).to.include('http://127.0.0.1:4000/graphql').and.include('content-type: application/json')
    })

    it(`ask the same in TypeScript: ${what}`, async () => {
      const { url, init } = await sentBy(typescriptExample(request))
      expect(url).to.equal('http://127.0.0.1:4000/graphql')
      expect(init.headers).to.deep.equal({ 'content-type': 'application/json', 'X-API-KEY': 'server-key' })
      same(init.body)
    })
  }

  it('stand below each request, once it is whole', () => {
    const graphql = (text: string) => `\`\`\`graphql\n${text}\n\`\`\`\n\n`
    const json = (value: object) => `\`\`\`json\n${JSON.stringify(value)}\n\`\`\`\n\n`
    expect(added(graphql('{ a }'))).to.deep.equal(['sh', 'ts'])
    expect(added(graphql('query { a }') + json({ input: 1 }) + json({ data: 1 }))).to.deep.equal(['sh', 'ts'])
    expect(added(graphql('query { a }') + json({ data: 1 }))).to.deep.equal(['sh', 'ts'])
    expect(added(graphql('subscription { a }') + json({ data: 1 }))).to.deep.equal([])
    expect(added(json({ input: 1 }))).to.deep.equal([])
    expect(added('```json\n{ broken\n```\n')).to.deep.equal([])
  })
})
