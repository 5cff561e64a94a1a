/**
 * Makes spans with the SDK of OpenTelemetry and sends them by OTLP. Loaded only where they are asked for: it is large. The SDK reads its own variables
 * (OTEL_SERVICE_NAME, OTEL_TRACES_SAMPLER, OTEL_EXPORTER_OTLP_HEADERS, OTEL_BSP_SCHEDULE_DELAY …).
 */
import * as otel from '@opentelemetry/api'
import {
  type ExportResult,
  ExportResultCode,
  getNumberFromEnv,
  setGlobalErrorHandler,
  W3CTraceContextPropagator,
} from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import { BasicTracerProvider, BatchSpanProcessor, type ReadableSpan, type SpanExporter } from '@opentelemetry/sdk-trace-base'
import { LRUCache } from 'lru-cache'
import { newId } from '../../kernel/id.js'
import { type Attributes, type Span, type SpanFacts, setTracer, type TraceContext, type Tracer } from '../context/tracing.js'
import { Counter } from '../metrics.js'
import type { Life } from '../process.js'

/** Spans that wait to be sent; what comes while they are so many is dropped. */
const defaultMaxWaiting = 2_048
/** What is done so long after a span is no part of it any more. */
const pastMs = 5_000
/** What is wrong is told once in so long. */
const tellMs = 60_000

/** Spans are made and exported from now on, until the process stops: then what waits is sent, for at most `flushMs`. */
export function startTracing(life: Life, { flushMs }: { flushMs: number }): void {
  tellOfVariables(life)
  const maxQueueSize = getNumberFromEnv('OTEL_BSP_MAX_QUEUE_SIZE') ?? defaultMaxWaiting
  const provider = new BasicTracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': `tollgate-${life.name}`, 'service.instance.id': newId() }))
      .merge(detectResources({ detectors: [envDetector] }))
      .merge(resourceFromAttributes({ 'tollgate.process': life.name })),
    spanProcessors: [new BoundedBatches(new WatchedExporter(life), maxQueueSize)],
  })
  setTracer(new OtelTracer(provider.getTracer('tollgate')))
  life.open('traces', provider, async () => {
    setTracer(null)
    let timer: NodeJS.Timeout | undefined
    const patience = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, flushMs)
    })
    // What cannot be sent is told by the exporter.
    await Promise.race([provider.shutdown().catch(() => undefined), patience])
    clearTimeout(timer)
  })
}

/** What the SDK has to say of its variables. Of everything else its texts may quote headers and addresses. */
function tellOfVariables({ log }: Life): void {
  const told = new LRUCache<string, true>({ max: 100, ttl: tellMs })
  const tell = (text: string) => {
    if (!/\bOTEL_[A-Z_]+/.test(text) || told.has(text)) return
    told.set(text, true)
    log.warn({ reason: text.slice(0, 300) }, 'a variable of OpenTelemetry is not understood')
  }
  const quiet = () => undefined
  otel.diag.setLogger(
    { error: tell, warn: tell, info: quiet, debug: quiet, verbose: quiet },
    { logLevel: otel.DiagLogLevel.WARN, suppressOverrideMessage: true },
  )
  setGlobalErrorHandler(quiet)
}

/** Batches whose dropped spans are counted. */
class BoundedBatches extends BatchSpanProcessor {
  readonly #exporter: WatchedExporter
  readonly #maxWaiting: number

  constructor(exporter: WatchedExporter, maxQueueSize: number) {
    super(exporter, { maxQueueSize })
    this.#exporter = exporter
    this.#maxWaiting = maxQueueSize
  }

  override onEnd(span: ReadableSpan): void {
    if ((span.spanContext().traceFlags & otel.TraceFlags.SAMPLED) === 0) return
    if (this.#exporter.waiting >= this.#maxWaiting) this.#exporter.drop()
    else {
      this.#exporter.waiting += 1
      super.onEnd(span)
    }
  }
}

/** Counts what becomes of spans, and says when they are lost. */
class WatchedExporter implements SpanExporter {
  /** Spans that were not handed to it yet. */
  waiting = 0
  readonly #exporter = new OTLPTraceExporter()
  readonly #log: Life['log']
  readonly #spans: Counter
  #lost = { dropped: 0, failed: 0 }
  #toldAt = Number.NEGATIVE_INFINITY

  constructor({ log, metrics }: Life) {
    this.#log = log
    this.#spans = new Counter({
      name: 'tollgate_spans_total',
      help: 'Spans of traces by result: exported, failed (not taken by the collector), dropped (too many waited)',
      labelNames: ['result'],
      registers: [metrics],
    })
    for (const result of ['exported', 'failed', 'dropped']) this.#spans.inc({ result }, 0)
  }

  drop(): void {
    this.#lose('dropped', 1)
  }

  export(spans: ReadableSpan[], done: (result: ExportResult) => void): void {
    this.waiting -= spans.length
    this.#exporter.export(spans, (result) => {
      if (result.code === ExportResultCode.SUCCESS) this.#spans.inc({ result: 'exported' }, spans.length)
      else this.#lose('failed', spans.length)
      done(result)
    })
  }

  #lose(result: 'dropped' | 'failed', count: number): void {
    this.#spans.inc({ result }, count)
    this.#lost[result] += count
    if (performance.now() < this.#toldAt + tellMs) return
    this.#toldAt = performance.now()
    this.#log.warn(this.#lost, 'spans of traces are lost: the collector at OTEL_EXPORTER_OTLP_ENDPOINT does not take them')
    this.#lost = { dropped: 0, failed: 0 }
  }

  forceFlush(): Promise<void> {
    return this.#exporter.forceFlush()
  }

  shutdown(): Promise<void> {
    return this.#exporter.shutdown()
  }
}

const kinds: Readonly<Record<SpanFacts['kind'], otel.SpanKind>> = {
  server: otel.SpanKind.SERVER,
  client: otel.SpanKind.CLIENT,
  producer: otel.SpanKind.PRODUCER,
  consumer: otel.SpanKind.CONSUMER,
  internal: otel.SpanKind.INTERNAL,
}

class OtelTracer implements Tracer {
  constructor(private readonly tracer: otel.Tracer) {}

  start({ name, kind, attributes, parent, links = [] }: SpanFacts): Span {
    const options: otel.SpanOptions = { kind: kinds[kind], attributes }
    if (links.length > 0) options.links = links.flatMap((link) => linkTo(link) ?? [])
    return new OtelSpan(this.tracer.startSpan(name, options, parent === null ? otel.ROOT_CONTEXT : contextOf(parent)))
  }
}

class OtelSpan implements Span {
  readonly isRecorded: boolean
  isOpen = true
  #endedAt = Number.POSITIVE_INFINITY

  constructor(readonly span: otel.Span) {
    this.isRecorded = span.isRecording()
  }

  get traceId(): string {
    return this.span.spanContext().traceId
  }

  get context(): TraceContext {
    const carrier: Partial<TraceContext> = {}
    propagator.inject(otel.trace.setSpan(otel.ROOT_CONTEXT, this.span), carrier, otel.defaultTextMapSetter)
    return carrier as TraceContext
  }

  rename(name: string): void {
    this.span.updateName(name)
  }

  set(attributes: Attributes): void {
    this.span.setAttributes(attributes)
  }

  link(other: Span): void {
    const link = linkTo(other)
    if (link) this.span.addLink(link)
  }

  fail(kind: string): void {
    this.span.setAttribute('error.type', kind)
    this.span.setStatus({ code: otel.SpanStatusCode.ERROR })
  }

  get isPast(): boolean {
    return performance.now() > this.#endedAt + pastMs
  }

  end(): void {
    this.isOpen = false
    this.#endedAt = performance.now()
    this.span.end()
  }
}

const propagator = new W3CTraceContextPropagator()

/** What is no context begins a trace. */
const contextOf = (parent: Span | TraceContext): otel.Context =>
  parent instanceof OtelSpan
    ? otel.trace.setSpan(otel.ROOT_CONTEXT, parent.span)
    : propagator.extract(otel.ROOT_CONTEXT, parent, otel.defaultTextMapGetter)

function linkTo(other: Span | TraceContext): otel.Link | undefined {
  const context = otel.trace.getSpanContext(contextOf(other))
  return context && { context }
}
