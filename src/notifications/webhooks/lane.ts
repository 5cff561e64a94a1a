import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../kernel/clock.js'
import { inSpan, type SpanFacts } from '../../platform/context/tracing.js'
import { requestsAtOnce } from './attempt.js'
import { toldBody } from './records/deliveries.js'
import type { DueDelivery, Lane } from './records/lanes.js'
import { type AttemptOutcome, isSuccess } from './rules/schedule.js'

/** Deliveries that a lane has in memory, and about how many bytes of them. */
const mostHeld = 32
const mostHeldBytes = 2 * 1024 * 1024
/** How soon a lane finds what came due while it waits for an answer. */
const lookAgainMs = 200

/** What a lane works with: where deliveries come from, how they are sent, and who records what became of them. */
export interface LaneParts {
  lane: Lane
  clock: Clock
  findDue(held: readonly string[], limit: number, maxBytes: number): Promise<DueDelivery[]>
  headersOf(eventId: string, body: string, at: Date): Record<string, string>
  send(url: string, headers: Record<string, string>, body: string): Promise<AttemptOutcome>
  /** Answers whether the endpoint is to be left alone from now on. */
  record(delivery: DueDelivery, outcome: AttemptOutcome): Promise<{ isOver: boolean }>
  /** The endpoint answered only failures: one request at a time finds out whether it is back. */
  isDoubtful: boolean
  /** Nothing new is begun. */
  isStopped(): boolean
}

/**
 * Sends what is due for one endpoint, until nothing is or its turn is over. The first attempts of a customer's events are made one after the other, in their order;
 * customers, and attempts that are repeated, do not wait for each other.
 */
export async function runLane(parts: LaneParts): Promise<void> {
  const held = new Map<string, Promise<void>>()
  const lastOf = new Map<string, Promise<void>>()
  const failures: unknown[] = []
  let { isDoubtful } = parts
  let isOver = false
  let used = 0
  const queue: (() => void)[] = []
  const fail = (error: unknown) => {
    failures.push(error)
    isOver = true
  }
  const slot = async () => {
    if (used >= requestsAtOnce) await new Promise<void>((go) => queue.push(go))
    else used += 1
  }
  const freeSlot = () => {
    const next = queue.shift()
    if (next) next()
    else used -= 1
  }
  const attempt = async (delivery: DueDelivery) => {
    await slot()
    try {
      if (isOver || parts.isStopped()) return
      const made = await makeAttempt(parts, delivery)
      isOver ||= made.isOver
      if (made.isSuccess) isDoubtful = false
    } catch (error) {
      fail(error)
    } finally {
      freeSlot()
    }
  }
  const hold = (delivery: DueDelivery) => {
    const { customerId } = delivery
    const isOrdered = customerId !== null && delivery.attempts === 0
    const before = isOrdered ? lastOf.get(customerId) : undefined
    const made = (before ? before.then(() => attempt(delivery)) : attempt(delivery)).finally(() => {
      held.delete(delivery.id)
      if (isOrdered && lastOf.get(customerId) === made) lastOf.delete(customerId)
    })
    held.set(delivery.id, made)
    if (isOrdered) lastOf.set(customerId, made)
  }
  while (!isOver && !parts.isStopped()) {
    const room = (isDoubtful ? 1 : mostHeld) - held.size
    // What is under way when it fails has to end before the lane does: the endpoint is somebody else's then.
    if (room > 0) await parts.findDue([...held.keys()], room, mostHeldBytes).then((due) => due.forEach(hold), fail)
    if (held.size === 0) break
    // With a full hand there is time until half of it is done.
    const enough = isDoubtful ? 0 : Math.min(held.size - 1, mostHeld / 2)
    await untilLeft(held, enough)
  }
  await Promise.all(held.values())
  if (failures.length > 0) throw failures[0]
}

/** Sends a delivery and has recorded what was answered, in a span whose context the request carries. */
function makeAttempt(parts: LaneParts, delivery: DueDelivery): Promise<{ isOver: boolean; isSuccess: boolean }> {
  return inSpan(spanOf(parts.lane, delivery), async (span) => {
    const body = JSON.stringify(toldBody(delivery))
    const headers = parts.headersOf(delivery.id, body, new Date(parts.clock.now()))
    if (span) headers.traceparent = span.context.traceparent
    const outcome = await parts.send(parts.lane.url, headers, body)
    span?.set({ 'http.response.status_code': outcome.statusCode ?? undefined })
    if (!isSuccess(outcome)) span?.fail(String(outcome.statusCode ?? 'NO_ANSWER'))
    return { ...(await parts.record(delivery, outcome)), isSuccess: isSuccess(outcome) }
  })
}

/** The first attempt goes on with the trace of the change; one that is repeated, perhaps a day later, begins a trace of its own that knows of the other. */
function spanOf({ environmentId, endpointId }: Lane, { type, attempts, traceparent }: DueDelivery): SpanFacts {
  const change = traceparent === null ? null : { traceparent }
  return {
    name: 'send webhook',
    kind: 'client',
    attributes: {
      'http.request.method': 'POST',
      'http.request.resend_count': attempts,
      'tollgate.environment_id': environmentId,
      'tollgate.endpoint_id': endpointId,
      'tollgate.event_type': type,
    },
    parent: attempts === 0 ? change : null,
    ...(change && attempts > 0 && { links: [change] }),
  }
}

/** Resolves when only so many are left, or after a moment. */
async function untilLeft(held: ReadonlyMap<string, Promise<void>>, count: number): Promise<void> {
  const moment = new AbortController()
  const timer = sleep(lookAgainMs, false, { signal: moment.signal }).catch(() => false)
  while (held.size > count) {
    const isDone = await Promise.race([timer, Promise.race(held.values()).then(() => true)])
    if (!isDone) return
  }
  moment.abort()
}
