/**
 * Tracing, as far as everybody needs to know of it. What makes and exports spans is given to it when the process starts (`cloud/trace-export.ts`); without it
 * nothing is made, kept or loaded, and what is asked here costs a comparison.
 *
 * trace    all that is done for one request, in whatever process; its id is the one that logs and answers tell
 * span     one step of it, within another one
 * context  how the next process learns which span it goes on from, as W3C Trace Context has it
 */
import { newId } from '../../kernel/id.js'
import { Problem } from '../../kernel/problem.js'
import { Scope } from './scope.js'

/** What goes along with calls and jobs. */
export interface TraceContext {
  traceparent: string
  /** Of other tracing systems: handed on as it came. */
  tracestate?: string
}

/** Names of ours, of the schema and of the code: nothing that a caller has chosen. */
export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>

export interface SpanFacts {
  name: string
  /** `server` and `consumer` begin what another process has asked for, `client` and `producer` ask another one. */
  kind: 'server' | 'client' | 'producer' | 'consumer' | 'internal'
  attributes?: Attributes
  /** Null: it begins a trace. */
  parent: Span | TraceContext | null
  /** What else it is done for. */
  links?: readonly (Span | TraceContext)[]
}

export interface Span {
  /** 32 hexadecimal digits. */
  readonly traceId: string
  readonly context: TraceContext
  /** It is exported: the sampler has said so. */
  readonly isRecorded: boolean
  /** It has not ended. */
  readonly isOpen: boolean
  /** It ended so long ago that what is done now is no part of it, although it was begun there: timers and loops go on. */
  readonly isPast: boolean
  rename(name: string): void
  set(attributes: Attributes): void
  link(other: Span): void
  /** `kind`: see `kindOf`. */
  fail(kind: string): void
  end(): void
}

export interface Tracer {
  start(facts: SpanFacts): Span
}

let tracer: Tracer | null = null
const current = new Scope<Span>()

/** Null: no spans are made from now on. */
export function setTracer(next: Tracer | null): void {
  tracer = next
}

export const isTracing = (): boolean => tracer !== null

/** The span that what asks is part of; it may have ended a moment ago when the work has outlived it. */
export function currentSpan(): Span | undefined {
  const span = tracer === null ? undefined : current.value
  return span?.isPast ? undefined : span
}

/** Of the current trace, else a new identifier: what joins an answer with its log lines. */
export const newTraceId = (): string => currentSpan()?.traceId ?? newId()

/** For every line of a log. */
export function traceFields(): { traceId?: string } {
  const span = currentSpan()
  return span ? { traceId: span.traceId } : {}
}

/** For calls to others; nothing outside of a trace. */
export const traceHeaders = (): Partial<TraceContext> => currentSpan()?.context ?? {}

/** Null: it is none. What it says is looked at by whoever continues it. */
export function readContext(value: unknown): TraceContext | null {
  const { traceparent, tracestate } = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>
  if (typeof traceparent !== 'string' || traceparent.length > longestHeader) return null
  return typeof tracestate === 'string' && tracestate.length <= longestHeader ? { traceparent, tracestate } : { traceparent }
}

/** W3C has 512 characters handed on. */
const longestHeader = 512

/** Does the work in a span that ends with it. Null: no spans are made. */
export function inSpan<T>(facts: SpanFacts, work: (span: Span | null) => T): T {
  if (tracer === null) return work(null)
  const span = tracer.start(facts)
  const fail = (error: unknown) => {
    span.fail(kindOf(error))
    span.end()
  }
  let result: T
  try {
    result = current.run(span, () => work(span))
  } catch (error) {
    fail(error)
    throw error
  }
  if (result instanceof Promise) result.then(() => span.end(), fail)
  else span.end()
  return result
}

/** Does the work in a span within the current one; without a span when there is none that is recorded and still open. */
export function inChildSpan<T>(facts: Omit<SpanFacts, 'parent'>, work: (span: Span | null) => T): T {
  const parent = recordedSpan()
  return parent ? inSpan({ ...facts, parent }, work) : work(null)
}

/** For what takes callbacks: whoever begins it ends it. */
export function beginChildSpan(facts: Omit<SpanFacts, 'parent'>): Span | null {
  const parent = recordedSpan()
  return parent && tracer ? tracer.start({ ...facts, parent }) : null
}

/** The current span, when it is worth having others in it. */
export function recordedSpan(): Span | null {
  const span = currentSpan()
  return span?.isRecorded && span.isOpen ? span : null
}

/** Does what was asked for earlier, within another span or none. */
export function inTraceOf<T>(span: Span | undefined, work: () => T): T {
  if (tracer === null) return work()
  return span ? current.run(span, work) : current.exit(work)
}

/** Does what goes on when the trace that it was begun in is over. */
export const outsideTrace = <T>(work: () => T): T => inTraceOf(undefined, work)

/** Does for several at once what is part of the trace of the first whose span is recorded; the spans of the others and its own know of each other. */
export function inSharedSpan<T>(
  facts: Omit<SpanFacts, 'parent' | 'links'>,
  callers: readonly { readonly span: Span | undefined }[],
  work: () => T,
): T {
  if (tracer === null) return work()
  const all = [...new Set(callers.flatMap(({ span }) => span ?? []))]
  const parent = all.find(({ isRecorded }) => isRecorded) ?? all[0]
  if (!parent) return current.exit(work)
  const links = all.filter((span) => span !== parent && span.isRecorded)
  return inSpan({ ...facts, parent, links }, (span) => {
    for (const other of links) if (span) other.link(span)
    return work()
  })
}

/** What kind of error it is, in a word of ours, of PostgreSQL or of Node; never its text, which may name customers. */
export function kindOf(error: unknown): string {
  const code: unknown = error instanceof Problem ? error.code : (error as { code?: unknown } | null)?.code
  if (typeof code === 'string' && /^[A-Z\d][A-Z\d_]{1,60}$/.test(code)) return code
  return error instanceof Error ? error.constructor.name : typeof error
}
