import { expect } from 'chai'
import fc from 'fast-check'
import { createSchema } from '../../src/web/graphql/schema.js'
import { type FrontDoor, type GraphqlBody, openFrontDoor } from '../integration/web/front-door.js'
import { holds, timeoutOf } from './fuzz.js'
import { type Operation, operations } from './operations.js'
import { json, nearly, nearlyText, written } from './values.js'
import { expectNothingInternal, expectQuiet, soon, watchedLog } from './watch.js'

const schema = createSchema()
const { log, lines } = watchedLog()
/** What their services do needs a worker, which does not run here. */
const ofWorkers = /^(?:usage(?:History|Recomputation)|(?:replace|remove)Usage|recomputeUsage)/
const queries = operations(schema, 'query', (field) => !ofWorkers.test(field))
const mutations = operations(schema, 'mutation', (field) => !ofWorkers.test(field))
const bodyOf = ({ query, variables }: Operation) => `{"query": ${JSON.stringify(query)}, "variables": ${variables}}`

describe('GraphQL that nobody should send', () => {
  let door: FrontDoor

  before(async function () {
    this.timeout(30_000)
    door = await openFrontDoor({ log, limits: { perKey: 1_000_000, perCustomer: 1_000_000, perAddress: 1_000_000 } })
    for (const id of ['acme', 'bystander'])
      await door.ask(`mutation { provisionCustomer(input: {customerId: "${id}", name: "Named"}) { customer { id } } }`)
  })
  afterEach(async () => {
    const { data, errors } = await door.ask('{ getCustomerByRefId(input: {customerId: "bystander"}) { name } }')
    expect(data, JSON.stringify(errors)).to.deep.equal({ getCustomerByRefId: { name: 'Named' } })
  })
  after(async () => expect(await door.close()).to.deep.equal([]))

  async function send(body: string, headers: Record<string, string> = {}): Promise<void> {
    // Lines of what has failed before are not of this one, which may be a smaller try of the same.
    lines.length = 0
    const asked = fetch(`${door.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': door.serverKey, 'x-operator-key': door.operatorKey, ...headers },
      body: Buffer.from(body),
    })
    const response = await soon(body, asked)
    const answer = await soon(body, response.text())
    expect(response.status, `${body}\n${answer}`).to.be.below(500)
    const parsed = JSON.parse(answer) as GraphqlBody | GraphqlBody[]
    for (const { errors = [] } of Array.isArray(parsed) ? parsed : [parsed])
      for (const { message, extensions } of errors) {
        expectNothingInternal(message.replaceAll(/"(?:[^"\\]|\\.)*"/g, ''), body)
        expect(extensions?.code, `${body}\n${answer}`).to.be.a('string').and.not.equal('InternalServerError')
      }
    expectQuiet(lines, body)
  }

  it('as a query is answered or refused', async () => {
    await holds(30, queries, (query) => send(bodyOf(query)))
  }).timeout(timeoutOf(60))

  it('as a mutation is done or refused', async () => {
    await holds(30, mutations, (mutation) => send(bodyOf(mutation)))
  }).timeout(timeoutOf(60))

  it('with a document that is nearly one is refused', async () => {
    const texts = nearlyText(fc.oneof(queries, mutations).map(({ query }) => query))
    await holds(50, fc.tuple(texts, json), ([query, variables]) => send(written({ query, variables })))
  }).timeout(timeoutOf(100))

  it('with a body that is nearly one is refused, whatever it says that it is', async () => {
    const samples = [
      { query: '{ products { totalCount } }' },
      { query: 'query A { __typename } query B($x: Int) { __typename }', operationName: 'A', variables: { x: 1 }, extensions: { a: [1] } },
      [{ query: '{ __typename }' }, { query: '{ coupons { totalCount } }', variables: {} }],
    ]
    const bodies = fc.oneof(nearly(samples).map(written), json.map(written), nearlyText(nearly(samples).map(written)))
    const headers = fc.record({
      'content-type': fc.constantFrom(
        'application/json',
        'application/json; charset=utf-8',
        'application/json; charset=utf-16',
        'application/graphql-response+json',
        'text/plain',
        'multipart/form-data; boundary=x',
        '',
      ),
      accept: fc.constantFrom('*/*', 'application/json', 'application/graphql-response+json', 'text/event-stream', 'q=;'),
    })
    await holds(30, fc.tuple(bodies, headers), ([body, sent]) => send(body, sent))
  }).timeout(timeoutOf(60))
})
