import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { parse } from 'yaml'
import { packageRoot } from '../../../../src/web/pages/package-files.js'
import { readRecipes, withoutChance } from '../../../support/recipes.js'
import { openWholePlatform, type TestEnvironment, type WholePlatform } from '../whole-platform.js'

const pageOf = (name: string) => readFileSync(join(packageRoot, 'src/web/docs', `${name}.md`), 'utf8')

for (const [name, needed] of [
  ['recipes', ['sign-up', 'trial', 'upgrade', 'seat', 'usage', 'cancel']],
  ['index', ['provision', 'subscribe', 'ask', 'report', 'cancel']],
] as const)
  describe(`the page of ${name}`, function () {
    this.timeout(30_000)
    let platform: WholePlatform
    let environment: TestEnvironment

    before(async () => {
      platform = await openWholePlatform()
      const catalog: unknown = parse(readFileSync(join(packageRoot, 'src/local/example-catalog.yaml'), 'utf8'))
      environment = await platform.createEnvironment('recipes', catalog)
    })
    after(async () => expect(await platform.close()).to.deep.equal([]))

    const recipes = readRecipes(pageOf(name))
    it('has what a host application needs first', () => {
      const titles = recipes.map(({ title }) => title.toLowerCase()).join('\n')
      for (const word of needed) expect(titles).to.include(word)
    })
    for (const [index, { title, query, variables, response }] of recipes.entries()) {
      it(`answers as it says: ${index + 1}. ${title}`, async () => {
        const answer = await environment.ask(query, variables)
        expect(withoutChance(answer), JSON.stringify(answer, null, 2)).to.deep.equal(withoutChance(response))
      })
    }
  })

describe('reading recipes', () => {
  it('refuses a request without its answer', () => {
    expect(() => readRecipes('## A\n```graphql\n{ a }\n```\n```json\n{}\n```\n')).to.throw('A: a request without its answer')
    expect(readRecipes('## A\n```graphql\n{ a }\n```\n```json\n{}\n```\nthen\n```json\n{"data": 1}\n```\n')).to.have.length(1)
  })
  it('compares times and our ids by their shape only', () => {
    const value = { at: '2026-01-31T09:30:00.000Z', id: '01a22091-10f1-73a7-81d5-f4cea4e159b1', n: 1, list: ['x', null] }
    expect(withoutChance(value)).to.deep.equal({ at: '(a time)', id: '(an id)', n: 1, list: ['x', null] })
  })
})
