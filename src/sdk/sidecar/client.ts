import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ChannelCredentials, Client, Metadata, type ServiceError, status } from '@grpc/grpc-js'
import type {
  BooleanEntitlement,
  CallOptions,
  Check,
  CheckQuestion,
  Entitlement,
  Entitlements,
  EnumEntitlement,
  EnumQuestion,
  Fallback,
  Freshness,
  MeteredEntitlement,
  MeteredQuestion,
  NumericEntitlement,
  Owner,
  ReportedUsage,
  UsageEvent,
  UsageReport,
} from '../types.js'
import { SidecarError } from './error.js'
import * as wire from './wire.js'

export interface ClientOptions {
  /** As gRPC has it: `host:port` or `unix:/path`. */
  address: string
  credentials: ChannelCredentials
  /** Longest wait for an answer. */
  timeoutMs: number
  /** Feature identifier to the answer when the sidecar cannot be asked. */
  fallbacks: Readonly<Record<string, Fallback>>
}

/** Between two attempts to report. */
const firstPauseMs = 50

/** A sidecar that comes back is found soon. */
const channelOptions = {
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.min_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1_000,
  'grpc.keepalive_time_ms': 30_000,
  'grpc.keepalive_timeout_ms': 10_000,
  'grpc.max_receive_message_length': 32 * 1024 * 1024,
}

/**
 * Asks a sidecar. Checks always answer: when the sidecar is gone or too slow, the call's fallback does, else the client's, else access is denied.
 * All other methods fail with a SidecarError.
 */
export class SidecarClient {
  readonly #options: ClientOptions
  readonly #client: Client

  constructor(options: ClientOptions) {
    this.#options = options
    this.#client = new Client(options.address, options.credentials, channelOptions)
  }

  /** Resolves when the sidecar answers. Fails with DEADLINE_EXCEEDED when it does not in time. */
  ready(timeoutMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#client.waitForReady(Date.now() + timeoutMs, (error) =>
        error ? reject(new SidecarError('DEADLINE_EXCEEDED', `The sidecar is not ready after ${timeoutMs} ms`)) : resolve(),
      )
    })
  }

  getBooleanEntitlement(question: CheckQuestion): Promise<Check<BooleanEntitlement>> {
    return this.#check('GetBooleanEntitlement', question, {}, ({ entitlement }) => entitlement && wire.toBoolean(entitlement))
  }

  getNumericEntitlement(question: CheckQuestion): Promise<Check<NumericEntitlement>> {
    return this.#check('GetNumericEntitlement', question, {}, ({ entitlement }) => entitlement && wire.toNumeric(entitlement))
  }

  getMeteredEntitlement({ requestedUsage, ...question }: MeteredQuestion): Promise<Check<MeteredEntitlement>> {
    return this.#check(
      'GetMeteredEntitlement',
      question,
      { requestedUsage },
      ({ entitlement }) => entitlement && wire.toMetered(entitlement),
    )
  }

  getEnumEntitlement({ requestedValues, ...question }: EnumQuestion): Promise<Check<EnumEntitlement>> {
    return this.#check('GetEnumEntitlement', question, { requestedValues }, ({ entitlement }) => entitlement && wire.toEnum(entitlement))
  }

  /** Checks a feature of whatever type. A fallback has no entitlement then: nobody knows of which type. */
  getEntitlement({ requestedUsage, requestedValues, ...question }: MeteredQuestion & EnumQuestion): Promise<Check<Entitlement>> {
    return this.#check('GetEntitlement', question, { requestedUsage, requestedValues }, (answer) => wire.toEntitlement(answer))
  }

  /** Those that give access; a metered one whose limit is reached is among them. */
  async getEntitlements({ timeoutMs, consistency, maxStalenessMs, ...owner }: Owner & CallOptions & Freshness): Promise<Entitlements> {
    const request = { ...owner, ...wire.fromFreshness({ consistency, maxStalenessMs }) }
    const answer = await this.#call<{ entitlements: object[]; accessDeniedReason?: string }>('GetEntitlements', request, timeoutMs)
    return {
      entitlements: answer.entitlements.flatMap((entitlement) => wire.toEntitlement(entitlement) ?? []),
      accessDeniedReason: wire.toReason(answer.accessDeniedReason),
    }
  }

  /** Answers when the usage is stored. Sends it again by itself, under one key, while there is time; the error says what became of it. */
  async reportUsage({ timeoutMs, ...report }: UsageReport & CallOptions): Promise<ReportedUsage> {
    const keyed = withKey(report)
    return wire.toReported(await this.#report<wire.ReportedMessage>('ReportUsage', wire.fromReport(keyed), [keyed], timeoutMs))
  }

  /** The same of several. Answers in their order when all of them are stored; all are or none. */
  async reportUsageBulk(reports: readonly UsageReport[], { timeoutMs }: CallOptions = {}): Promise<ReportedUsage[]> {
    const keyed = reports.map(withKey)
    const request = { usages: keyed.map(wire.fromReport) }
    const { usages } = await this.#report<{ usages: wire.ReportedMessage[] }>('ReportUsageBulk', request, keyed, timeoutMs)
    return usages.map(wire.toReported)
  }

  /** Answers when all events are stored. When some are refused the others are stored all the same; the error says which. Safe to repeat. */
  async reportEvents(events: readonly UsageEvent[], { timeoutMs }: CallOptions = {}): Promise<void> {
    await this.#report('ReportEvents', { events: events.map(wire.fromEvent) }, events, timeoutMs)
  }

  /** Fetches the entitlements anew; false when the customer, or its resource, is unknown. */
  async reloadEntitlements({ timeoutMs, ...owner }: Owner & CallOptions): Promise<boolean> {
    return (await this.#call<{ entitledEntityExists: boolean }>('ReloadEntitlements', owner, timeoutMs)).entitledEntityExists
  }

  async close(): Promise<void> {
    this.#client.close()
  }

  async #check<E>(
    method: string,
    { fallback, timeoutMs, consistency, maxStalenessMs, ...question }: CheckQuestion,
    asked: object,
    entitlementOf: (answer: wire.CheckMessage) => E | null | undefined,
  ): Promise<Check<E>> {
    const options = { ...asked, ...(fallback ? { fallback: { ...fallback, value: fallback.usageLimit } } : {}) }
    const request = { ...question, options, ...wire.fromFreshness({ consistency, maxStalenessMs }) }
    try {
      const answer = await this.#call<wire.CheckMessage>(method, request, timeoutMs)
      const { hasAccess, isFallback, accessDeniedReason } = answer
      return { hasAccess, isFallback, accessDeniedReason: wire.toReason(accessDeniedReason), entitlement: entitlementOf(answer) ?? null }
    } catch (error) {
      // What the caller got wrong would be wrong with a fallback too.
      if (error instanceof SidecarError && error.code === 'INVALID_ARGUMENT') throw error
      const chosen = fallback ?? this.#options.fallbacks[question.featureId]
      const hasAccess = chosen?.hasAccess ?? false
      const entitlement = chosen ? (entitlementOf({ hasAccess, isFallback: true, entitlement: wire.fromFallback(chosen) }) ?? null) : null
      return { hasAccess, isFallback: true, accessDeniedReason: hasAccess ? null : 'UNKNOWN', entitlement }
    }
  }

  /** Repeats what was not refused, and may go well, while there is time. */
  async #report<Answer>(
    method: string,
    request: object,
    items: readonly { idempotencyKey: string }[],
    timeoutMs = this.#options.timeoutMs,
  ): Promise<Answer> {
    const until = performance.now() + timeoutMs
    let isUnknown = false
    for (let pauseMs = firstPauseMs; ; pauseMs *= 2) {
      try {
        return await this.#call<Answer>(method, request, until - performance.now())
      } catch (error) {
        const failure = error as SidecarError
        isUnknown ||= mayBeCounted(failure)
        if (isRefusal(failure) || !repeated.has(failure.code) || performance.now() + pauseMs >= until) {
          // That this attempt was refused says nothing of those before it.
          const outcome = isUnknown ? 'unknown' : 'notCounted'
          const code = outcome === 'unknown' && failure.code !== 'DEADLINE_EXCEEDED' ? 'UNKNOWN' : failure.code
          throw new SidecarError(code, failure.message, failure.cause, {
            outcome,
            idempotencyKeys: items.map((item) => item.idempotencyKey),
          })
        }
      }
      await sleep(pauseMs)
    }
  }

  #call<Answer>(method: string, request: object, timeoutMs = this.#options.timeoutMs): Promise<Answer> {
    const { path, requestSerialize, responseDeserialize } = wire.service[method]!
    return new Promise((resolve, reject) => {
      const options = { deadline: Date.now() + timeoutMs }
      this.#client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, new Metadata(), options, (error, answer) => {
        if (error) reject(toSidecarError(error))
        else resolve(answer as Answer)
      })
    })
  }
}

const withKey = <Report extends UsageReport>(report: Report) => ({ ...report, idempotencyKey: report.idempotencyKey ?? randomUUID() })

/** What may go well when it is sent again at once. */
const repeated = new Set(['UNAVAILABLE', 'UNKNOWN'])
const refusals = new Set(['ALREADY_EXISTS', 'FAILED_PRECONDITION', 'INVALID_ARGUMENT', 'NOT_FOUND'])
/** Said by whoever has not taken the call. */
const notTaken = new Set([...refusals, 'PERMISSION_DENIED', 'RESOURCE_EXHAUSTED', 'UNAUTHENTICATED', 'UNIMPLEMENTED'])

const isRefusal = ({ code }: SidecarError): boolean => refusals.has(code)

/** UNAVAILABLE is said by a sidecar that has counted nothing, and by gRPC itself: also where a connection broke on which the call had been sent. */
function mayBeCounted({ code, cause }: SidecarError): boolean {
  if (notTaken.has(code)) return false
  const { metadata, details } = cause as ServiceError
  const isOfSidecar = metadata.get('grpc-status-details-bin').length > 0
  return code !== 'UNAVAILABLE' || !(isOfSidecar || details.includes('No connection established'))
}

function toSidecarError(error: ServiceError): SidecarError {
  return new SidecarError(status[error.code] ?? 'UNKNOWN', error.details, error)
}
