import { setImmediate as nextRound } from 'node:timers/promises'
import { expect } from 'chai'
import { pino } from 'pino'
import { Problem } from '../../../../src/kernel/problem.js'
import { sendTraced, traceIdOfJob, workTraced } from '../../../../src/platform/context/job-trace.js'
import {
  currentSpan,
  inChildSpan,
  inSharedSpan,
  inSpan,
  isTracing,
  kindOf,
  newTraceId,
  outsideTrace,
  readContext,
  type Span,
  type SpanFacts,
  setTracer,
  traceFields,
  traceHeaders,
} from '../../../../src/platform/context/tracing.js'
import { createLogger } from '../../../../src/platform/logger.js'
import { readImports } from '../../../support/imports.js'

/** Spans in the order in which they began. */
class Recorded implements Span {
  static all: Recorded[] = []
  readonly traceId: string
  readonly context: { traceparent: string }
  readonly links: unknown[]
  failed: string | null = null
  isOpen = true
  isPast = false

  constructor(
    readonly facts: SpanFacts,
    readonly isRecorded = true,
  ) {
    const { parent } = facts
    const given = parent instanceof Recorded ? parent.traceId : parent && 'traceparent' in parent ? parent.traceparent.slice(3, 35) : null
    this.traceId = given ?? String(Recorded.all.length + 1).padStart(32, '0')
    this.context = { traceparent: `00-${this.traceId}-${String(Recorded.all.length + 1).padStart(16, '0')}-01` }
    this.links = [...(facts.links ?? [])]
    Recorded.all.push(this)
  }
  rename(): void {}
  set(): void {}
  link(other: Span): void {
    this.links.push(other)
  }
  fail(kind: string): void {
    this.failed = kind
  }
  end(): void {
    this.isOpen = false
  }
}

const facts = (name: string): SpanFacts => ({ name, kind: 'internal', parent: null })
const names = () => Recorded.all.map(({ facts: { name } }) => name)

describe('tracing', () => {
  const begin = (isRecorded = true) => setTracer({ start: (given) => new Recorded(given, isRecorded) })
  beforeEach(() => {
    Recorded.all = []
  })
  afterEach(() => setTracer(null))

  it('makes nothing while nobody asks for it', async () => {
    expect(isTracing()).to.equal(false)
    const job = { v: 1 as const, environmentId: 'e' }
    const sent = sendTraced('q', [job], (jobs) => jobs)
    expect(sent[0]).to.equal(job)
    await workTraced('q', { data: job }, async (data) => expect(data).to.equal(job))
    expect(inSpan(facts('a'), (span) => [span, currentSpan(), traceHeaders(), traceFields()])).to.deep.equal([null, undefined, {}, {}])
    expect(newTraceId()).to.match(/^[\da-f-]{36}$/)
  })

  it('loads OpenTelemetry in one place, when it is asked for', () => {
    const imports = readImports(['src', 'workers'])
    const of = (target: RegExp) => imports.filter(({ to }) => target.test(to)).map(({ from, isDynamic }) => ({ from, isDynamic }))
    expect(new Set(of(/^@opentelemetry\//).map(({ from }) => from))).to.deep.equal(new Set(['src/platform/cloud/trace-export']))
    expect(of(/cloud\/trace-export$/)).to.deep.equal([{ from: 'src/platform/cloud/traces', isDynamic: true }])
    const programs = ['src/web/main', 'src/sidecar/main', ...imports.map(({ from }) => from).filter((from) => from.startsWith('workers/'))]
    const traced = of(/cloud\/traces$/).map(({ from }) => from)
    expect(new Set(traced)).to.deep.equal(new Set(programs))
  })

  it('ends a span with its work, and tells of a failure its kind only', async () => {
    begin()
    const cause = new Problem('NOT_FOUND', 'CUSTOMER_NOT_FOUND', 'Customer "acme" was not found')
    await inSpan(facts('later'), async () => expect(currentSpan()!.isOpen).to.equal(true))
    expect(() =>
      inSpan(facts('now'), () => {
        throw cause
      }),
    ).to.throw(cause.message)
    await inSpan(facts('rejected'), () => Promise.reject(Object.assign(new Error('acme'), { code: '23505' }))).catch(() => undefined)
    await nextRound()
    expect(Recorded.all.map(({ isOpen, failed }) => [isOpen, failed])).to.deep.equal([
      [false, null],
      [false, 'NOT_FOUND'],
      [false, '23505'],
    ])
    expect(currentSpan()).to.equal(undefined)
    expect([kindOf(new RangeError('acme')), kindOf(Object.assign(new Error('x'), { code: 'of acme' })), kindOf('acme')]).to.deep.equal([
      'RangeError',
      'Error',
      'string',
    ])
  })

  it('makes steps of others only within a span that is open and recorded', async () => {
    begin()
    const step = () => inChildSpan({ name: 'step', kind: 'client' }, () => undefined)
    step()
    await inSpan(facts('whole'), async () => {
      step()
      outsideTrace(step)
    })
    let late: Promise<void> | undefined
    await inSpan(facts('short'), async () => {
      late = nextRound()
        .then(() => nextRound())
        .then(step)
    })
    await late
    expect(names()).to.deep.equal(['whole', 'step', 'short'])
    // A loop that was begun in a trace goes on when nobody speaks of it any more.
    await inSpan(facts('long ago'), async () => {
      Recorded.all.at(-1)!.isPast = true
      step()
      expect(traceHeaders()).to.deep.equal({})
    })
    expect(names()).to.deep.equal(['whole', 'step', 'short', 'long ago'])
    begin(false)
    await inSpan(facts('unrecorded'), async () => step())
    expect(names()).to.deep.equal(['whole', 'step', 'short', 'long ago', 'unrecorded'])
  })

  it('has what is done for several within the trace of one, and linked with the others', async () => {
    begin()
    const callers = ['a', 'b', 'c'].map((name) => ({ span: new Recorded(facts(name)) as Span }))
    const [a, b, c] = Recorded.all
    inSharedSpan({ name: 'batch', kind: 'internal' }, [...callers, callers[0]!], () => undefined)
    const batch = Recorded.all[3]!
    expect(batch.facts.parent).to.equal(a)
    expect(batch.links).to.deep.equal([b, c])
    expect([a!.links, b!.links, c!.links]).to.deep.equal([[], [batch], [batch]])
  })

  it('travels in a job, which is read without it', async () => {
    begin()
    const job = { v: 1 as const, environmentId: '01900000-0000-7000-8000-000000000001' }
    const [sent] = inSpan(facts('door'), () => sendTraced('q', [job], (jobs) => jobs))
    const [door, send] = Recorded.all
    expect(sent).to.deep.equal({ ...job, trace: send!.context })
    expect(traceIdOfJob(sent)).to.deep.equal({ traceId: door!.traceId })
    await workTraced('q', { data: sent }, async (data) => expect(data).to.deep.equal(job))
    expect(Recorded.all[2]!.facts).to.deep.include({ name: 'process q', kind: 'consumer', parent: send!.context })
    expect(Recorded.all[2]!.facts.attributes).to.include({ 'tollgate.environment_id': job.environmentId })
  })

  it('is named by every line of a log that is written meanwhile', async () => {
    begin()
    const lines: string[] = []
    const log = createLogger({ process: 'worker', level: 'info', mixin: traceFields })
    Object.assign(log, { [pino.symbols.streamSym]: { write: (line: string) => lines.push(line) } })
    await workTraced('q', { data: { v: 1 } }, async () => {
      await nextRound()
      log.info({ batchId: 'b' }, 'within')
    })
    log.info('outside')
    expect(lines.map((line) => (JSON.parse(line) as { traceId?: string }).traceId)).to.deep.equal([Recorded.all[0]!.traceId, undefined])
  })

  it('begins anew for a job that had to wait for its time, and knows where it comes from', async () => {
    begin()
    const trace = { traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01` }
    await workTraced('q', { data: { v: 1, trace }, opts: { delay: 5_000 } }, async () => undefined)
    expect(Recorded.all[0]!.facts).to.deep.include({ parent: null, links: [trace] })
  })

  it('takes nothing from a job but a context of bounded length', async () => {
    begin()
    for (const trace of [null, 7, 'text', {}, { traceparent: 7 }, { traceparent: 'x'.repeat(513) }]) {
      await workTraced('q', { data: { v: 1, trace } }, async (data) => expect(data).to.deep.equal({ v: 1 }))
      expect(Recorded.all.at(-1)!.facts.parent).to.equal(null)
      expect(traceIdOfJob({ trace })).to.deep.equal({})
    }
    expect(readContext({ traceparent: 'a', tracestate: 'b', other: 'c' })).to.deep.equal({ traceparent: 'a', tracestate: 'b' })
    expect(readContext({ traceparent: 'a', tracestate: 'b'.repeat(513) })).to.deep.equal({ traceparent: 'a' })
    await workTraced('q', { data: { v: 1, environmentId: 'acme' } }, async () => undefined)
    expect(Recorded.all.at(-1)!.facts.attributes!['tollgate.environment_id']).to.equal(undefined)
  })
})
