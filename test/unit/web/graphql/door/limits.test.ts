import { expect } from 'chai'
import { buildSchema, parse } from 'graphql'
import { checkCounts, maxAliases, maxCost, maxFragments, maxRepeats, prepareCost } from '../../../../../src/web/graphql/door/limits.js'

const schema = buildSchema(`
  input CursorPaging { first: Int last: Int }
  type Query { text: String node: Node nodes: [Node!]! things(paging: CursorPaging): Things! either: [Either!] }
  union Either = Node | Small
  type Small { text: String nodes: [Node!] }
  type Things { edges: [Edge!]! totalCount: Int }
  type Edge { node: Node! }
  type Node { text: String node: Node nodes: [Node!] "Always null: Tollgate has no such thing." never: [Node!] things(paging: CursorPaging): Things! }
`)

describe('the cost of a document', () => {
  const costOf = (text: string, variables = {}) => prepareCost(schema, parse(text))(variables)

  const costs: [text: string, cost: number, variables?: object][] = [
    ['{ text }', 1],
    ['{ text node { text } }', 3],
    ['{ nodes { text } }', 1 + 5],
    ['{ nodes { nodes { text } } }', 1 + 5 * (1 + 5)],
    ['{ things { edges { node { text } } totalCount } }', 1 + 10 * 4],
    ['{ things(paging: { first: 50 }) { edges { node { text } } } }', 1 + 50 * 3],
    ['{ things(paging: { last: 2 }) { edges { node { text } } } }', 1 + 2 * 3],
    ['query($n: Int) { things(paging: { first: $n }) { edges { node { text } } } }', 1 + 20 * 3, { n: 20 }],
    ['query($p: CursorPaging) { things(paging: $p) { edges { node { text } } } }', 1 + 30 * 3, { p: { first: 30 } }],
    ['query($p: CursorPaging) { things(paging: $p) { edges { node { text } } } }', 1 + 100 * 3, { p: { first: 1e9 } }],
    ['{ things { ...T } } fragment T on Things { edges { ...E } } fragment E on Edge { node { text } }', 1 + 10 * 3],
    ['{ things { edges { node { nodes { text } } } } }', 1 + 10 * (1 + 1 + 1 + 5)],
    ['{ __schema { types { name } } }', 1],
    ['query A { text } query B { nodes { text } }', 6],
    ['{ nodes { never { nodes { text } } text } }', 1 + 5 * 2],
    // An item is of one type only, and the dearest of them counts.
    ['{ either { __typename ... on Node { text } ... on Small { text nodes { text } } } }', 1 + 5 * (1 + 1 + 1 + 5)],
    ['{ either { ...E } } fragment E on Either { ...N ... on Small { text } } fragment N on Node { node { text } }', 1 + 5 * 2],
  ]
  for (const [text, cost, variables] of costs) {
    it(`${text} ${variables ? JSON.stringify(variables) : ''} is ${cost}`, () => expect(costOf(text, variables)).to.equal(cost))
  }

  it('counts lists by their known length, and pages by what is asked for', () => {
    const known = (typeName: string, fieldName: string) => (`${typeName}.${fieldName}` === 'Node.nodes' ? 1.5 : undefined)
    const cost = (text: string) => prepareCost(schema, parse(text))({}, known)
    expect(cost('{ nodes { nodes { text } } }')).to.equal(1 + 5 * 2.5 + 0.5)
    expect(cost('{ node { nodes { nodes { text } } } }')).to.equal(Math.ceil(1 + 1 + 1.5 * 2.5))
    expect(cost('{ things(paging: { first: 3 }) { edges { node { text } } } }')).to.equal(1 + 3 * 3)
  })

  it('grows with each list inside a list, beyond what is answered', () => {
    const nested = (levels: number): string =>
      levels === 0 ? 'text' : `things(paging: {first: 100}) { edges { node { ${nested(levels - 1)} } } }`
    expect(costOf(`{ ${nested(2)} }`)).to.be.below(maxCost)
    expect(costOf(`{ ${nested(3)} }`)).to.be.above(maxCost)
  })

  it('is found in time however often fragments spread each other', () => {
    const fragments = Array.from({ length: 90 }, (_, n) => `fragment F${n} on Node { node { ...F${n + 1} } other: node { ...F${n + 1} } }`)
    const text = `{ node { ...F0 } } ${fragments.join(' ')} fragment F90 on Node { text }`
    const startedAt = performance.now()
    expect(costOf(text)).to.be.above(maxCost)
    expect(performance.now() - startedAt).to.be.below(100)
  })
})

describe('the counts of a document', () => {
  const refusal = (text: string) => checkCounts(parse(text))?.message ?? null
  const many = (count: number, item: (n: number) => string) => Array.from({ length: count }, (_, n) => item(n)).join(' ')

  it('are refused one above the limit', () => {
    const aliases = (count: number) => refusal(`{ ${many(count, (n) => `a${n}: text`)} }`)
    expect([aliases(maxAliases), aliases(maxAliases + 1)]).to.deep.equal([null, 'The document has 101 aliases: at most 100 are taken'])
    const repeats = (count: number) => refusal(`{ ${'text '.repeat(count)} }`)
    expect([repeats(maxRepeats), repeats(maxRepeats + 1)].map(Boolean)).to.deep.equal([false, true])
    const fragments = (count: number) => refusal(`{ text } ${many(count, (n) => `fragment F${n} on Query { text }`)}`)
    expect([fragments(maxFragments), fragments(maxFragments + 1)].map(Boolean)).to.deep.equal([false, true])
  })
})
