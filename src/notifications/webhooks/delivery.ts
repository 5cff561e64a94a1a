import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import { Webhook } from 'standardwebhooks'
import { byRule } from '../../audit/record/origin.js'
import { recordEvents } from '../../changes/events.js'
import type { Clock } from '../../kernel/clock.js'
import { Gatherer } from '../../platform/gatherer.js'
import type { Logger } from '../../platform/logger.js'
import { Counter, Gauge, Histogram, latencyBuckets, type Registry } from '../../platform/metrics.js'
import type { PrismaClient } from '../../platform/postgres.js'
import { inPoolTransaction, inTransaction } from '../../platform/transaction.js'
import { requestsAtOnce, type Sender } from './attempt.js'
import { runLane } from './lane.js'
import { disableEndpoint } from './records/endpoints.js'
import {
  type Consequence,
  clearFailures,
  countFailure,
  countWaiting,
  type DueDelivery,
  extendLeases,
  findDue,
  type Lane,
  leaseLanes,
  letRest,
  type MadeAttempt,
  recordAttempts,
  releaseLane,
} from './records/lanes.js'
import { type DisabledReason, shownUrl } from './rules/endpoint.js'
import { withTheirShare } from './rules/lane-shares.js'
import { type AttemptOutcome, disabledAfterMs, isGone, isSuccess, nextPauseMs, restMs, restsAfter, retryAfterMs } from './rules/schedule.js'
import { type Sealing, sealedFor } from './secrets.js'

/** Longer than an attempt takes to be missed: a worker that is gone holds up its endpoints no longer than that. */
const leaseSeconds = 12
export const extendIntervalMs = 3_000
/** A lane makes room for others after so long. */
const turnMs = 10_000
/** Of the lanes, for endpoints that have failed again and again: however many are dead, others have lanes. */
const doubtfulShare = 0.5
/** For a secret that cannot be decrypted: somebody has to put that right. */
const undecipherableRestMs = 60_000
/** What is shown of what waits stops there: counting more takes time. */
const mostCounted = 250_000

interface RunningLane {
  lane: Lane
  done: Promise<void>
  isLost: boolean
  until: number
}

/**
 * Sends events to endpoints, a lane for each: a slow endpoint takes its own lane's time. Several processes share the endpoints by leases. What is not recorded is made
 * again, so a receiver hears of each event at least once, with one id.
 */
export class WebhookDelivery {
  readonly #pool: pg.Pool
  readonly #prisma: PrismaClient
  readonly #sender: Sender
  readonly #sealing: Sealing
  readonly #clock: Clock
  readonly #log: Logger
  readonly #mostLanes: number
  readonly #worker = randomUUID()
  readonly #lanes = new Map<string, RunningLane>()
  readonly #attempts: Counter
  readonly #disabled: Counter
  readonly #duration: Histogram
  readonly #cut = new AbortController()
  /** Those that have succeeded: a commit for each would be half of what the database does for them. */
  readonly #recording: Gatherer<MadeAttempt & { lane: Lane }>
  #isStopping = false

  constructor(parts: {
    pool: pg.Pool
    prisma: PrismaClient
    sender: Sender
    sealing: Sealing
    /** The database's. */
    clock: Clock
    log: Logger
    metrics: Registry
    /** Endpoints that are sent to at the same time. */
    lanes: number
  }) {
    this.#pool = parts.pool
    this.#prisma = parts.prisma
    this.#sender = parts.sender
    this.#sealing = parts.sealing
    this.#clock = parts.clock
    this.#log = parts.log
    this.#mostLanes = parts.lanes
    this.#recording = new Gatherer(requestsAtOnce, (_, made) => recordAttempts(parts.pool, made[0]!.lane, made))
    this.#attempts = new Counter({
      name: 'tollgate_webhook_attempts_total',
      help: 'Attempts at deliveries to webhook endpoints, by what became of them',
      labelNames: ['outcome'],
      registers: [parts.metrics],
    })
    this.#disabled = new Counter({
      name: 'tollgate_webhook_endpoints_disabled_total',
      help: 'Webhook endpoints that were disabled for what they answered, by reason',
      labelNames: ['reason'],
      registers: [parts.metrics],
    })
    this.#duration = new Histogram({
      name: 'tollgate_webhook_attempt_seconds',
      help: 'From the beginning of an attempt to the answer of the endpoint',
      buckets: [...latencyBuckets, 15],
      registers: [parts.metrics],
    })
    this.#showWaiting(parts.metrics)
  }

  #showWaiting(metrics: Registry): void {
    const pool = this.#pool
    new Gauge({
      name: 'tollgate_webhook_lanes',
      help: 'Webhook endpoints that are sent to now',
      registers: [metrics],
      collect: () => lanes.set(this.#lanes.size),
    })
    const lanes = metrics.getSingleMetric('tollgate_webhook_lanes') as Gauge
    const lag = new Gauge({
      name: 'tollgate_webhook_lag_seconds',
      help: 'Age of the oldest delivery that is due, of endpoints whose last attempt succeeded; 0 when there is none',
      registers: [metrics],
    })
    new Gauge({
      name: 'tollgate_webhook_deliveries_pending',
      help: 'Deliveries that wait for an attempt, as far as 250,000 are counted',
      registers: [metrics],
      async collect() {
        // A database that is away leaves the last value: the scrape must not fail for it.
        await countWaiting(pool, mostCounted).then(
          ({ pending, lagSeconds }) => {
            this.set(pending)
            lag.set(lagSeconds)
          },
          () => undefined,
        )
      },
    })
  }

  /** Begins with endpoints that have something due, as many as there is room for: half of it at a time, so that whose lanes they are is looked at in between. */
  async takeLanes(): Promise<void> {
    for (;;) {
      const room = this.#mostLanes - this.#lanes.size
      if (this.#isStopping || room <= 0) return
      const running = [...this.#lanes.values()].map(({ lane }) => lane)
      const doubted = running.filter(({ failuresInRow }) => restsAfter(failuresInRow)).length
      const doubtful = Math.max(0, Math.max(1, Math.floor(this.#mostLanes * doubtfulShare)) - doubted)
      const limit = Math.ceil(room / 2)
      const without = withTheirShare(
        running.map(({ environmentId }) => environmentId),
        this.#mostLanes,
      )
      const leased = await leaseLanes(this.#pool, { worker: this.#worker, limit, doubtful, without, seconds: leaseSeconds })
      for (const lane of leased) this.#begin(lane)
      if (leased.length < limit) return
    }
  }

  /** Keeps the endpoints that are being sent to; those that were lost, paused or deleted are left after the attempts under way. */
  async extendLanes(): Promise<void> {
    if (this.#lanes.size === 0) return
    const kept = await extendLeases(this.#pool, this.#worker, [...this.#lanes.keys()], leaseSeconds)
    for (const [endpointId, running] of this.#lanes) if (!kept.has(endpointId)) running.isLost = true
  }

  /** Begins nothing new; attempts under way have so long to end, and are made again by others if they do not. */
  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true
    const timer = setTimeout(() => this.#cut.abort(), graceMs)
    await Promise.all([...this.#lanes.values()].map(({ done }) => done))
    clearTimeout(timer)
  }

  #begin(lane: Lane): void {
    const running: RunningLane = { lane, done: Promise.resolve(), isLost: false, until: performance.now() + turnMs }
    running.done = this.#run(running)
      .catch((error: unknown) => this.#log.warn({ err: error, endpointId: lane.endpointId }, 'webhook lane failed, trying again'))
      .then(() => releaseLane(this.#pool, this.#worker, lane))
      .catch((error: unknown) => this.#log.warn({ err: error, endpointId: lane.endpointId }, 'webhook lane was not released'))
      .finally(() => this.#lanes.delete(lane.endpointId))
    this.#lanes.set(lane.endpointId, running)
  }

  async #run(running: RunningLane): Promise<void> {
    const { lane } = running
    const signers = await this.#signersOf(lane)
    if (!signers) return
    await runLane({
      lane,
      clock: this.#clock,
      isDoubtful: restsAfter(lane.failuresInRow),
      isStopped: () => this.#isStopping || running.isLost || performance.now() > running.until,
      findDue: (without, limit, maxBytes) => findDue(this.#pool, lane, { without, limit, maxBytes }),
      headersOf: (id, body, at) => ({
        'content-type': 'application/json',
        'user-agent': 'Tollgate-Webhooks/1',
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
        'webhook-signature': signers.map((signer) => signer.sign(id, at, body)).join(' '),
      }),
      send: (url, headers, body) => this.#sender.send(url, headers, body, this.#cut.signal),
      record: (delivery, outcome) => this.#record(lane, delivery, outcome),
    })
  }

  /** Null: they cannot be decrypted. */
  async #signersOf(lane: Lane): Promise<Webhook[] | null> {
    try {
      const secrets = [lane.secret, ...lane.formerSecrets]
      return secrets.map((secret) => new Webhook(this.#sealing.open(secret, sealedFor(lane.environmentId, lane.endpointId))))
    } catch (error) {
      this.#log.error({ err: error, endpointId: lane.endpointId }, 'the secret of a webhook endpoint cannot be used')
      await letRest(this.#pool, lane, undecipherableRestMs)
      return null
    }
  }

  async #record(lane: Lane, delivery: DueDelivery, outcome: AttemptOutcome): Promise<{ isOver: boolean }> {
    // It was us who gave it up: that says nothing of the endpoint.
    if (this.#cut.signal.aborted && outcome.statusCode === null) return { isOver: true }
    this.#duration.observe(outcome.durationMs / 1_000)
    this.#attempts.inc({ outcome: isSuccess(outcome) ? 'delivered' : 'failed' })
    if (isSuccess(outcome)) {
      await this.#recording.add(lane.endpointId, { lane, eventId: delivery.id, outcome, consequence: { status: 'DELIVERED' } })
      if (lane.failuresInRow > 0) await clearFailures(this.#pool, lane)
      lane.failuresInRow = 0
      return { isOver: false }
    }
    if (outcome.isHopeless) {
      await recordAttempts(this.#pool, lane, [{ eventId: delivery.id, outcome, consequence: { status: 'FAILED' } }])
      return { isOver: false }
    }
    const askedMs = retryAfterMs(outcome, this.#clock.now())
    const pauseMs = nextPauseMs({ tries: delivery.tries + 1, askedMs, random: Math.random() })
    const consequence: Consequence = pauseMs === null ? { status: 'FAILED' } : { status: 'PENDING', pauseMs }
    const counted = await inPoolTransaction(this.#pool, async (client) => {
      await recordAttempts(client, lane, [{ eventId: delivery.id, outcome, consequence }])
      return countFailure(client, lane)
    })
    if (!counted) return { isOver: true }
    lane.failuresInRow = counted.failuresInRow
    const reason = isGone(outcome) ? 'GONE' : counted.failingForMs >= disabledAfterMs ? 'NO_SUCCESS' : null
    if (reason) await this.#disable(lane, reason)
    const rest = restMs({ failuresInRow: counted.failuresInRow, askedMs })
    if (rest > 0) await letRest(this.#pool, lane, rest)
    return { isOver: reason !== null || rest > 0 }
  }

  async #disable({ environmentId, endpointId, url }: Lane, reason: DisabledReason): Promise<void> {
    const isDisabled = await inTransaction(this.#prisma, async (db) => {
      if (!(await byRule('webhookFailure', () => disableEndpoint(db, environmentId, endpointId, reason)))) return false
      await recordEvents(db, environmentId, () => [
        { type: 'webhook_endpoint.disabled', customerId: null, data: { endpointId, url: shownUrl(url), reason } },
      ])
      return true
    })
    if (!isDisabled) return
    this.#disabled.inc({ reason })
    this.#log.error({ environmentId, endpointId, reason }, 'webhook endpoint disabled')
  }
}
