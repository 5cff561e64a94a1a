import { currentSpan, inSpan, isTracing, readContext, type TraceContext } from './tracing.js'

/** Beside what a job of any version says of itself: workers that know nothing of it read the rest, and jobs are without it when there is no trace. */
export interface TracedJob {
  trace?: TraceContext
}

const attributesOf = (queue: string, operation: string, job: unknown) => ({
  'messaging.system': 'bullmq',
  'messaging.destination.name': queue,
  'messaging.operation.type': operation,
  'tollgate.environment_id': environmentOf(job),
})

/** Others than the platform may write to a queue, whatever they like. */
function environmentOf(job: unknown): string | undefined {
  const { environmentId } = job as { environmentId?: unknown }
  return typeof environmentId === 'string' && /^[\da-f-]{36}$/.test(environmentId) ? environmentId : undefined
}

/** Sends jobs from within the current trace, which they carry on. */
export function sendTraced<T extends object, R>(queue: string, jobs: readonly T[], send: (jobs: readonly (T & TracedJob)[]) => R): R {
  const parent = currentSpan()
  if (!parent) return send(jobs)
  return inSpan({ name: `send ${queue}`, kind: 'producer', attributes: attributesOf(queue, 'send', jobs[0]), parent }, (span) =>
    send(jobs.map((job) => ({ ...job, trace: span!.context }))),
  )
}

/**
 * Works on a job as a part of the trace that it comes from. One that had to wait for its time, perhaps for days, begins a trace of its own that knows of the
 * other. Answers what the job says without the trace.
 */
export function workTraced<R>(
  queue: string,
  job: { data: unknown; opts?: { delay?: number } },
  work: (data: unknown) => Promise<R>,
): Promise<R> {
  const { trace } = (job.data ?? {}) as TracedJob
  const data = trace === undefined ? job.data : withoutTrace(job.data as TracedJob)
  if (!isTracing()) return work(data)
  const from = readContext(trace)
  const isLate = (job.opts?.delay ?? 0) > 0
  const links = from && isLate ? { links: [from] } : {}
  const parent = isLate ? null : from
  return inSpan({ name: `process ${queue}`, kind: 'consumer', attributes: attributesOf(queue, 'process', data), parent, ...links }, () =>
    work(data),
  )
}

function withoutTrace({ trace: _, ...job }: TracedJob): unknown {
  return job
}

/** For the log line about a job. */
export function traceIdOfJob(data: unknown): { traceId?: string } {
  const traceId = /^[\da-f]{2}-([\da-f]{32})-/.exec(readContext((data as TracedJob | null)?.trace)?.traceparent ?? '')?.[1]
  return traceId === undefined ? {} : { traceId }
}
