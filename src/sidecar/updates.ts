import { type Client, createClient } from 'graphql-ws/client'
import { WebSocket } from 'ws'
import type { Clock } from '../kernel/clock.js'
import type { Secret } from '../platform/config.js'
import type { Logger } from '../platform/logger.js'
import {
  documents,
  type EntitlementsUpdatedJson,
  fromUsageUpdated,
  type StateReader,
  type UsageChange,
  type UsageUpdatedJson,
} from './api-messages.js'
import type { CachedState } from './cache/cache.js'
import type { FreshnessJudge } from './freshness.js'
import type { SidecarMetrics } from './metrics.js'

export interface UpdatesOptions {
  /** ws:// or wss:// */
  url: string
  apiKey: Secret
  /** Told when messages begin and cease to arrive without a gap. */
  judge: FreshnessJudge
  states: StateReader
  onState: (state: CachedState) => void
  onUsage: (change: UsageChange) => void
  clock: Clock
  metrics: SidecarMetrics
  log: Logger
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
 * The real-time connection: one WebSocket with two subscriptions, replaced whenever anything about it fails.
 *
 *   connect ── acknowledged, subscribed, ping ── pong ─▶ an epoch begins: no message is lost from here on
 *   closed, silent, refused, a subscription ended ─────▶ the epoch ends; wait, connect anew
 */
export class RealTimeUpdates {
  readonly #timing: UpdatesTiming
  readonly #stopping = new AbortController()
  readonly #running: Promise<void>

  constructor(private readonly options: UpdatesOptions) {
    this.#timing = { ...defaultTiming, ...options.timing }
    this.#running = this.#run()
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
      if (failures <= 3) log.warn({ reason, code, waitMs }, 'real-time connection lost, connecting again')
      await pause(waitMs, this.#stopping.signal)
    }
  }

  /** One connection, from its beginning to its end. Never rejects. */
  #connect(): Promise<Ending> {
    const { url, apiKey, judge, clock, metrics, log } = this.options
    let client: Client | undefined
    let socket: WebSocket | undefined
    let heardAt = clock.now()
    let hasVouched = false
    let pongTimer: NodeJS.Timeout | undefined

    return new Promise<Ending>((resolve) => {
      let isOver = false
      const end = (reason: string, code?: number) => {
        if (isOver) return
        isOver = true
        clearTimeout(pongTimer)
        this.#stopping.signal.removeEventListener('abort', stop)
        judge.endEpoch(heardAt)
        metrics.isRealTime = false
        client?.terminate()
        // A closing handshake would wait for a peer that may be gone.
        socket?.terminate()
        resolve({ reason, code, hasVouched })
      }
      const stop = () => end('stopping')
      this.#stopping.signal.addEventListener('abort', stop)
      const expectPong = () => {
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
            // After the two subscriptions, which are sent as soon as this event has been handled: the API reads in order.
            setImmediate(() => {
              if (isOver) return
              expectPong()
              socket?.send('{"type":"ping"}')
            })
          },
          ping: (isReceived) => {
            if (!isReceived) expectPong()
          },
          pong: (isReceived) => {
            if (!isReceived || isOver) return
            clearTimeout(pongTimer)
            if (hasVouched) return
            hasVouched = true
            judge.beginEpoch()
            metrics.isRealTime = true
            log.info('real-time connection established')
          },
          message: () => {
            heardAt = clock.now()
          },
          // Comes before the close, and says more.
          error: (error) => end(describe(error)),
          closed: (event) => {
            const { code, reason } = event as { code?: number; reason?: string }
            end(reason || 'closed', code)
          },
        },
      })
      const subscribe = <Data>(query: string, apply: (data: Data) => void) =>
        client?.subscribe<Data>(
          { query },
          {
            next: (result) => {
              const reason = this.#apply(result, apply)
              if (reason !== null) end(reason)
            },
            error: (error) => end(describe(error), (error as { code?: number }).code),
            complete: () => end('the API ended a subscription'),
          },
        )
      subscribe<{ entitlementsUpdated: EntitlementsUpdatedJson | null }>(documents.entitlementsUpdated, ({ entitlementsUpdated: json }) => {
        if (json)
          this.options.onState(this.options.states.state({ customerId: json.customerId, resourceId: json.resourceId ?? null }, json))
      })
      subscribe<{ usageUpdated: UsageUpdatedJson | null }>(documents.usageUpdated, ({ usageUpdated: json }) => {
        if (json) this.options.onUsage(fromUsageUpdated(json))
      })
    })
  }

  /** Null, or why the message could not be used: then something is missed, and the connection can't vouch for the cache any more. */
  #apply<Data>(result: PushResult<Data>, apply: (data: Data) => void): string | null {
    try {
      if (result.errors?.[0] || !result.data) return `the API pushed an error: ${result.errors?.[0]?.message ?? 'no data'}`
      apply(result.data)
      return null
    } catch (error) {
      this.options.log.error({ err: error }, 'could not read a real-time message')
      return 'a message could not be read'
    }
  }
}

/** What one push executed to. */
interface PushResult<Data> {
  data?: Data | null
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
