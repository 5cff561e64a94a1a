import { setTimeout as sleep } from 'node:timers/promises'
import { credentials, loadPackageDefinition, Metadata } from '@grpc/grpc-js'
import { expect } from 'chai'
import { createClient } from 'graphql-ws'
import { WebSocket } from 'ws'
import { sidecarPackage } from '../../src/sidecar/grpc/proto.js'
import { eventually } from '../support/eventually.js'
import { type OtlpReceiver, type ReceivedSpan, startOtlpReceiver } from '../support/otlp-receiver.js'
import { OwnProcesses } from '../support/own-processes.js'
import { WebhookReceiver } from '../support/webhook-receiver.js'

const catalog = `
features: [{ refId: calls, type: NUMBER, meter: Incremental }]
products: [{ refId: desk }]
plans: [{ refId: hourly, product: desk, entitlements: [{ feature: calls, limit: 1000, resetPeriod: HOUR }] }]
`

/** What only the caller knows, and nobody who reads traces is to be told. */
const customerId = 'customer-of-acme'
const secrets = ['token-of-the-hook', customerId, 'Acme Ltd', 'who@acme.example', 'key-of-one-report', 'region-of-acme', 'ClientChosenName']

const provide = `mutation ClientChosenName($input: ProvisionCustomerInput!) { provisionCustomer(input: $input) { customer { id } } }`
const report = `mutation ClientChosenName($input: ReportUsageInput!) { reportUsage(input: $input) { currentUsage } }`
const input = { customerId, featureId: 'calls', value: 2, idempotencyKey: 'key-of-one-report', dimensions: { region: 'region-of-acme' } }

/** Has a process say at its end which modules of OpenTelemetry it has loaded. */
const tellLoaded = { NODE_OPTIONS: `--import=${new URL('../support/loaded-modules.js?of=@opentelemetry', import.meta.url).href}` }

const traceIdOf = (n: number) => n.toString(16).padStart(32, '0')
/** Each process tells times from the millisecond in which a span began on. */
const clocksNs = 5_000_000n

const callersSpan = '00f067aa0ba902b7'
const traceparent = (n: number, flags = '01') => `00-${traceIdOf(n)}-${callersSpan}-${flags}`

interface Answer {
  data?: { reportUsage?: { currentUsage: number } } | null
  errors?: { extensions: { code: string; traceId: string } }[]
}

describe('traces', function () {
  this.timeout(120_000)
  let collector: OtlpReceiver
  let own: OwnProcesses

  before(async () => {
    collector = await startOtlpReceiver()
    own = await OwnProcesses.create(catalog, {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-collector-key=of-the-collector',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
      OTEL_BSP_SCHEDULE_DELAY: '100',
      INGESTION_SHARDS: '1',
      ...tellLoaded,
    })
    await own.start(['usage-ingestion', 'cache-invalidation', 'webhook-delivery', 'web'])
    await own.start(['sidecar'])
    const customer = { customerId, name: 'Acme Ltd', email: 'who@acme.example', subscriptionParams: { planId: 'hourly' } }
    await eventually('the customer', () => own.api.call(provide, { input: customer }).catch(() => null), 60_000)
    // The first one of all takes so long that the door asks for it again.
    const first = { ...input, value: 0, idempotencyKey: 'first-key' }
    await eventually('the first report', () => own.api.call(report, { input: first }).catch(() => null), 60_000)
  })
  after(async () => {
    await own?.close()
    await collector?.close()
  })

  async function ask(query: string, variables: object, headers: Record<string, string> = {}): Promise<Response & { answer: Answer }> {
    const response = await fetch(`${own.api.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': own.api.apiKey, ...headers },
      body: JSON.stringify({ query, variables }),
    })
    return Object.assign(response, { answer: (await response.json()) as Answer })
  }

  /** The spans of a trace when all that are named are there. */
  const traceWith = (traceId: string, ...names: string[]) =>
    eventually(`the spans ${names} of ${traceId}`, () => {
      const spans = collector.trace(traceId)
      return names.every((name) => spans.some((span) => span.name === name)) ? spans : null
    })

  const only = (spans: readonly ReceivedSpan[], name: string): ReceivedSpan => {
    const found = spans.filter((span) => span.name === name)
    expect(found, `${name} among ${spans.map((span) => `${span.service} ${span.name}`).join(', ')}`).to.have.length(1)
    return found[0]!
  }

  const parentOf = (spans: readonly ReceivedSpan[], { parentSpanId }: ReceivedSpan) => spans.find(({ spanId }) => spanId === parentSpanId)!

  const isWithin = (inner: ReceivedSpan, outer: ReceivedSpan) => {
    expect(inner.parentSpanId, `${inner.name} in ${outer.name}`).to.equal(outer.spanId)
    expect(inner.startedAt + clocksNs >= outer.startedAt, `${inner.name} begins after ${outer.name}`).to.equal(true)
  }

  it('tell one report whole: door, job, worker, PostgreSQL and reply', async () => {
    const { answer, headers } = await ask(report, { input }, { traceparent: traceparent(1), tracestate: 'vendor=1' })
    expect(answer.data?.reportUsage).to.deep.equal({ currentUsage: 2 })
    expect(headers.get('x-trace-id')).to.equal(null)

    const spans = await traceWith(traceIdOf(1), 'POST /graphql', 'reply', 'process usage-ingestion')
    const request = only(spans, 'POST /graphql')
    expect(request).to.deep.include({ service: 'tollgate-web', kind: 2, parentSpanId: callersSpan, isFailed: false })
    expect(request.attributes).to.deep.include({ 'http.route': '/graphql', 'http.response.status_code': 200 })
    const operation = only(spans, 'graphql reportUsage')
    isWithin(operation, request)
    expect(operation.attributes).to.deep.equal({ 'tollgate.operation': 'reportUsage', 'tollgate.environment_id': own.environmentId })
    const batch = only(spans, 'usage batch')
    isWithin(batch, operation)
    // A door that waits for long asks again: the job is meant that has counted.
    const counted = spans.find(({ name }) => /^(INSERT usage_rollup|SELECT count_reports)$/.test(name))!
    const work = parentOf(spans, counted)
    const sent = parentOf(spans, work)
    expect([sent.name, work.name]).to.deep.equal(['send usage-ingestion', 'process usage-ingestion'])
    isWithin(sent, batch)
    expect(sent).to.deep.include({ service: 'tollgate-web', kind: 4 })

    isWithin(work, sent)
    expect(work).to.deep.include({ service: 'tollgate-usage-ingestion', kind: 5 })
    expect(work.attributes['tollgate.environment_id']).to.equal(own.environmentId)
    expect(work.resource).to.include({ 'tollgate.process': 'usage-ingestion', 'deployment.environment.name': 'test' })
    const steps = spans.filter(({ parentSpanId }) => parentSpanId === work.spanId)
    const statements = steps.filter(({ attributes }) => attributes['db.system.name'] === 'postgresql')
    for (const statement of statements) {
      isWithin(statement, work)
      expect(statement.kind).to.equal(3)
    }
    // The short way is one statement, the long one a transaction of several.
    const [, verb, table] = /^(\w+) (\w+)$/.exec(counted.name)!
    expect(counted.attributes).to.include({ 'db.operation.name': verb, 'db.collection.name': table })
    expect(counted.attributes['db.query.text']).to.match(new RegExp(`${table}.*\\$1`))
    const committed = statements.find(({ name }) => name === 'COMMIT') ?? counted
    const reply = only(steps, 'reply')
    expect(reply.startedAt + clocksNs >= committed.endedAt, 'the reply is after the commit').to.equal(true)
    expect(batch.endedAt + clocksNs > reply.startedAt, 'the batch ends with its reply').to.equal(true)
  })

  it('go on where the change is delivered', async () => {
    await ask(report, { input: { ...input, idempotencyKey: 'another-key' } }, { traceparent: traceparent(2) })
    const spans = await traceWith(traceIdOf(2), 'process usage-ingestion', 'send cache-invalidation', 'process cache-invalidation')
    const sent = parentOf(spans, spans.find(({ name }) => name === 'process cache-invalidation')!)
    expect([sent.name, parentOf(spans, sent).name]).to.deep.equal(['send cache-invalidation', 'process usage-ingestion'])
  })

  it('are those that answers and logs name', async () => {
    const wrong = { input: { ...input, customerId: 'nobody-there', idempotencyKey: 'a-key-of-its-own' } }
    const { answer, headers } = await ask(report, wrong, { traceparent: traceparent(3) })
    const { extensions } = answer.errors![0]!
    expect(extensions).to.include({ code: 'CustomerNotFound', traceId: traceIdOf(3) })
    expect(headers.get('x-trace-id')).to.equal(traceIdOf(3))
    const line = await eventually('the log line', () =>
      own.lines.find((text) => text.includes('CustomerNotFound') || text.includes(traceIdOf(3))),
    )
    expect(line).to.include(`"traceId":"${traceIdOf(3)}"`)
    const spans = await traceWith(traceIdOf(3), 'graphql reportUsage')
    expect(only(spans, 'graphql reportUsage')).to.deep.include({ isFailed: true })
    expect(only(spans, 'graphql reportUsage').attributes['error.type']).to.equal('CustomerNotFound')

    const fresh = await ask(report, wrong)
    const { traceId } = fresh.answer.errors![0]!.extensions
    expect(traceId).to.match(/^[\da-f]{32}$/)
    expect(only(await traceWith(traceId, 'POST /graphql'), 'POST /graphql').parentSpanId).to.equal('')
  })

  it('are not made for a caller that does not want one, and what is no context begins one', async () => {
    const { answer } = await ask(report, { input: { ...input, customerId: 'nobody-there' } }, { traceparent: traceparent(4, '00') })
    expect(answer.errors![0]!.extensions.traceId).to.equal(traceIdOf(4))
    const { answer: other } = await ask(report, { input: { ...input, customerId: 'nobody-there' } }, { traceparent: 'nonsense' })
    await traceWith(other.errors![0]!.extensions.traceId, 'POST /graphql')
    expect(collector.trace(traceIdOf(4))).to.deep.equal([])
  })

  it('link the reports that were counted together', async () => {
    const traces = Array.from({ length: 20 }, (_, n) => 100 + n)
    await Promise.all(traces.map((n) => ask(report, { input: { ...input, idempotencyKey: `key-${n}` } }, { traceparent: traceparent(n) })))
    const spans = () => traces.flatMap((n) => collector.trace(traceIdOf(n)))
    await eventually('all operations', () => spans().filter(({ name }) => name === 'graphql reportUsage').length === traces.length)
    await eventually('every report to lead to its batch', () => {
      const batches = spans().filter(({ name }) => name === 'usage batch')
      return spans()
        .filter(({ name }) => name === 'graphql reportUsage')
        .every(({ spanId, links }) =>
          batches.some((batch) => batch.parentSpanId === spanId || links.some((link) => link.spanId === batch.spanId)),
        )
    })
    const batches = spans().filter(({ name }) => name === 'usage batch')
    const linked = batches.flatMap(({ links }) => links)
    expect(batches.length + linked.length).to.equal(traces.length)
  })

  it('go through a sidecar to the API and back', async () => {
    const { service } = loadPackageDefinition(sidecarPackage) as never as {
      service: { sidecar: { v1: { SidecarService: new (address: string, secured: object) => Client } } }
    }
    interface Client {
      ReportUsage(request: object, metadata: Metadata, callback: (error: Error | null, answer: object) => void): void
      close(): void
    }
    const client = new service.sidecar.v1.SidecarService(own.sidecarAddressOf('sidecar'), credentials.createInsecure())
    const metadata = new Metadata()
    metadata.set('traceparent', traceparent(5))
    try {
      const request = { customer_id: customerId, feature_id: 'calls', value: 1, idempotency_key: 'key-of-the-sidecar' }
      await new Promise((resolve, reject) =>
        client.ReportUsage(request, metadata, (error, answer) => (error ? reject(error) : resolve(answer))),
      )
    } finally {
      client.close()
    }
    const spans = await traceWith(
      traceIdOf(5),
      'service.sidecar.v1.SidecarService/ReportUsage',
      'POST',
      'POST /graphql',
      'process usage-ingestion',
    )
    const call = only(spans, 'service.sidecar.v1.SidecarService/ReportUsage')
    expect(call).to.deep.include({ service: 'tollgate-sidecar', kind: 2, parentSpanId: callersSpan })
    expect(call.attributes).to.deep.equal({
      'rpc.system.name': 'grpc',
      'rpc.method': 'service.sidecar.v1.SidecarService/ReportUsage',
      'rpc.response.status_code': 'OK',
    })
    const sent = only(spans, 'POST')
    isWithin(sent, call)
    isWithin(only(spans, 'POST /graphql'), sent)
    expect(parentOf(spans, spans.find(({ name }) => name === 'process usage-ingestion')!).name).to.equal('send usage-ingestion')
  })

  it('go on to the webhooks of a change, whose requests carry them, and repeated attempts know of them', async () => {
    const receiver = await new WebhookReceiver().listen()
    const input = { url: `${receiver.url}/token-of-the-hook`, eventTypes: ['customer.updated'] }
    try {
      await own.api.call('mutation ($input: CreateWebhookEndpointInput!) { createWebhookEndpoint(input: $input) { secret } }', { input })
      receiver.answer = (_heard, response) => void response.writeHead(receiver.heard.length === 1 ? 503 : 204).end()
      const update = 'mutation ($input: UpdateCustomerInput!) { updateOneCustomer(input: $input) { id } }'
      const more = { traceparent: traceparent(9), tracestate: 'vendor=1' }
      const { answer } = await ask(update, { input: { customerId, salesforceId: 'sf-1' } }, more)
      expect(answer.errors).to.equal(undefined)
      await eventually('two attempts', () => receiver.heard.length === 2, 30_000)

      const spans = await traceWith(traceIdOf(9), 'graphql updateOneCustomer', 'send webhook')
      const sent = only(spans, 'send webhook')
      isWithin(sent, only(spans, 'graphql updateOneCustomer'))
      expect(sent).to.deep.include({ service: 'tollgate-webhook-delivery', kind: 3, isFailed: true })
      expect(sent.attributes).to.include({ 'http.response.status_code': 503, 'tollgate.event_type': 'customer.updated' })
      const [first, second] = receiver.heard.map(({ headers }) => headers)
      expect([first!.traceparent, first!.tracestate]).to.deep.equal([`00-${traceIdOf(9)}-${sent.spanId}-01`, undefined])

      const [, again] = String(second!.traceparent).split('-')
      expect(again).to.not.equal(traceIdOf(9))
      const repeated = only(await traceWith(again!, 'send webhook'), 'send webhook')
      expect(repeated).to.deep.include({ parentSpanId: '', isFailed: false })
      expect(repeated.links.map((link) => link.traceId)).to.deep.equal([traceIdOf(9)])
    } finally {
      await receiver.close()
    }
  })

  it('tell of the edge API which page was asked for, and not of whom', async () => {
    const url = `${own.api.url}/v1/c/${customerId}/entitlements.json`
    const response = await fetch(url, { headers: { 'x-api-key': own.api.apiKey, traceparent: traceparent(6) } })
    expect(response.status).to.equal(200)
    const span = only(await traceWith(traceIdOf(6), 'GET /v1 entitlements'), 'GET /v1 entitlements')
    expect(span.attributes).to.include({ 'http.route': '/v1', 'tollgate.operation': 'entitlements', 'http.response.status_code': 200 })
  })

  it('tell how a subscription on a socket begins, and go on with what its message says', async () => {
    const client = createClient({
      url: `${own.api.url.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      connectionParams: { headers: { 'X-API-KEY': own.api.apiKey } },
      retryAttempts: 0,
    })
    const query = 'subscription ClientChosenName { usageUpdated { usage { currentUsage } } }'
    try {
      client.subscribe(
        { query, extensions: { traceparent: traceparent(8) } },
        { next: () => undefined, error: () => undefined, complete: () => undefined },
      )
      const span = only(await traceWith(traceIdOf(8), 'graphql usageUpdated'), 'graphql usageUpdated')
      expect(span).to.deep.include({ service: 'tollgate-web', kind: 2, parentSpanId: callersSpan, isFailed: false })
    } finally {
      await client.dispose()
    }
  })

  it('hold nothing of customers, no key and no value', async () => {
    await eventually('spans of all processes', () => {
      const services = new Set(collector.spans().map(({ service }) => service))
      return ['web', 'sidecar', 'usage-ingestion', 'cache-invalidation'].every((name) => services.has(`tollgate-${name}`))
    })
    const all = collector.requests.map(({ body }) => body).join('\n')
    expect(collector.spans().length).to.be.above(50)
    for (const secret of [...secrets, own.api.apiKey, new URL(own.database.url).password].filter((text) => text !== ''))
      expect(all.includes(secret), secret).to.equal(false)
    expect(new Set(collector.requests.map(({ path }) => path))).to.deep.equal(new Set(['/v1/traces']))
    expect(new Set(collector.requests.map(({ headers }) => headers['x-collector-key']))).to.deep.equal(new Set(['of-the-collector']))
  })

  it('that wait are sent when a process stops', async () => {
    await ask(report, { input: { ...input, customerId: 'nobody-there' } }, { traceparent: traceparent(7) })
    await own.stop(['web'])
    expect(collector.trace(traceIdOf(7)).map(({ name }) => name)).to.include('POST /graphql')
    await own.start(['web'])
  })

  it('cost no request anything while the collector hangs or is away, and no time at the end', async () => {
    collector.hang()
    const slowest = await longestReport(20)
    await collector.close()
    const slowestWithoutAny = await longestReport(20)
    expect(Math.max(slowest, slowestWithoutAny)).to.be.below(2_000)
    // The collector fails what it was sent after it hung, and what comes later.
    await eventually('the loss to be told', () => own.lines.some((line) => line.includes('spans of traces are lost')), 40_000)
    const begun = performance.now()
    await own.stop(['web', 'usage-ingestion'])
    expect(performance.now() - begun).to.be.below(8_000)
    expect(own.lines.filter((line) => line.includes('shutdown deadline passed'))).to.deep.equal([])
    expect(own.lines).to.include('web | loaded @opentelemetry/sdk-trace-base')
  })

  async function longestReport(count: number): Promise<number> {
    let longest = 0
    for (let n = 0; n < count; n++) {
      const begun = performance.now()
      const { answer } = await ask(report, { input: { ...input, idempotencyKey: `away-${begun}` } })
      expect(answer.errors).to.equal(undefined)
      longest = Math.max(longest, performance.now() - begun)
      await sleep(10)
    }
    return longest
  }
})

describe('without a collector', function () {
  this.timeout(120_000)
  let own: OwnProcesses

  before(async () => {
    own = await OwnProcesses.create(catalog, { ...tellLoaded, OTEL_SERVICE_NAME: 'tollgate', OTEL_TRACES_SAMPLER: 'always_on' })
  })
  after(() => own.close())

  it('nothing of OpenTelemetry is loaded, and errors are named as before', async () => {
    const names = ['usage-ingestion', 'web']
    await own.start(names)
    await own.api.call(provide, { input: { customerId, subscriptionParams: { planId: 'hourly' } } })
    expect(await own.api.call(report, { input })).to.deep.equal({ reportUsage: { currentUsage: 2 } })
    const response = await fetch(`${own.api.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': own.api.apiKey, traceparent: traceparent(1) },
      body: JSON.stringify({ query: report, variables: { input: { ...input, customerId: 'nobody-there' } } }),
    })
    const { errors } = (await response.json()) as Answer
    expect(errors![0]!.extensions.traceId).to.match(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/)
    await own.stop(names)
    const loadedLines = () => own.lines.filter((line) => line.includes('| loaded '))
    const loaded = await eventually('both to say what they have loaded', () =>
      loadedLines().length >= names.length ? loadedLines() : null,
    )
    // What counts metrics has the interfaces with it.
    expect(new Set(loaded.map((line) => line.replace(/.*\| loaded /, '')))).to.deep.equal(new Set(['@opentelemetry/api']))
    expect(loaded.map((line) => line.split(' |')[0]).sort()).to.deep.equal([...names].sort())
  })
})
