import { expect } from 'chai'
import {
  type GraphQLArgument,
  type GraphQLInputType,
  type GraphQLObjectType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  Kind,
  type OperationDefinitionNode,
  parse,
} from 'graphql'
import { Problem } from '../../../../../src/kernel/problem.js'
import { type DocumentBounds, documentBounds } from '../../../../../src/web/graphql/operations/document-bounds.js'
import { type Bound, boundOf } from '../../../../../src/web/graphql/schema/bounds.js'
import { itemLists } from '../../../../../src/web/graphql/schema/item-lists.js'
import { createSchema } from '../../../../../src/web/graphql/schema.js'

const schema = createSchema()

const prepared = new Map<string, { operations: OperationDefinitionNode[]; bounds: DocumentBounds }>()

function prepare(text: string) {
  const known = prepared.get(text)
  if (known) return known
  const document = parse(text)
  const operations = document.definitions.filter((node) => node.kind === Kind.OPERATION_DEFINITION)
  const made = { operations, bounds: documentBounds(schema, document) }
  prepared.set(text, made)
  return made
}

/** The problem that a document has with its variables or literals, or null. */
function problemOf(text: string, variables: Record<string, unknown> = {}, operationName?: string): Problem | null {
  const { operations, bounds } = prepare(text)
  const { breach } = bounds
  if (breach)
    return new Problem('INVALID_ARGUMENT', 'BAD_USER_INPUT', `"${breach.path}" ${breach.fault}.`, { details: { path: breach.path } })
  try {
    bounds.check(
      operations.find(({ name }) => !operationName || name?.value === operationName),
      variables,
    )
    return null
  } catch (error) {
    return Problem.from(error)
  }
}

const pathOf = (...asked: Parameters<typeof problemOf>) => problemOf(...asked)?.details.path ?? null

/** A place of the schema where something may be sent, reached from an argument of a root field by the shortest way. */
interface Place {
  name: string
  type: GraphQLInputType
  bound: Bound
  path: string
  /** A field of an item of `itemLists`. */
  isOfItem: boolean
  /** The variable of the document whose value has this in the place. */
  variables(value: unknown): Record<string, unknown>
  document: string
}

function placesOf(): Place[] {
  const places: Place[] = []
  for (const root of [schema.getQueryType()!, schema.getMutationType()!, schema.getSubscriptionType()!])
    for (const field of Object.values(root.getFields())) for (const argument of field.args) collect(root, field.name, argument, places)
  return places
}

function collect(root: GraphQLObjectType, field: string, argument: GraphQLArgument, places: Place[]): void {
  const document = `${root.name.toLowerCase()} Q($v: ${argument.type}) { ${field}(${argument.name}: $v) { __typename } }`
  const seen = new Set<string>()
  const add = (place: Omit<Place, 'document' | 'bound'> & { full: string }) => {
    places.push({ ...place, document, bound: boundOf(place.full, place.name, place.type) })
    const type = getNamedType(place.type)
    if (!isInputObjectType(type) || seen.has(type.name)) return
    seen.add(type.name)
    for (const inner of Object.values(type.getFields())) {
      const isList = listed(place.type)
      add({
        full: `${type.name}.${inner.name}`,
        name: inner.name,
        type: inner.type,
        path: `${place.path}${isList ? '[0]' : ''}.${inner.name}`,
        isOfItem: place.isOfItem || itemLists.includes(place.name as never),
        variables: (value) => place.variables(isList ? [{ [inner.name]: value }] : { [inner.name]: value }),
      })
    }
  }
  add({
    full: `${root.name}.${field}.${argument.name}`,
    name: argument.name,
    type: argument.type,
    path: argument.name,
    isOfItem: false,
    variables: (v) => ({ v }),
  })
}

const present = (type: GraphQLInputType): GraphQLInputType => (isNonNullType(type) ? type.ofType : type)
const listed = (type: GraphQLInputType): boolean => isListType(present(type))
/** A value of the item's type in a list when it has to be one. */
const inList = (type: GraphQLInputType, value: unknown) => (listed(type) ? [value] : value)

const nested = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels))
/** JSON of just so many bytes. */
const jsonOf = (bytes: number) => ({ a: 'x'.repeat(bytes - 8) })

describe('the bounds of inputs', () => {
  const places = placesOf()
  const texts = places.filter(({ bound }) => bound.is === 'text' || bound.is === 'identifier')
  const lists = places.filter(({ type }) => listed(type))
  const json = places.filter(({ bound }) => bound.is === 'json')
  const lengthOf = ({ bound }: Place) => (bound.is === 'text' ? bound.characters : 255)

  it('are of every text, list and JSON of the schema', () => {
    expect([texts.length, lists.length, json.length].map((count) => count > 10)).to.deep.equal([true, true, true])
    for (const { name, type, bound, path } of places) {
      const named = getNamedType(type)
      const expected =
        isInputObjectType(named) || isEnumType(named) ? 'typed' : { String: 'text', JSON: 'json', ConnectionCursor: 'text' }[named.name]
      expect(bound.is === 'identifier' ? 'text' : bound.is, `${path} ${name}`).to.equal(expected ?? 'typed')
    }
    for (const { name, bound } of texts) if (/Ids?$|^id$/.test(name)) expect(bound.is, name).to.equal('identifier')
  })

  it('hold of a text in every place, and a longer one is named', () => {
    for (const place of texts.filter(({ isOfItem }) => !isOfItem)) {
      const { document, path, type } = place
      const at = listed(type) ? `${path}[0]` : path
      const refusal = (value: string) => problemOf(document, place.variables(inList(type, value)))
      expect(refusal('x'.repeat(lengthOf(place))), at).to.equal(null)
      const problem = refusal('x'.repeat(lengthOf(place) + 1))!
      expect([problem.code, problem.details.path], at).to.deep.equal(['INVALID_ARGUMENT', at])
      expect(problem.message).to.equal(`"${at}" has ${lengthOf(place) + 1} characters: at most ${lengthOf(place)} are taken.`)
      for (const value of ['a\0b', '\ud800', 'a\udfffb']) expect(refusal(value)?.details.path, at).to.equal(at)
      for (const value of ['ä😀', '', null, undefined]) expect(refusal(value as string)?.message ?? '', at).to.match(/^$|must not be empty/)
    }
  })

  it('count the characters of identifiers, and take none for control', () => {
    const named = (customerId: string) =>
      pathOf('query ($q: FetchEntitlementsQuery!) { cachedEntitlements(query: $q) { __typename } }', { q: { customerId } })
    expect(named('😀'.repeat(255))).to.equal(null)
    for (const value of ['😀'.repeat(256), 'a\nb', '\u007f', '', '  '])
      expect(named(value), JSON.stringify(value)).to.equal('query.customerId')
  })

  it('hold of every list', () => {
    for (const { document, path, variables } of lists) {
      const refusal = (length: number) => problemOf(document, variables(Array(length).fill(null)))
      expect(refusal(1_000), path).to.equal(null)
      expect(refusal(1_001)!.message, path).to.match(new RegExp(`^"${path.replace(/[[\]]/g, '\\$&')}" has 1001 items`))
    }
  })

  it('hold of how many objects graphql-js is to make something of, wherever they are', () => {
    const query = 'query ($filter: CustomerFilter) { customers(filter: $filter) { edges { node { id } } } }'
    const comparisons = (count: number) => Array.from({ length: count }, (_, n) => ({ customerId: { eq: `c${n}` } }))
    expect(problemOf(query, { filter: { or: comparisons(200) } })).to.equal(null)
    expect(problemOf(query, { filter: { or: comparisons(300) } })?.message).to.include('600 objects of a query')
    const nested = { and: Array.from({ length: 100 }, () => ({ or: comparisons(5) })) }
    expect(problemOf(query, { filter: nested })?.message).to.include('600 objects of a query')
  })

  it('hold of every JSON, in bytes, depth and what stands in it', () => {
    for (const { document, path, variables, bound, isOfItem } of json) {
      if (bound.is !== 'json') throw new Error(path)
      const refused = (value: unknown) => pathOf(document, variables(value))
      expect(refused(jsonOf(bound.bytes - 8)), path).to.equal(null)
      expect(refused(nested(32)), path).to.equal(null)
      expect(refused(nested(34)), path).to.match(new RegExp(`^${path.replace(/[[\]]/g, '\\$&')}`))
      if (isOfItem) continue
      for (const value of [
        jsonOf(bound.bytes + 8),
        { '\0': 1 },
        { a: ['\ud800'] },
        { a: Infinity },
        [Array(1_001).fill(0)],
        JSON.parse('{"a":{"__proto__":1}}'),
      ])
        expect(refused(value), path).to.equal(path)
    }
  })

  it('bound what is of no type too, as errors quote it', () => {
    for (const { document, path, variables, type } of places.filter(({ isOfItem }) => !isOfItem)) {
      const named = getNamedType(type)
      if (named.name === 'JSON') continue
      const at = listed(type) ? `${path}[0]` : path
      const stray = isInputObjectType(named) ? 'x'.repeat(5_000) : { a: 'x'.repeat(5_000) }
      expect(pathOf(document, variables(inList(type, stray))), at).to.equal(at)
      if (isInputObjectType(named)) expect(pathOf(document, variables(inList(type, { colour: 'x'.repeat(5_000) }))), at).to.equal(at)
      else if (!['String', 'ConnectionCursor'].includes(named.name))
        for (const value of ['x'.repeat(256), Infinity, '\0']) expect(pathOf(document, variables(inList(type, value))), at).to.equal(at)
    }
  })

  it('leave the texts of items to the check of each, but not how much there is', () => {
    for (const [field, argument, list] of [
      ['reportUsageBulk', 'input', 'usages'],
      ['reportEvent', 'events', 'usageEvents'],
    ]) {
      const input = argument === 'events' ? 'UsageEventsReportInput' : 'ReportUsageBulkInput'
      const document = `mutation ($v: ${input}!) { ${field}(${argument}: $v) }`
      const problem = (item: unknown) => problemOf(document, { v: { [list!]: [{}, item] } })
      expect(problem({ customerId: 'x'.repeat(1_000), dimensions: { a: '\0' } })).to.equal(null)
      expect(problem({ colour: 'x'.repeat(5_000) })!.details.items).to.deep.equal([
        { index: 1, code: 'BAD_USER_INPUT', message: problem({ colour: 'x'.repeat(5_000) })!.message },
      ])
      const many = Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`d${n}`, 0]))
      expect(problemOf(document, { v: { [list!]: Array(1_000).fill({ dimensions: many }) } })!.message).to.include('a request may hold')
    }
  })

  it('hold of all values and characters of a request, in each place where they are used', () => {
    const query = (uses: number, declared = '') =>
      `query ($i: GetActiveSubscriptionsInput!${declared}) { ${Array.from({ length: uses }, (_, n) => `a${n}: getActiveSubscriptions(input: $i) { id }`).join(' ')} }`
    const asked = (count: number, id: string) => ({ i: { customerId: 'a', resourceIds: Array(count).fill(id) } })
    expect(problemOf(query(90), asked(1_000, 'b'))).to.equal(null)
    expect(problemOf(query(100), asked(1_000, 'b'))?.message)
      .to.include('"input.resourceIds')
      .and.include('at most 100000 values')
    expect(problemOf(query(30), asked(1_000, 'b'.repeat(255)))).to.equal(null)
    expect(problemOf(query(40), asked(1_000, 'b'.repeat(255)))?.message).to.include('10000000 characters')
    const byDefault = (uses: number) => query(uses, ` = {customerId: "a", resourceIds: [${'"b", '.repeat(1_000)}]}`)
    expect(problemOf(byDefault(90))).to.equal(null)
    expect(problemOf(byDefault(100))?.message).to.include('at most 100000 values')
    expect(problemOf(byDefault(100), asked(1, 'b')), 'what is sent takes the place of a default').to.equal(null)
    const catalog = `mutation ($c: JSON!) { ${Array.from({ length: 100 }, (_, n) => `a${n}: applyCatalog(input: $c) { version }`).join(' ')} }`
    const words = (count: number) => ({ c: Array.from({ length: count }, () => Array(900).fill('a')) })
    expect(problemOf(catalog, words(1))).to.equal(null)
    expect(problemOf(catalog, words(2))?.message).to.include('at most 100000 values')
  })

  it('are looked at once for each variable and kind of place, however often it is used there', () => {
    let looks = 0
    const counted = {
      get customerId() {
        looks += 1
        return 'a'
      },
    }
    const uses = (name: string) =>
      Array.from({ length: 40 }, (_, n) => `${name}${n}: getActiveSubscriptions(input: $${name}) { id }`).join(' ')
    const text = `query ($a: GetActiveSubscriptionsInput!, $b: GetActiveSubscriptionsInput!) { ${uses('a')} ...F } fragment F on Query { ${uses('b')} }`
    expect(problemOf(text, { a: counted, b: counted })).to.equal(null)
    expect(looks).to.equal(2)
    expect(pathOf(text, { a: counted, b: { customerId: '' } })).to.equal('input.customerId')
  })

  describe('in a document', () => {
    const long = 'x'.repeat(300)
    const read = (literal: string, variables = {}, declared = '') =>
      pathOf(`query Q${declared} { getActiveSubscriptions(input: ${literal}) { id } }`, variables)

    it('hold of literals', () => {
      expect(read(`{customerId: "a"}`)).to.equal(null)
      expect(read(`{customerId: "${long}"}`)).to.equal('input.customerId')
      expect(read('{customerId: "\\u0000"}')).to.equal('input.customerId')
      expect(read(`{customerId: "a", resourceIds: ["b", "${long}"]}`)).to.equal('input.resourceIds[1]')
      expect(read(`{customerId: "a", resourceIds: "${long}"}`)).to.equal('input.resourceIds')
      expect(pathOf('mutation { reportUsage(input: {customerId: "a", featureId: "b", value: 1e400}) { id } }')).to.equal('input.value')
    })
    it('hold of variables inside of literals, and of their defaults', () => {
      const literal = '{customerId: $c, resourceIds: ["b", $r]}'
      const declared = '($c: String!, $r: String!)'
      expect(read(literal, { c: 'a', r: 'b' }, declared)).to.equal(null)
      expect(read(literal, { c: 'a', r: long }, declared)).to.equal('input.resourceIds[1]')
      expect(read('{customerId: $c}', {}, `($c: String! = "${long}")`)).to.equal('input.customerId')
      expect(read('{customerId: $c}', { c: 'a' }, `($c: String! = "${long}")`)).to.equal(null)
      expect(read('{customerId: $__proto__}', JSON.parse(`{"__proto__": "${long}"}`), '($__proto__: String!)')).to.equal('input.customerId')
    })
    it('hold of what variables make of JSON together', () => {
      const update = (json: string, j: unknown) =>
        pathOf(`mutation ($j: JSON) { updateOneCustomer(input: {customerId: "a", additionalMetaData: ${json}}) { id } }`, { j })
      const half = jsonOf(40_000)
      expect(update('{a: $j}', half)).to.equal(null)
      expect(update('{a: $j, b: [$j]}', half)).to.equal('input.additionalMetaData')
      expect(update(nestedJson(33), null)).to.equal('input.additionalMetaData')
      const ofDefault = `mutation ($j: JSON = {a: "${'x'.repeat(40_000)}"}) { updateOneCustomer(input: {customerId: "a", additionalMetaData: {a: $j, b: $j}}) { id } }`
      expect(pathOf(ofDefault)).to.equal('input.additionalMetaData')
    })
    it('do not let one variable be many', () => {
      const customers = (count: number) =>
        pathOf(`mutation ($j: JSON) { importCustomersBulk(input: {customers: [${'{additionalMetaData: $j}'.repeat(count)}]}) }`, { j: {} })
      expect(customers(50)).to.equal(null)
      expect(customers(51)).to.equal('input.customers[50].additionalMetaData')
    })
    it('are those of the operation that is asked for, with its fragments', () => {
      const text = `
        query A($v: String!) { getActiveSubscriptions(input: {customerId: $v}) { id } }
        query B($v: CouponFilter) { ...F }
        fragment F on Query { coupons(filter: $v) { totalCount } }`
      expect(pathOf(text, { v: long }, 'A')).to.equal('input.customerId')
      expect(pathOf(text, { v: { name: { eq: long } } }, 'A')).to.equal(null)
      expect(pathOf(text, { v: { name: { eq: 'x'.repeat(1_001) } } }, 'B')).to.equal('filter.name.eq')
    })
  })
})

const nestedJson = (levels: number) => `{a: ${'['.repeat(levels)}$j${']'.repeat(levels)}}`
