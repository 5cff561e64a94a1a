import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface ReceivedSpan {
  /** The process, as `service.name`. */
  service: string
  name: string
  /** As OTLP numbers them: 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  kind: number
  traceId: string
  spanId: string
  /** Empty: it begins the trace. */
  parentSpanId: string
  links: { traceId: string; spanId: string }[]
  attributes: Record<string, unknown>
  resource: Record<string, unknown>
  isFailed: boolean
  /** Nanoseconds since 1970. */
  startedAt: bigint
  endedAt: bigint
}

/** What a collector of OpenTelemetry is sent, as OTLP over HTTP. */
export interface OtlpReceiver {
  url: string
  requests: { path: string; headers: Record<string, unknown>; body: string }[]
  spans(): ReceivedSpan[]
  /** All of one trace, the earliest first. */
  trace(traceId: string): ReceivedSpan[]
  /** Takes requests from now on and never answers them. */
  hang(): void
  close(): Promise<unknown>
}

interface Named {
  key: string
  value: Record<string, unknown>
}
interface OtlpSpan extends Omit<ReceivedSpan, 'attributes'> {
  attributes: Named[]
  status?: { code?: number }
  startTimeUnixNano: string
  endTimeUnixNano: string
}
interface OtlpBody {
  resourceSpans: { resource: { attributes: Named[] }; scopeSpans: { spans: OtlpSpan[] }[] }[]
}

const recordOf = (attributes: readonly Named[] = []) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const requests: OtlpReceiver['requests'] = []
  let hangs = false
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    requests.push({ path: request.url!, headers: request.headers, body })
    if (!hangs) response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const spans = () => requests.flatMap(({ body }) => spansOf(JSON.parse(body) as OtlpBody))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    spans,
    trace: (traceId) =>
      spans()
        .filter((span) => span.traceId === traceId)
        .sort((a, b) => Number(a.startedAt - b.startedAt)),
    hang() {
      hangs = true
    },
    close() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    },
  }
}

function spansOf({ resourceSpans }: OtlpBody): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource: { attributes }, scopeSpans }) => {
    const resource = recordOf(attributes)
    return scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        service: String(resource['service.name']),
        name: span.name,
        kind: span.kind,
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId: span.parentSpanId ?? '',
        links: span.links ?? [],
        attributes: recordOf(span.attributes),
        resource,
        isFailed: span.status?.code === 2,
        startedAt: BigInt(span.startTimeUnixNano),
        endedAt: BigInt(span.endTimeUnixNano),
      })),
    )
  })
}
