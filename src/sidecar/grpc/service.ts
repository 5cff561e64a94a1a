import { type ServerUnaryCall, type ServiceError, type sendUnaryData, status, type UntypedServiceImplementation } from '@grpc/grpc-js'
import type { Clock } from '../../kernel/clock.js'
import { checkRefId, newId } from '../../kernel/id.js'
import { invalidInput, Problem, unavailable } from '../../kernel/problem.js'
import { outcomeUnknownReason, type RefusedItem } from '../../metering/model/problems.js'
import type { SentEvent, SentReport } from '../../reader/api/client.js'
import { fromTime, type ReportUsageJson } from '../../reader/api/messages.js'
import { offlineReason } from '../../reader/source/offline.js'
import type { EntitlementSource } from '../../reader/source/source.js'
import { isKnown, isWhole } from '../../reader/states/cached-state.js'
import type { CacheEntry, Owner } from '../../reader/states/entry.js'
import type { GlobalFallbacks } from '../../reader/states/fallback.js'
import type { FallbackCause } from '../../reader/states/figures.js'
import type { SidecarMetrics } from '../metrics/metrics.js'
import { answerAll, answerFromEntry, answerFromFallback, type Check, type CheckKind, checkKinds, toCheck } from './checks.js'
import { toServiceError } from './errors.js'
import { fromDimensions, fromTimestamp, fromUpdateBehavior, toFreshness, toTimestamp } from './mapping.js'
import type {
  CheckRequest,
  EventMessage,
  OwnerRequest,
  QuestionRequest,
  ReportEventsRequest,
  ReportUsageBulkRequest,
  ReportUsageRequest,
} from './messages.js'
import { accepted } from './proto.js'

interface ServiceParts {
  source: EntitlementSource
  fallbacks: GlobalFallbacks
  clock: Clock
  /** Longest that a call takes when its caller set no deadline. */
  timeoutMs: number
  metrics: SidecarMetrics
}

type Call<Request> = ServerUnaryCall<Request, object>
type Answer = sendUnaryData<object>

/** The gRPC handlers. A check that is answered from the cache makes no promise and reads the clock twice. */
export function sidecarHandlers({ source, fallbacks, clock, timeoutMs, metrics }: ServiceParts): UntypedServiceImplementation {
  /** The answer's callback, with its time taken. */
  const measured = (method: string) => {
    const latency = metrics.rpcSeconds.method(method)
    return (answer: Answer): Answer => {
      const beganAt = performance.now()
      return (error, value) => {
        latency.observe((performance.now() - beganAt) / 1_000)
        if (error) metrics.rpcErrors.inc({ method, code: status[(error as ServiceError).code] })
        answer(error, value)
      }
    }
  }

  const check = (method: string, kind: CheckKind) => {
    const measure = measured(method)
    return (call: Call<CheckRequest>, callback: Answer) => answerCheck(kind, call, measure(callback))
  }

  function answerCheck(kind: CheckKind, call: Call<CheckRequest>, answer: Answer): void {
    try {
      const check = toCheck(kind, accepted(call))
      const { isStrong, maxAgeMs } = toFreshness(call.request)
      const now = clock.now()
      const entry = isStrong ? undefined : source.peek(call.request.customer_id, call.request.resource_id ?? null, now, maxAgeMs)
      if (entry === undefined || isUnknown(entry, call.request))
        void answerLater(check, call).then(
          (bytes) => answer(null, bytes),
          (error) => answer(toServiceError(error)),
        )
      else answer(null, answerFromEntry(check, entry, now) ?? fallBack(check, 'type_mismatch'))
    } catch (error) {
      answer(toServiceError(error))
    }
  }

  async function answerLater(check: Check, call: Call<CheckRequest>): Promise<Buffer> {
    const owner = toOwner(call.request)
    checkRefId(call.request.feature_id, 'feature_id')
    let entry: CacheEntry | null
    try {
      entry = await read(owner, call, call.request.feature_id)
    } catch (error) {
      return fallBack(check, causeOf(error))
    }
    if (entry === null) return fallBack(check, 'offline')
    if (isUnknown(entry, call.request)) return fallBack(check, 'unavailable')
    return answerFromEntry(check, entry, clock.now()) ?? fallBack(check, 'type_mismatch')
  }

  /** What may not be answered as it is cached. Null: nothing is known about anybody (offline). */
  function read(owner: Owner, call: Call<QuestionRequest>, featureId?: string): Promise<CacheEntry | null> {
    const { isStrong, maxAgeMs } = toFreshness(call.request)
    return isStrong ? source.reload(owner, waitMs(call), true) : source.resolve(owner, waitMs(call), maxAgeMs, featureId)
  }

  function fallBack(check: Check, cause: FallbackCause): Buffer {
    metrics.fallbacks[cause]++
    return answerFromFallback(check, fallbacks, cause === 'type_mismatch' ? 'FeatureTypeMismatch' : 'Unknown')
  }

  /** Time to answer a question. */
  const waitMs = (call: Call<object>): number => Math.floor(Math.min(timeoutMs, shortened(Number(call.getDeadline()) - Date.now())))

  /**
   * Has usage sent for as long as the caller waits. What is not known then ends with DEADLINE_EXCEEDED where it was the caller that set the time, else with
   * UNKNOWN. `key`: of all items of the call that had none of their own.
   */
  async function reporting<T>(call: Call<object>, send: (waitMs: number) => Promise<T>, key?: string): Promise<T> {
    const untilDeadline = Number(call.getDeadline()) - Date.now()
    const ms = Number.isFinite(untilDeadline) ? shortened(untilDeadline) : timeoutMs
    try {
      return await send(ms)
    } catch (error) {
      if (!(error instanceof Problem) || error.reason !== outcomeUnknownReason) throw error
      // A refusal, which is the cause then, has ended it before the time was over.
      const code = Number.isFinite(untilDeadline) && error.cause === undefined ? 'DEADLINE_EXCEEDED' : 'UNKNOWN'
      throw new Problem(code, error.reason, error.message, {
        details: key === undefined ? error.details : { ...error.details, idempotencyKey: key },
      })
    }
  }

  const unary = <Request>(method: string, handle: (request: Request, call: Call<Request>) => Promise<object>) => {
    const measure = measured(method)
    return {
      [method]: (call: Call<Request>, callback: Answer) => {
        const answer = measure(callback)
        const answered = async () => handle(accepted(call), call)
        answered().then(
          (response) => answer(null, response),
          (error) => answer(toServiceError(error)),
        )
      },
    }
  }

  return {
    ...Object.fromEntries(Object.entries(checkKinds).map(([method, kind]) => [method, check(method, kind)])),

    ...unary<QuestionRequest>('GetEntitlements', async (request, call) => {
      const owner = toOwner(request)
      const { isStrong, maxAgeMs } = toFreshness(request)
      try {
        const cached = isStrong ? undefined : source.peek(owner.customerId, owner.resourceId, clock.now(), maxAgeMs)
        const entry = cached && isWhole(cached) ? cached : await read(owner, call)
        if (entry === null) return {}
        if (!isWhole(entry)) throw unavailable('The usage of some of what is held is not known here, and the API does not answer.')
        return answerAll(entry, clock.now())
      } catch (error) {
        if (isOffline(error)) return {}
        throw error
      }
    }),

    ...unary<ReportUsageRequest>('ReportUsage', async (request, call) => {
      const report = toReport(request, newId())
      const reported = await reporting(call, (ms) => source.reportUsage(report, ms)).catch(inCall)
      return reported === null ? {} : fromReported(reported)
    }),

    ...unary<ReportUsageBulkRequest>('ReportUsageBulk', async ({ usages }, call) => {
      const key = newId()
      const reports = readAll(usages, key)
      if (reports.length === 0) return { usages: [] }
      const reported = await reporting(call, (ms) => source.reportUsageBulk(reports, ms), key).catch(inUsages)
      return { usages: reported?.map(fromReported) ?? [] }
    }),

    ...unary<ReportEventsRequest>('ReportEvents', async ({ events }, call) => {
      const { readable, positions, refused } = readEvents(events)
      try {
        if (readable.length > 0) await reporting(call, (ms) => source.reportEvents(readable, ms))
      } catch (error) {
        const items = Problem.from(error).details.items as RefusedItem[] | undefined
        if (items === undefined) throw error
        refused.push(...items.map((item) => ({ ...item, index: positions[item.index] ?? item.index })))
      }
      if (refused.length > 0) throw someRefused(refused, events.length)
      return {}
    }),

    ...unary<OwnerRequest>('ReloadEntitlements', async (request, call) => {
      const entry = await source.reload(toOwner(request), waitMs(call))
      return { entitled_entity_exists: entry !== null && isKnown(entry.state) }
    }),
  }
}

/** A little less than the caller waits, so that the answer still reaches it. */
const shortened = (leftMs: number): number => Math.max(0, leftMs - Math.min(50, leftMs / 5))

/** @throws INVALID_ARGUMENT when an identifier is none */
function toOwner({ customer_id, resource_id }: OwnerRequest): Owner {
  return {
    customerId: checkRefId(customer_id, 'customer_id'),
    resourceId: resource_id === undefined ? null : checkRefId(resource_id, 'resource_id'),
  }
}

/**
 * `key`: for a report that has none.
 * @throws INVALID_ARGUMENT for what can't be sent; the API checks the rest
 */
function toReport(request: ReportUsageRequest, key: string): SentReport {
  const report = {
    ...toOwner(request),
    featureId: checkRefId(request.feature_id, 'feature_id'),
    idempotencyKey: request.idempotency_key === undefined ? key : checkRefId(request.idempotency_key, 'idempotency_key'),
    value: request.value,
    updateBehavior: fromUpdateBehavior(request.update_behavior),
    dimensions: Object.keys(request.dimensions).length === 0 ? null : fromDimensions(request.dimensions, 'dimensions'),
    createdAt: fromTimestamp(request.timestamp, 'timestamp'),
  }
  if (!Number.isFinite(report.value)) throw invalidInput('value is not a finite number', { path: 'value' })
  return report
}

/**
 * Those without a key have that of the call, with their position.
 * @throws INVALID_ARGUMENT that names every report that can't be sent: all are to be stored or none
 */
function readAll(usages: readonly ReportUsageRequest[], key: string): SentReport[] {
  const refused: RefusedItem[] = []
  const reports = usages.flatMap((usage, index) => {
    try {
      return toReport(usage, `${key}:${index}`)
    } catch (error) {
      const { reason, message } = Problem.from(error)
      refused.push({ index, code: reason, message })
      return []
    }
  })
  const [first] = refused
  if (first) {
    const message = `${refused.length} of ${usages.length} reports can't be stored, so none was; the first is usages[${first.index}]: ${first.message}`
    throw new Problem('INVALID_ARGUMENT', 'REPORTS_REFUSED', message, { details: { items: refused, list: 'usages' } })
  }
  return reports
}

/** The API counts one report as a list of one; the caller knows of no list. */
function inCall(error: unknown): never {
  const { code, reason, message, details, cause } = Problem.from(error)
  const { items, ...facts } = details
  throw items === undefined ? error : new Problem(code, reason, message, { details: facts, cause })
}

/** The API names reports by their position; the caller knows them as `usages`. */
function inUsages(error: unknown): never {
  const { code, reason, message, details, cause } = Problem.from(error)
  throw details.items === undefined ? error : new Problem(code, reason, message, { details: { ...details, list: 'usages' }, cause })
}

const fromReported = (reported: ReportUsageJson) => ({
  measurement_id: reported.id,
  customer_id: reported.customerId,
  resource_id: reported.resourceId ?? undefined,
  feature_id: reported.featureId,
  current_usage: reported.currentUsage ?? undefined,
  usage_period_start: toTimestamp(fromTime(reported.usagePeriodStart)),
  usage_period_end: toTimestamp(fromTime(reported.usagePeriodEnd)),
})

/** The events that can be sent, where each was in the call, and those that the API's JSON can't carry. The API checks the rest. */
function readEvents(events: readonly EventMessage[]): { readable: SentEvent[]; positions: number[]; refused: RefusedItem[] } {
  const readable: SentEvent[] = []
  const positions: number[] = []
  const refused: RefusedItem[] = []
  for (const [index, event] of events.entries()) {
    try {
      readable.push({
        ...toOwner(event),
        eventName: checkRefId(event.event_name, 'event_name'),
        idempotencyKey: checkRefId(event.idempotency_key, 'idempotency_key'),
        dimensions: fromDimensions(event.dimensions, 'dimensions'),
        timestamp: fromTimestamp(event.timestamp, 'timestamp'),
      })
      positions.push(index)
    } catch (error) {
      const { reason, message } = Problem.from(error)
      refused.push({ index, code: reason, message })
    }
  }
  return { readable, positions, refused }
}

function someRefused(items: RefusedItem[], count: number): Problem {
  items.sort((a, b) => a.index - b.index)
  const [first] = items
  const message = `${items.length} of ${count} events were refused, the others are stored; the first is events[${first?.index}]: ${first?.message}`
  return new Problem('INVALID_ARGUMENT', 'EVENTS_REFUSED', message, { details: { items } })
}

/** Whether the feature is held with a usage that is not known here. */
const isUnknown = ({ state }: CacheEntry, { feature_id }: CheckRequest): boolean => state.unknownFeatureIds?.has(feature_id) ?? false

const isOffline = (error: unknown) => error instanceof Problem && error.reason === offlineReason

function causeOf(error: unknown): FallbackCause {
  if (isOffline(error)) return 'offline'
  const { code } = Problem.from(error)
  if (code === 'UNAVAILABLE') return 'unavailable'
  return code === 'DEADLINE_EXCEEDED' ? 'timeout' : 'error'
}
