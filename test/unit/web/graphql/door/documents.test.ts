import { expect } from 'chai'
import { buildSchema, getIntrospectionQuery } from 'graphql'
import { Documents, operationOf, type PreparedDocument } from '../../../../../src/web/graphql/door/documents.js'
import { maxCharacters, maxDepth, maxLines, maxNameLength, maxNesting, maxTokens } from '../../../../../src/web/graphql/door/limits.js'

const schema = buildSchema('type Query { node: Node text: String } type Node { node: Node text: String }')

describe('documents', () => {
  const prepare = (text: string) => new Documents(schema).prepare(text)
  const isPrepared = (text: string) => 'document' in prepare(text)
  const nested = (levels: number) => `${'{ node '.repeat(levels)}{ text }${' }'.repeat(levels)}`

  it('are kept when they come for the second time', () => {
    const documents = new Documents(schema)
    const first = documents.prepare('{ text }')
    expect(documents.bytes).to.equal(0)
    const second = documents.prepare('{ text }')
    expect(second).to.not.equal(first)
    expect(documents.bytes).to.be.above(0)
    expect(documents.prepare('{ text }')).to.equal(second)
  })

  it('that come once take no memory', () => {
    const documents = new Documents(schema)
    for (let n = 0; n < 100; n++) documents.prepare(`query Q${n} { text }`)
    expect(documents.bytes).to.equal(0)
  })

  it('have the operation that is asked for, and none that is called nothing', () => {
    const operation = (name: string | null | undefined) => operationOf(prepare('query A { text }') as PreparedDocument, name)?.name?.value
    expect([operation(undefined), operation(null), operation('A'), operation('B'), operation('')]).to.deep.equal([
      'A',
      'A',
      'A',
      undefined,
      undefined,
    ])
  })

  it('that were refused are not kept', () => {
    const documents = new Documents(schema)
    const prepared = Array.from({ length: 3 }, () => documents.prepare('{ nope }'))
    expect(new Set(prepared)).to.have.property('size', 3)
  })

  it('have a bounded number of tokens', () => {
    // Eight tokens each.
    const ofOperations = (count: number) => Array.from({ length: count }, (_, n) => `query A${n} { node { text } }`).join(' ')
    const most = Math.floor(maxTokens / 8)
    expect(isPrepared(ofOperations(most - 1))).to.equal(true)
    expect(isPrepared(ofOperations(most + 1))).to.equal(false)
  })

  it('have a bounded length, in characters, lines and names, which errors would quote', () => {
    const message = (text: string) => (prepare(text) as readonly { message: string }[])[0]?.message
    expect(message(`{ text } # ${'x'.repeat(maxCharacters)}`)).to.include('characters, at most 262144')
    expect(isPrepared(`{ text } # ${'x'.repeat(maxCharacters - 20)}`)).to.equal(true)
    for (const end of ['\n', '\r', '\r\n']) {
      expect(isPrepared(`{ text }${end.repeat(maxLines - 1)}`)).to.equal(true)
      expect(message(`{ text }${end.repeat(maxLines)}`)).to.include('lines')
    }
    const name = 'x'.repeat(maxNameLength)
    expect(isPrepared(`query ${name} { ${name}: text }`)).to.equal(true)
    for (const text of [
      `query ${name}x { text }`,
      `{ ${name}x: text }`,
      `{ a(b: $${name}x) }`,
      `{ text @${name}x }`,
      `{ a(b: { ${name}x: 1 }) }`,
    ])
      expect(message(text), text.slice(0, 10)).to.include('a name of 256 characters')
  })

  it('cost little to refuse when one field is repeated as often as tokens allow', () => {
    expect(isPrepared(`{ ${'text '.repeat(maxTokens - 2)} }`)).to.equal(false)
  })

  it('have a bounded depth', () => {
    expect(isPrepared(nested(maxDepth - 1))).to.equal(true)
    expect(isPrepared(nested(maxDepth))).to.equal(false)
  })

  it('nest as deep as somebody needs, and are refused before they are read where it is more, however they nest', () => {
    const wide = buildSchema('scalar JSON type Query { node: Node text(a: JSON): String } type Node { node: Node text: String }')
    const refusalOf = (text: string) => {
      const prepared = new Documents(wide).prepare(text)
      return 'document' in prepared ? '' : prepared.map(({ message }) => message).join()
    }
    const tooDeep = `The document nests deeper than ${maxNesting} brackets`
    const around = (open: string, inner: string, close: string, levels: number) => open.repeat(levels) + inner + close.repeat(levels)
    const nesting: [string, (levels: number) => string][] = [
      ['lists', (levels) => `{ text(a: ${around('[', '1', ']', levels - 2)}) }`],
      ['objects', (levels) => `{ text(a: ${around('{ a: ', '1', ' }', levels - 2)}) }`],
      ['both', (levels) => `{ text(a: ${around('[{ a: ', '1', ' }]', levels / 2 - 1)}) }`],
      ['inline fragments', (levels) => around('{ ... ', '{ text }', ' }', levels - 1)],
      ['defaults of variables', (levels) => `query ($a: JSON = ${around('[', '', ']', levels - 1)}) { text(a: $a) }`],
    ]
    for (const [name, of] of nesting) {
      // Where it is a value, that has a bound of its own.
      expect(refusalOf(of(maxNesting)), name).to.not.include('brackets')
      for (const levels of [maxNesting + 2, 1_000, 2_400, 20_000]) expect(refusalOf(of(levels)), `${levels} ${name}`).to.equal(tooDeep)
    }
    expect(refusalOf(nesting[3]![1](maxNesting))).to.equal('')
    for (const part of ['{', '[', '(', 'query ($a: [', '{ node']) expect(refusalOf(part.repeat(3_000)), part).to.equal(tooDeep)
    expect(refusalOf(`{ text }${')'.repeat(200)}${'{'.repeat(250)}`)).to.include('Syntax Error')
    // In a text they are no brackets.
    expect(refusalOf(`{ text(a: ${JSON.stringify('['.repeat(5_000))}) } # ${'{'.repeat(5_000)}`)).to.equal('')
  })

  it('have a bounded depth with fragments spread out', () => {
    const tower = (height: number) => {
      const fragments = Array.from({ length: height }, (_, n) => `fragment F${n} on Node { node { ${n === 0 ? 'text' : `...F${n - 1}`} } }`)
      return `{ node { ...F${height - 1} } } ${fragments.join(' ')}`
    }
    expect(isPrepared(tower(maxDepth - 2))).to.equal(true)
    expect(isPrepared(tower(maxDepth))).to.equal(false)
  })

  it('may look at the whole schema', () => {
    expect(isPrepared(getIntrospectionQuery())).to.equal(true)
  })

  const introspection = {
    '{ text }': 'none',
    '{ __typename }': 'none',
    '{ node { text } }': 'none',
    '{ __schema { description } }': 'only',
    '{ alias: __type(name: "Query") { name } __typename }': 'only',
    '{ __schema { description } text }': 'some',
    '{ ... { ... on Query { __schema { description } } } }': 'only',
    '{ ...F text } fragment F on Query { __schema { description } }': 'some',
    '{ ...F } fragment F on Query { ...G } fragment G on Query { __schema { description } }': 'only',
    'query A { text } query B { __schema { description } }': 'some',
  }
  for (const [text, expected] of Object.entries(introspection)) {
    it(`look into the schema (${expected}): ${text}`, () => {
      const prepared = prepare(text)
      expect('document' in prepared && prepared.introspection).to.equal(expected)
    })
  }
})
