import { type Client, createClient } from 'graphql-ws/client'
import { WebSocket } from 'ws'
import type { ToldUsage } from '../../changes/model/change.js'
import type { Clock, EpochMs } from '../../kernel/clock.js'
import type { Log } from '../../kernel/log.js'
import type { Secret } from '../../kernel/secret.js'
import { epochOf } from '../../updates/wire/position.js'
import type { CachedState } from '../states/entry.js'
import type { ReaderMetrics } from '../states/figures.js'
import type { FreshnessJudge } from '../states/freshness.js'
import { documents, fromStateChange, type StateChangeJson, type StateReader } from './messages.js'

interface UpdatesOptions {
  /** ws:// or wss:// */
  url: string
  apiKey: Secret
  /** Told when messages begin and cease to arrive without a gap. */
  judge: FreshnessJudge
  states: StateReader
  onState: (state: CachedState) => void
  onUsage: (change: ToldUsage) => void
  /** Something about the customer changed after that instant, and the message does not say what. */
  onUnknown: (customerId: string, since: EpochMs) => void
  /** The API has refused the key. */
  hearKey: (isTaken: boolean) => void
  clock: Clock
  metrics: ReaderMetrics
  log: Log
  /** Tests shorten them. */
  timing?: Partial<UpdatesTiming>
}

export interface UpdatesTiming {
  /** First wait before connecting again; doubles up to the longest, each time shortened by up to a half at random. */
  shortestRetryMs: number
  longestRetryMs: number
  /** Silence after which the API is asked for a sign of life, and how long it may take: finds half-open connections. */
  pingAfterMs: number
  pongWithinMs: number
}

const defaultTiming: UpdatesTiming = { shortestRetryMs: 250, longestRetryMs: 30_000, pingAfterMs: 10_000, pongWithinMs: 5_000 }

/** The API closes with this code when it refuses the key: trying soon again is of no use. */
const keyRefused = 4403

/** A connection that does not come about in this time is given up. */
const connectTimeoutMs = 10_000
const largestMessageBytes = 32 * 1024 * 1024

/**
 * The real-time connection: one WebSocket, replaced whenever anything about it fails. Two subscriptions: what happens from now on, and for a moment
 * what was missed since the last change seen. The first is the same for all sidecars, so the platform makes its messages once for all of them.
 *
 *   connect ── subscribed ── what was missed ──┬ caught up ─▶ the epoch goes on: what is cached is as good as before
 *                                              └ gap ───────▶ a new epoch begins: what is cached is refreshed at its next use
 *   closed, silent, refused, a subscription ended ──────────▶ the epoch ends; wait, connect anew
 */
export class RealTimeUpdates {
  readonly #timing: UpdatesTiming
  readonly #stopping = new AbortController()
  readonly #running: Promise<void>
  /** The last change that was applied with all before it; empty: none, or one of them could not be read. */
  #position = ''

  constructor(private readonly options: UpdatesOptions) {
    this.#timing = { ...defaultTiming, ...options.timing }
    this.#running = this.#run()
  }

  /** From one question to the latest answer to the next one. */
  get #provenMs(): number {
    return this.#timing.pingAfterMs + 2 * this.#timing.pongWithinMs
  }

  async close(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { log } = this.options
    let failures = 0
    while (!this.#stopping.signal.aborted) {
      const { reason, code, hasVouched } = await this.#connect()
      if (this.#stopping.signal.aborted) break
      failures = hasVouched ? 1 : failures + 1
      const { shortestRetryMs, longestRetryMs } = this.#timing
      const limitMs = code === keyRefused ? longestRetryMs : Math.min(longestRetryMs, shortestRetryMs * 2 ** (failures - 1))
      const waitMs = Math.round(limitMs * (0.5 + Math.random() / 2))
      // An API that is down for hours is worth a few lines, not thousands.
      if (code === keyRefused) this.options.hearKey(false)
      else if (failures <= 3) log.warn({ reason, code, waitMs }, 'real-time connection lost, connecting again')
      await pause(waitMs, this.#stopping.signal)
    }
  }

  /** One connection, from its beginning to its end. Never rejects. */
  #connect(): Promise<Ending> {
    const { url, apiKey, judge, clock, metrics, log } = this.options
    let client: Client | undefined
    let socket: WebSocket | undefined
    let askedAt = clock.now()
    let hasVouched = false
    let pongTimer: NodeJS.Timeout | undefined

    return new Promise<Ending>((resolve) => {
      let isOver = false
      const end = (reason: string, code?: number) => {
        if (isOver) return
        isOver = true
        clearTimeout(pongTimer)
        this.#stopping.signal.removeEventListener('abort', stop)
        judge.endEpoch()
        metrics.isRealTime = false
        client?.terminate()
        // A closing handshake would wait for a peer that may be gone.
        socket?.terminate()
        resolve({ reason, code, hasVouched })
      }
      const stop = () => end('stopping')
      this.#stopping.signal.addEventListener('abort', stop)
      const expectPong = () => {
        askedAt = clock.now()
        clearTimeout(pongTimer)
        pongTimer = setTimeout(() => end('no sign of life'), this.#timing.pongWithinMs)
      }

      client = createClient({
        url,
        webSocketImpl: socketClass((created) => {
          socket = created
        }),
        connectionParams: { headers: { 'X-API-KEY': apiKey.reveal() } },
        connectionAckWaitTimeout: connectTimeoutMs,
        keepAlive: this.#timing.pingAfterMs,
        // Connecting again is done here, the same way for everything that can fail.
        retryAttempts: 0,
        on: {
          connected: () => {
            // Told what was missed, the API has received the subscriptions; until then the same patience as with a ping.
            expectPong()
          },
          ping: (isReceived) => {
            if (!isReceived) expectPong()
          },
          pong: (isReceived) => {
            if (!isReceived || !hasVouched) return
            clearTimeout(pongTimer)
            judge.prove(askedAt, askedAt + this.#provenMs)
          },
          // Comes before the close, and says more.
          error: (error) => end(describe(error)),
          closed: (event) => {
            const { code, reason } = event as { code?: number; reason?: string }
            end(reason || 'closed', code)
          },
        },
      })
      const subscribe = (
        query: string,
        variables: Record<string, unknown>,
        apply: (change: StateChangeJson) => string | null,
        isEndless: boolean,
      ) =>
        client?.subscribe<{ stateChanges: StateChangeJson | null }>(
          { query, variables },
          {
            next: (result) => {
              if (isOver) return
              const reason = this.#apply(result, apply)
              if (reason !== null) end(reason)
            },
            error: (error) => end(describe(error), (error as { code?: number }).code),
            complete: () => isEndless && end('the API ended the subscription'),
          },
        )
      /** The last one heard live; what was missed before it may not have been told yet. */
      let latest = ''
      subscribe(
        documents.stateChanges,
        {},
        (change) => {
          if (hasVouched && isOfAnother(change.id, this.#position)) return this.#startAfresh(otherEpoch)
          this.#applyChange(change)
          latest = change.id
          if (hasVouched) this.#position = latest
          return null
        },
        true,
      )
      const missed = new Set<string>()
      const stopCatchingUp = subscribe(
        documents.missedChanges,
        { after: this.#position },
        (change) => {
          // From here on the other subscription tells the same.
          if (hasVouched) return null
          if (change.kind !== 'CAUGHT_UP' && change.kind !== 'GAP') {
            if (change.customerId !== null) missed.add(change.customerId)
            return null
          }
          if (latest !== '' && isOfAnother(latest, change.id)) return this.#startAfresh(otherEpoch)
          hasVouched = true
          clearTimeout(pongTimer)
          const knownUntil = judge.provenAt
          judge.prove(askedAt, askedAt + this.#provenMs)
          if (change.kind === 'GAP') judge.beginEpoch()
          else {
            // In one step: what has changed is suspect as soon as everything else is trusted again, and is read in this epoch. It changed after the last proof.
            judge.resumeEpoch()
            for (const customerId of missed) this.options.onUnknown(customerId, knownUntil)
          }
          this.#position = latest || change.id
          metrics.isRealTime = true
          metrics.reconnections[change.kind === 'GAP' ? 'gap' : 'caught_up']++
          log.info({ hasGap: change.kind === 'GAP' }, 'real-time connection established')
          stopCatchingUp?.()
          return null
        },
        false,
      )
    })
  }

  #applyChange(change: StateChangeJson): void {
    const { kind, customerId, resourceId, version, accessDeniedReason, entitlements, validUntil, next } = change
    // A change of the catalog: whom it concerns is told by changes of their own.
    if (customerId === null) return
    const usage = kind === 'USAGE' ? fromStateChange(change) : null
    if ((kind === 'STATE' || kind === 'PURGE') && entitlements !== null)
      this.options.onState(
        this.options.states.state({ customerId, resourceId }, { accessDeniedReason, entitlements, validUntil, next }, version ?? 0),
      )
    else if (usage) this.options.onUsage(usage)
    else this.options.onUnknown(customerId, this.options.clock.now())
  }

  /** Null, or why the message could not be used: then something is missed, and the connection can't vouch for the cache any more. */
  #apply(result: PushResult, apply: (change: StateChangeJson) => string | null): string | null {
    try {
      const change = result.errors?.[0] ? undefined : result.data?.stateChanges
      return change ? apply(change) : this.#startAfresh(`the API pushed an error: ${result.errors?.[0]?.message ?? 'no data'}`)
    } catch (error) {
      this.options.log.error({ err: error }, 'could not read a real-time message')
      return this.#startAfresh('a message could not be read')
    }
  }

  /** The next connection is told of a gap. Answers the reason. */
  #startAfresh(reason: string): string {
    this.#position = ''
    return reason
  }
}

const otherEpoch = 'the platform may have lost changes'

/** Of another epoch of the platform: what was heard before is not vouched for any more. */
const isOfAnother = (position: string, known: string): boolean => epochOf(position) !== epochOf(known)

/** What one push executed to. */
interface PushResult {
  data?: { stateChanges: StateChangeJson | null } | null
  errors?: ReadonlyArray<{ message: string }>
}

interface Ending {
  reason: string
  code: number | undefined
  /** Whether it came so far that an epoch began. */
  hasVouched: boolean
}

/** The client makes its socket itself; this is how to get hold of it. */
function socketClass(onCreated: (socket: WebSocket) => void) {
  return class extends WebSocket {
    constructor(url: string, protocols: string) {
      super(url, protocols, { handshakeTimeout: connectTimeoutMs, perMessageDeflate: false, maxPayload: largestMessageBytes })
      // The client stops listening before a terminated socket has told its last error, which would then end the process.
      this.on('error', () => {})
      onCreated(this)
    }
  }
}

function describe(error: unknown): string {
  if (error instanceof Error) return error.message
  if (Array.isArray(error)) return `the API refused a subscription: ${(error as Array<{ message?: string }>)[0]?.message ?? 'no message'}`
  const { reason, message, code } = error as { reason?: string; message?: string; code?: number }
  return reason || message || `closed with ${code ?? 'no code'}`
}

/** Resolves after the time, or as soon as the signal aborts. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', done)
  })
}
