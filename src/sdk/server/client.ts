import { isKnown } from '../../reader/states/cached-state.js'
import type { ReaderFigures } from '../../reader/states/figures.js'
import { toTollgateError } from '../error.js'
import type * as sdk from '../types.js'
import { Checks, toFallback, toOwner } from './checks.js'
import { EventBuffer } from './event-buffer.js'
import { ClientMetrics } from './figures.js'
import { type Opened, open } from './open.js'
import { Operations } from './operations/operations.js'
import { type ClientOptions, defaults } from './options.js'
import { PendingUsage } from './pending-usage.js'
import { type NewEvent, Reports } from './reports.js'

/** What a client has counted since it was made. */
export interface Figures extends Pick<ReaderFigures, 'lookups' | 'fallbacks' | 'isRealTime' | 'externalCacheFailures'> {
  cacheEntries: number
  /** Tracked and not acknowledged yet. */
  bufferedEvents: number
  /** Estimated. */
  cacheBytes: number
}

/**
 * Answers checks in this process. Checks always answer: when nothing is known, the fallback of the call does, else that of the client, else access is denied.
 * All other methods fail with a TollgateError. Made by `createClient`.
 */
export class TollgateClient extends Operations {
  readonly #opened: Opened
  readonly #metrics: ClientMetrics
  readonly #checks: Checks
  readonly #reports: Reports
  readonly #events: EventBuffer
  readonly #timeoutMs: number

  constructor(options: ClientOptions, opened: Opened, metrics: ClientMetrics) {
    const { hooks = {}, timeoutMs = defaults.timeoutMs, entitlementsFallback = {} } = options
    super(opened)
    const { source, clock } = opened
    const pending = new PendingUsage()
    const fallbacks = new Map(Object.entries(entitlementsFallback).map(([featureId, fallback]) => [featureId, toFallback(fallback)]))
    this.#opened = opened
    this.#metrics = metrics
    this.#timeoutMs = timeoutMs
    this.#checks = new Checks({ source, fallbacks, clock, metrics, timeoutMs, pending, hooks })
    const reports = new Reports({ source, timeoutMs, pending, isOptimistic: options.optimisticUsage === true })
    this.#reports = reports
    this.#events = new EventBuffer({
      options: { ...defaults.eventBuffer, ...options.eventBuffer },
      send: (events, waitMs) => reports.sendEvents(events, waitMs),
      hooks,
    })
  }

  getBooleanEntitlement(question: sdk.CheckQuestion): Promise<sdk.Check<sdk.BooleanEntitlement>> {
    return this.#checks.ask('boolean', question) as Promise<sdk.Check<sdk.BooleanEntitlement>>
  }

  getNumericEntitlement(question: sdk.CheckQuestion): Promise<sdk.Check<sdk.NumericEntitlement>> {
    return this.#checks.ask('numeric', question) as Promise<sdk.Check<sdk.NumericEntitlement>>
  }

  getMeteredEntitlement(question: sdk.MeteredQuestion): Promise<sdk.Check<sdk.MeteredEntitlement>> {
    return this.#checks.ask('metered', question) as Promise<sdk.Check<sdk.MeteredEntitlement>>
  }

  getEnumEntitlement(question: sdk.EnumQuestion): Promise<sdk.Check<sdk.EnumEntitlement>> {
    return this.#checks.ask('enum', question) as Promise<sdk.Check<sdk.EnumEntitlement>>
  }

  /** Checks a feature of whatever type. A fallback has no entitlement then: nobody knows of which type. */
  getEntitlement(question: sdk.MeteredQuestion & sdk.EnumQuestion): Promise<sdk.Check<sdk.Entitlement>> {
    return this.#checks.ask(undefined, question) as Promise<sdk.Check<sdk.Entitlement>>
  }

  /** Those that give access; a metered one whose limit is reached is among them. Fails when nothing is known. */
  getEntitlements(question: sdk.Owner & sdk.CallOptions & sdk.Freshness): Promise<sdk.Entitlements> {
    return this.#checks.list(question)
  }

  /** Answers when the usage is stored; checks of this client see it then. Sends it again by itself, under one key; the error says what became of it. */
  reportUsage(report: sdk.UsageReport & sdk.CallOptions): Promise<sdk.ReportedUsage> {
    return this.#reports.reportUsage(report)
  }

  /** The same of several. Answers in their order when all of them are stored; all are or none. */
  reportUsageBulk(reports: readonly sdk.UsageReport[], options?: sdk.CallOptions): Promise<sdk.ReportedUsage[]> {
    return this.#reports.reportUsageBulk(reports, options)
  }

  /** Answers when the event is stored. */
  reportEvent({ timeoutMs, ...event }: NewEvent & sdk.CallOptions): Promise<void> {
    return this.#reports.reportEvents([event], timeoutMs === undefined ? {} : { timeoutMs })
  }

  /** Answers when all events are stored. When some are refused the others are stored all the same; the error says which. Safe to repeat. */
  reportEvents(events: readonly NewEvent[], options?: sdk.CallOptions): Promise<void> {
    return this.#reports.reportEvents(events, options)
  }

  /**
   * Takes events to be sent some at a time, in the background, and answers how many were taken: the others found the buffer full, and the hook `eventsDropped` is
   * told of them. Fails with a TollgateError on an event that is none; none is taken then. Checks see them as soon as the platform has counted them.
   */
  trackEvents(events: readonly NewEvent[]): number {
    return this.#events.take(events)
  }

  /** Resolves when all tracked events are acknowledged, or refused. Fails when the API takes none now: they stay in the buffer. */
  flush({ timeoutMs }: sdk.CallOptions = {}): Promise<void> {
    return this.#events.flush(timeoutMs)
  }

  /** Fetches the entitlements anew; false when the customer, or its resource, is unknown. */
  async reloadEntitlements({ timeoutMs = this.#timeoutMs, ...owner }: sdk.Owner & sdk.CallOptions): Promise<boolean> {
    try {
      const entry = await this.#opened.source.reload(toOwner(owner), timeoutMs)
      return entry !== null && isKnown(entry.state)
    } catch (error) {
      throw toTollgateError(error)
    }
  }

  figures(): Figures {
    const { lookups, fallbacks, isRealTime, externalCacheFailures } = this.#metrics
    const { cache } = this.#opened
    return {
      lookups: { ...lookups },
      fallbacks: { ...fallbacks },
      isRealTime,
      externalCacheFailures,
      bufferedEvents: this.#events.size,
      cacheEntries: cache?.entryCount ?? 0,
      cacheBytes: cache?.sizeBytes ?? 0,
    }
  }

  /** Sends the tracked events that wait, as far as the API takes them in the time (default: that of a call), and closes all connections. */
  async close({ timeoutMs = this.#timeoutMs }: sdk.CallOptions = {}): Promise<void> {
    await this.#events.close(timeoutMs)
    await this.#opened.close()
  }
}

/** Fails only on options that are none: a platform that is away is waited for by nobody, and checks answer their fallbacks until it is there. */
export async function createClient(options: ClientOptions): Promise<TollgateClient> {
  const metrics = new ClientMetrics(options.hooks ?? {})
  return new TollgateClient(options, await open(options, metrics), metrics)
}
