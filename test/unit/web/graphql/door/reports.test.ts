import { expect } from 'chai'
import fc from 'fast-check'
import { GraphQLError, Kind, parse } from 'graphql'
import * as decimal from '../../../../../src/kernel/decimal.js'
import { Problem } from '../../../../../src/kernel/problem.js'
import { withItems } from '../../../../../src/metering/model/problems.js'
import { checkEvent, checkReport, type ReportedUsage, type UsageEvent, type UsageReport } from '../../../../../src/metering/model/report.js'
import { RateLimits } from '../../../../../src/web/access/rate-limits.js'
import { directReportOf } from '../../../../../src/web/graphql/door/reports.js'
import type { Services } from '../../../../../src/web/graphql/operations/context.js'
import { createSchema } from '../../../../../src/web/graphql/schema.js'
import { openGraphqlDoor } from '../../../../support/graphql-door.js'
import { wholeText } from '../../../../support/whole-text.js'
import { reports } from './usage-reports.js'

const now = Date.parse('2026-05-02T00:00:00Z')

/** Counts nothing; refuses what can be refused by reading it, and fails as it is told. */
class UsageOfTests {
  failure: Error | null = null
  heard: unknown[] = []

  async report(environmentId: string, items: UsageReport[]): Promise<ReportedUsage[]> {
    this.heard.push([environmentId, items])
    if (this.failure) throw this.failure
    return items.map((item, index) => {
      const { customerId, resourceId, featureId, value } = checkReport(item, `m-${index}`, now)
      const [periodStart, periodEnd] = index % 2 ? [null, null] : [now, now + 1]
      return { id: `m-${index}`, customerId, resourceId, featureId, currentUsage: value, periodStart, periodEnd, timestamp: now }
    })
  }

  async reportEvents(environmentId: string, events: UsageEvent[]): Promise<void> {
    this.heard.push([environmentId, events])
    if (this.failure) throw this.failure
    for (const event of events) checkEvent(event, now)
  }
}

/** A door whose reports go round graphql-js, or one whose reports do not. */
function openDoor({ kind = 'SERVER', isDirect }: { kind?: 'SERVER' | 'CLIENT'; isDirect: boolean }) {
  const schema = createSchema()
  let direct = 0
  for (const name of Object.keys(reports)) {
    const field = schema.getMutationType()!.getFields()[name]!
    const report = field.extensions.report as (...args: unknown[]) => unknown
    const counted = (...args: unknown[]) => {
      direct += 1
      return report(...args)
    }
    field.extensions = isDirect ? { report: counted } : {}
  }
  const usage = new UsageOfTests()
  const identity = {
    kind,
    keyId: 'key',
    environmentId: 'e-1',
    environmentRefId: 'test',
    hasPersistentCache: false,
    allowsUnsignedClientReads: false,
  }
  const environments = { authenticate: async () => identity, verifyCustomerToken: async () => '' }
  const app = { usage, environments, clock: { now: () => 0 } } as unknown as Services
  const post = openGraphqlDoor({
    app,
    schema,
    rateLimits: new RateLimits({ perKey: 1e9, perCustomer: 1e9, perAddress: 1e9 }),
    announce: () => Promise.reject(new Error('reports are announced by workers')),
  })
  return {
    usage,
    directly: () => direct,
    async ask(query: string, variables: unknown, accept?: string) {
      const headers = { 'x-api-key': 'key', 'content-type': 'application/json', ...(accept && { accept }) }
      const answer = await post({ query, variables }, { headers })
      return {
        ...answer,
        headers: { ...answer.headers, 'x-trace-id': '' },
        body: wholeText(answer.body!).replaceAll(/"traceId":"[^"]+"/g, '"traceId":""'),
      }
    },
  }
}

const fields = [
  'id',
  'customerId',
  'resourceId',
  'featureId',
  'currentUsage',
  'timestamp',
  'nextResetDate',
  'usagePeriodStart',
  'usagePeriodEnd',
]
const name = fc.constantFrom('a', 'b', 'constructor', 'hasOwnProperty', 'toString', '__typename', '__proto__', 'data', 'errors', 'answer')
const alias = fc.oneof(
  { weight: 3, arbitrary: fc.constant('') },
  name.map((given) => `${given}: `),
)
const leaf = fc.tuple(alias, fc.constantFrom(...fields, '__typename')).map((parts) => parts.join(''))
const rare = fc.constantFrom(
  'credit { consumed }',
  'credit { consumed timestamp }',
  'id @include(if: true)',
  'currentUsage @skip(if: true)',
  '... { id }',
  '... on UsageMeasurementWithCurrentUsage { featureId again: customerId }',
  '...F',
  '...F @include(if: false)',
  'nothing',
)
const selection = fc.array(fc.oneof({ weight: 9, arbitrary: leaf }, rare), { minLength: 1, maxLength: 5 }).map((all) => all.join(' '))

describe('reports that go round graphql-js', () => {
  const direct = openDoor({ isDirect: true })
  const general = openDoor({ isDirect: false })
  const same = async (query: string, variables: unknown, accept?: string) => {
    for (const { usage } of [direct, general]) usage.heard = []
    const [actual, expected] = [await direct.ask(query, variables, accept), await general.ask(query, variables, accept)]
    expect(actual).to.deep.equal(expected)
    expect(direct.usage.heard).to.deep.equal(general.usage.heard)
    return actual
  }
  const failures: Record<string, () => Error | null> = {
    nothing: () => null,
    'refused input': () => new Problem('NOT_FOUND', 'CUSTOMER_NOT_FOUND', 'no such customer'),
    'refused items': () =>
      withItems(new Problem('INVALID_ARGUMENT', 'BAD_USER_INPUT', 'bad'), [{ index: 1, code: 'BAD_USER_INPUT', message: 'bad' }]),
    'a part that is away': () => new Problem('UNAVAILABLE', 'UNAVAILABLE', 'later'),
    'a broken service': () => new TypeError('secret'),
    'an error in the words of GraphQL': () => new GraphQLError('refused'),
  }
  afterEach(() => {
    for (const { usage } of [direct, general]) usage.failure = null
  })
  const documentOf = (field: keyof typeof reports, selections: string, over: { alias?: string; definition?: string } = {}) => {
    const { argument, type } = reports[field]
    const { alias = '', definition = `$value: ${type}!` } = over
    const selected = field === 'reportEvent' ? '' : `{ ${selections} }`
    const fragment = selected.includes('...F')
      ? 'fragment F on UsageMeasurementWithCurrentUsage { id currentUsage resource: resourceId }'
      : ''
    return `mutation (${definition}) { ${alias}${field}(${argument}: $value) ${selected} } ${fragment}`
  }

  for (const field of Object.keys(reports) as (keyof typeof reports)[]) {
    it(`answer ${field} byte for byte as graphql-js does, and hear the same`, async function () {
      this.timeout(60_000)
      const before = direct.directly()
      await fc.assert(
        fc.asyncProperty(
          reports[field].input as fc.Arbitrary<unknown>,
          selection,
          alias,
          fc.constantFrom(...Object.keys(failures)),
          fc.constantFrom(undefined, 'application/graphql-response+json'),
          async (value, selections, key, failure, accept) => {
            for (const { usage } of [direct, general]) usage.failure = failures[failure]!()
            await same(documentOf(field, selections, { alias: key }), { value }, accept)
          },
        ),
        { numRuns: 400 },
      )
      expect(direct.directly() - before).to.be.greaterThan(40)
      expect(general.directly()).to.equal(0)
    })
  }

  const report = { customerId: 'acme', featureId: 'calls', value: 1 }
  const isDirect = async (ask: () => Promise<unknown>) => {
    const before = direct.directly()
    await ask()
    return direct.directly() > before
  }

  it('are the documents that SDKs send', async () => {
    const input = '$value: ReportUsageInput!'
    for (const document of [
      documentOf('reportUsage', 'id currentUsage'),
      documentOf('reportUsage', 'usage: currentUsage __typename', { alias: 'answer: ' }),
      documentOf('reportUsage', '...F'),
      documentOf('reportUsage', 'id ... on UsageMeasurementWithCurrentUsage { timestamp }'),
    ])
      expect(await isDirect(() => same(document, { value: report })), document).to.equal(true)
    for (const document of [
      documentOf('reportUsage', 'id', { definition: `${input} = { customerId: "a", featureId: "f", value: 1 }` }),
      documentOf('reportUsage', 'id @include(if: true)'),
      documentOf('reportUsage', 'credit { consumed }'),
      documentOf('reportUsage', '__proto__: id'),
      documentOf('reportUsage', 'id', { alias: '__proto__: ' }),
      `mutation (${input}) { one: reportUsage(input: $value) { id } other: reportUsage(input: $value) { id } }`,
      `mutation (${input}) { ...F } fragment F on Mutation { reportUsage(input: $value) { id } }`,
      `mutation A(${input}) { reportUsage(input: $value) { id } } mutation B(${input}) { reportUsage(input: $value) { id } }`,
      'mutation { reportUsage(input: { customerId: "acme", featureId: "calls", value: 1 }) { id } }',
      'mutation ($value: String!) { reportUsage(input: { customerId: $value, featureId: "calls", value: 1 }) { id } }',
      'query ($value: FetchEntitlementQuery!) { entitlement(query: $value) { isGranted } }',
    ])
      expect(await isDirect(() => same(document, { value: report })), document).to.equal(false)
  })

  it('need a server key', async () => {
    const [one, other] = [openDoor({ kind: 'CLIENT', isDirect: true }), openDoor({ kind: 'CLIENT', isDirect: false })]
    const document = documentOf('reportUsage', 'id')
    const answer = await one.ask(document, { value: report })
    expect(answer.body).to.include('IdentityForbidden')
    expect(answer).to.deep.equal(await other.ask(document, { value: report }))
    expect(one.usage.heard).to.deep.equal([])
  })

  it('are never answered without what the schema promises', async () => {
    const schema = createSchema()
    const document = parse('mutation ($input: ReportUsageInput!) { reportUsage(input: $input) { id } }')
    const operations = document.definitions.filter((node) => node.kind === Kind.OPERATION_DEFINITION)
    const read = directReportOf(schema, document, operations)!.read({ input: report })!
    const usage = { ...report, id: null, currentUsage: decimal.zero } as unknown as ReportedUsage
    const app = { usage: { report: async () => [usage] }, clock: { now: () => 0 } } as unknown as Services
    const context = { app, identity: { kind: 'SERVER', environmentId: 'e' } }
    const { data, errors } = await read(context as never)
    expect([data, errors!.length]).to.deep.equal([null, 1])
  })
})
