import { expect } from 'chai'
import { pino } from 'pino'
import { loadTracing } from '../../../../src/platform/cloud/traces.js'
import { inChildSpan, inSpan, newTraceId, traceHeaders } from '../../../../src/platform/context/tracing.js'
import { Life } from '../../../../src/platform/process.js'
import { eventually } from '../../../support/eventually.js'
import { type OtlpReceiver, startOtlpReceiver } from '../../../support/otlp-receiver.js'

describe('the export of traces', () => {
  let collector: OtlpReceiver
  let life: Life
  let lines: string[]

  beforeEach(async () => {
    collector = await startOtlpReceiver()
    lines = []
  })
  afterEach(async () => {
    for (const name of Object.keys(process.env)) if (name.startsWith('OTEL_')) delete process.env[name]
    await life.stop()
    await collector.close()
  })

  async function begin(variables: Record<string, string> = {}, flushMs = 1_000): Promise<void> {
    Object.assign(process.env, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '20', ...variables })
    life = new Life('some-process', pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) }))
    const { startTracing } = await loadTracing()
    startTracing(life, { flushMs })
  }

  const span = <T>(name: string, work: () => T): T => inSpan({ name, kind: 'internal', parent: null }, work)
  const lost = async () =>
    (await life.metrics.getSingleMetricAsString('tollgate_spans_total')).split('\n').filter((line) => /result/.test(line))
  const warnings = () => lines.filter((line) => line.includes('"level":40')).map((line) => JSON.parse(line) as Record<string, unknown>)

  it('names the process, unless OTEL_SERVICE_NAME does', async () => {
    await begin()
    span('one', () => inChildSpan({ name: 'two', kind: 'client' }, () => undefined))
    await life.stop()
    expect(collector.spans().map(({ name, service, kind }) => ({ name, service, kind }))).to.have.deep.members([
      { name: 'one', service: 'tollgate-some-process', kind: 1 },
      { name: 'two', service: 'tollgate-some-process', kind: 3 },
    ])
    await begin({ OTEL_SERVICE_NAME: 'of-the-operator', OTEL_RESOURCE_ATTRIBUTES: 'team=billing' })
    span('three', () => undefined)
    await life.stop()
    const { resource } = collector.spans().at(-1)!
    expect(resource).to.include({ 'service.name': 'of-the-operator', team: 'billing', 'tollgate.process': 'some-process' })
  })

  it('takes the share that OTEL_TRACES_SAMPLER says; the rest has ids all the same, and is handed on as not wanted', async () => {
    await begin({ OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' })
    const { traceId, traceparent } = span('unwanted', () => ({ traceId: newTraceId(), ...traceHeaders() }))
    expect(traceparent).to.match(new RegExp(`^00-${traceId}-[\\da-f]{16}-00$`))
    const parent = { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` }
    inSpan({ name: 'wanted', kind: 'server', parent }, () => undefined)
    await life.stop()
    expect(collector.spans().map(({ name, traceId: of, parentSpanId }) => [name, of, parentSpanId])).to.deep.equal([
      ['wanted', 'a'.repeat(32), 'b'.repeat(16)],
    ])
  })

  it('keeps no more spans than OTEL_BSP_MAX_QUEUE_SIZE, counts what it drops, and says so once', async () => {
    await begin({ OTEL_BSP_MAX_QUEUE_SIZE: '50', OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '50', OTEL_BSP_SCHEDULE_DELAY: '60000' })
    collector.hang()
    for (let n = 0; n < 500; n++) span('many', () => undefined)
    // A full batch is under way, and as many wait.
    expect(await lost()).to.include('tollgate_spans_total{result="dropped",process="some-process"} 400')
    expect(warnings()).to.have.length(1)
    expect(warnings()[0]).to.include({ dropped: 1, failed: 0 })
  })

  it('counts what a collector does not take, and says so', async () => {
    await collector.close()
    await begin({ OTEL_EXPORTER_OTLP_TIMEOUT: '200' })
    span('lost', () => undefined)
    await eventually('the loss', async () => (await lost()).some((line) => /"failed".* 1$/.test(line)))
    expect(warnings().map(({ msg }) => msg)).to.deep.equal([
      'spans of traces are lost: the collector at OTEL_EXPORTER_OTLP_ENDPOINT does not take them',
    ])
  })

  it('ends in its time while the collector hangs, without a failure', async () => {
    await begin({}, 300)
    collector.hang()
    span('late', () => undefined)
    const begun = performance.now()
    expect(await life.stop()).to.deep.equal([])
    expect(performance.now() - begun).to.be.below(1_500)
  })

  it('says which variable is not understood, and never what a header or an address is', async () => {
    await begin({ OTEL_TRACES_SAMPLER: 'sometimes', OTEL_EXPORTER_OTLP_HEADERS: 'authorization=s3cret\u0001' })
    span('one', () => undefined)
    await life.stop()
    expect(
      warnings()
        .map(({ reason }) => String(reason))
        .join(),
    ).to.include('OTEL_TRACES_SAMPLER')
    expect(lines.join()).not.to.include('s3cret')
    expect(lines.join()).not.to.include(collector.url)
  })
})
