import { expect } from 'chai'
import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
} from 'graphql'
import { createSchema } from '../../../../../src/web/graphql/schema.js'
import { thirdOf } from '../../../../support/effort.js'
import { type FrontDoor, type GraphqlBody, openFrontDoor, post } from '../../front-door.js'

const schema = createSchema()

/** JSON in which numbers stand that JavaScript has no other way to write. */
const written = (json: string) => ({ json })

const texts = ['', 'constructor', '\u0001', '😀'.repeat(255), `%_\\'"`]

const odd: Readonly<Record<string, readonly unknown[]>> = {
  String: [...texts, 1, {}],
  ConnectionCursor: [...texts, 'eyJhIjoxfQ', 'bnVsbA', 'W10', 'WyIyMDI2Il0', 1],
  Boolean: [true, false, 'true', 1],
  Int: [0, -1, 1, 2_147_483_647, -2_147_483_648, 2_147_483_648, 1.5, written('1e400'), '1'],
  Float: [0, written('-0'), -1, 0.1, 1e15, 1e308, -1e308, 5e-324, written('9007199254740993'), written('1e400'), '1'],
  DateTime: [
    '1970-01-01T00:00:00.000Z',
    '9999-12-31T23:59:59.999Z',
    '0000-01-01T00:00:00Z',
    '0001-01-01T00:00:00Z',
    '+010000-01-01T00:00:00Z',
    '2026-02-30T00:00:00Z',
    0,
    253_402_300_799_999,
    -62_167_219_200_000,
    written('1e400'),
  ],
  JSON: [
    null,
    'text',
    1e308,
    written('1e400'),
    written('-0'),
    [],
    {},
    { constructor: 1 },
    { constructor: { eq: 'a' }, toString: {}, hasOwnProperty: { eq: 1 } },
    { and: [{ constructor: { eq: 'a' } }] },
    { refId: { constructor: 'a' } },
    { refId: { in: [{}] }, id: { eq: {} } },
    { createdAt: { gt: '0000-01-01T00:00:00Z' }, updatedAt: { eq: 1e15 } },
    written('{"__proto__": {"eq": "a"}, "a": {"__proto__": 1}}'),
    { a: '\0' },
    { '\ud800': 1 },
    JSON.parse('['.repeat(31) + ']'.repeat(31)),
    JSON.parse(`${'{"a":'.repeat(40)}1${'}'.repeat(40)}`),
  ],
}

const present = (type: GraphQLInputType): GraphQLInputType => (isNonNullType(type) ? type.ofType : type)
const isListed = (type: GraphQLInputType): boolean => isListType(present(type))

/** What is sent beside an odd value, where something must be. */
const usual: Readonly<Record<string, unknown>> = {
  customerId: 'acme',
  featureId: 'seats',
  planId: 'team',
  addonId: 'extra',
  String: 'acme',
  Boolean: true,
  Int: 1,
  Float: 1,
  DateTime: '2026-11-01T00:00:00.000Z',
  JSON: {},
}

function usualOf(name: string, type: GraphQLInputType): unknown {
  const named = getNamedType(type)
  const value = isEnumType(named)
    ? named.getValues()[0]!.name
    : isInputObjectType(named)
      ? requiredOf(named)
      : (usual[name] ?? usual[named.name])
  return isListed(type) ? [value] : value
}

const requiredOf = (type: GraphQLInputObjectType): Record<string, unknown> =>
  Object.fromEntries(
    Object.values(type.getFields()).flatMap(({ name, type }) => (isNonNullType(type) ? [[name, usualOf(name, type)]] : [])),
  )

interface Question {
  query: string
  /** As JSON. */
  variables: string
}

/** More would wait for each other's connections to the database. */
const maxAtOnce = 10

/** What their services do stands in the tests of metering. */
const ofMetering = /^(?:usage(?:History|Recomputation)|(?:replace|remove)Usage|recomputeUsage)/

/** Stands for the odd value. */
const mark = '@odd@'

const toJson = (value: unknown, odd: unknown): string => {
  const isWritten = typeof odd === 'object' && odd !== null && 'json' in odd
  return JSON.stringify(value).replace(`"${mark}"`, () => (isWritten ? (odd as { json: string }).json : JSON.stringify(odd)))
}

/** Every field of every input, once, in a place where it can be sent, with a third of the odd values of its type; each value in a third of the fields. */
function questions(): Question[] {
  const asked: Question[] = []
  const seen = new Set<string>()
  const ask = (root: string, field: GraphQLField<unknown, unknown>, argument: GraphQLArgument) => {
    const others = field.args.filter(({ name, type }) => name !== argument.name && isNonNullType(type))
    const literals = others
      .map(({ name, type }) => `, ${name}: ${JSON.stringify(usualOf(name, type)).replace(/"(\w+)":/g, '$1:')}`)
      .join('')
    const isLeaf = ['String', 'Boolean', 'JSON', 'Int'].includes(getNamedType(field.type).name)
    const query = `${root} Q($v: ${argument.type}) { ${field.name}(${argument.name}: $v${literals})${isLeaf ? '' : ' { __typename }'} }`
    const walk = (place: string, type: GraphQLInputType, send: (value: unknown) => unknown) => {
      if (seen.has(place)) return
      seen.add(place)
      const named = getNamedType(type)
      const inList = isListed(type) ? (value: unknown) => send([value]) : send
      for (const value of isInputObjectType(named)
        ? ['text', []]
        : isEnumType(named)
          ? ['constructor', named.getValues().at(-1)!.name]
          : thirdOf(odd[named.name]!, seen.size))
        asked.push({ query, variables: `{"v": ${toJson(inList(mark), value)}}` })
      if (isListed(type)) asked.push({ query, variables: toJson({ v: send([]) }, null) })
      if (!isInputObjectType(named)) return
      const rest = requiredOf(named)
      for (const inner of Object.values(named.getFields()))
        walk(`${named.name}.${inner.name}`, inner.type, (value) => inList({ ...rest, [inner.name]: value }))
    }
    walk(`${root}.${field.name}.${argument.name}`, argument.type, (value) => value)
  }
  for (const [root, type] of [
    ['query', schema.getQueryType()!],
    ['mutation', schema.getMutationType()!],
  ] as const)
    for (const field of Object.values(type.getFields()))
      if (!ofMetering.test(field.name)) for (const argument of field.args) ask(root, field, argument)
  return asked
}

describe('odd values', () => {
  let door: FrontDoor
  const errors: unknown[] = []

  before(async function () {
    this.timeout(20_000)
    door = await openFrontDoor({ limits: { perKey: 100_000, perCustomer: 100_000 } })
    const { log } = door.life
    log.error = ((...line: unknown[]) => void errors.push(line)) as typeof log.error
    await door.ask('mutation { provisionCustomer(input: {customerId: "acme"}) { customer { id } } }')
  })
  after(async () => void (await door.close()))

  it('in whichever field are never a fault of ours', async function () {
    this.timeout(180_000)
    const asked = questions()
    expect(asked.length).to.be.above(700)
    const faults: string[] = []
    for (let at = 0; at < asked.length; at += maxAtOnce) {
      const some = asked.slice(at, at + maxAtOnce)
      const body = `[${some.map(({ query, variables }) => `{"query": ${JSON.stringify(query)}, "variables": ${variables}}`).join(',')}]`
      const headers = { 'x-api-key': door.serverKey, 'x-operator-key': door.operatorKey }
      const answers = (await (await post(door.url, body, headers)).json()) as GraphqlBody[]
      for (const [index, answer] of answers.entries())
        if (answer.errors?.some(({ extensions, message }) => extensions.code === 'InternalServerError' || message.length > 501))
          faults.push(
            `${some[index]!.query.slice(0, 80)} ${some[index]!.variables.slice(0, 300)}: ${answer.errors[0]!.message.slice(0, 100)}`,
          )
    }
    expect(faults.length, faults.slice(0, 40).join('\n')).to.equal(0)
    expect(errors.length, JSON.stringify(errors.slice(0, 3))).to.equal(0)
  })
})
