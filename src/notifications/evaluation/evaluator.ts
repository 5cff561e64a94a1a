import { LRUCache } from 'lru-cache'
import type pg from 'pg'
import { lockCustomerState, lockFreeCustomers } from '../../changes/access.js'
import { askEvaluations, type DueEvaluation, endEvaluations, finishEvaluations, leaseEvaluations } from '../../changes/evaluations.js'
import { type NewEvent, recordEvents } from '../../changes/events.js'
import { refIdsOfCustomers } from '../../customer/records/customers.js'
import type { CustomerStandings } from '../../entitlement/rules/standing.js'
import type { EntitlementService } from '../../entitlement/service.js'
import { loadStandings } from '../../entitlement/standings.js'
import type { Clock } from '../../kernel/clock.js'
import { eachAlone } from '../../kernel/each-alone.js'
import { newId } from '../../kernel/id.js'
import type { Logger } from '../../platform/logger.js'
import { Counter, Histogram, latencyBuckets, type Registry } from '../../platform/metrics.js'
import type { Db, PrismaClient } from '../../platform/postgres.js'
import { inSnapshot, inTransaction } from '../../platform/transaction.js'
import type { AlertMessage } from '../../updates/wire/alert-message.js'
import { findAlerts } from '../alerts/records/alerts.js'
import { type CustomerCrossings, findEndedPeriods, findOpenCrossings, recordCrossings } from '../alerts/records/crossings.js'
import { deleteCrossingsOf, deleteOldCrossings, findDeletedAlerts, forgetAlert } from '../alerts/records/retention.js'
import { type CrossingDecision, decideCrossings } from '../alerts/rules/crossings.js'
import { endedEvents, reachedEvent, toAlertMessage } from '../alerts/rules/events.js'
import { findListening, findTold, saveTold } from './records/told.js'
import { decideHolderChanges, type HolderChange } from './rules/holdings.js'

/** Longer than an evaluation takes: those of a worker that is gone wait no longer than that. */
const leaseSeconds = 15
/** Customers whose state rows are held at a time: who changes them waits for all. */
const heldAtOnce = 50
/** Environments of which it is known what came of their last lot. */
const mostRemembered = 1_000
/** Customers of one environment whose usage has started again. */
const endedAtOnce = 500
const deletedAtOnce = 5_000
const deletedAlertsAtOnce = 100

/** What came of evaluations, for who counts and listens. */
interface Told {
  /** Customers (our ids). */
  eventful: Set<string>
  ended: CrossingDecision['ended']
  messages: AlertMessage[]
}

/** What is to be told of a customer. */
interface Decided {
  customer: CustomerStandings
  crossings: CrossingDecision
  changes: HolderChange[]
}

/**
 * Looks at customers of whom something has changed, and tells what came of it: thresholds that were reached or left, what is held by now. Several processes may: a
 * customer is leased to one of them, and what is told is recorded with it, under the customer's state row, in the transaction that ends the evaluation.
 */
export class Evaluator {
  readonly #pool: pg.Pool
  readonly #prisma: PrismaClient
  readonly #source: { entitlements: Pick<EntitlementService, 'holdings'>; clock: Clock }
  readonly #announce: (messages: readonly AlertMessage[]) => void
  readonly #log: Logger
  /** Environments of whose last lot most had something to be told. */
  readonly #eventful = new LRUCache<string, true>({ max: mostRemembered })
  readonly #told: Counter
  readonly #lag: Histogram

  constructor(parts: {
    pool: pg.Pool
    prisma: PrismaClient
    entitlements: Pick<EntitlementService, 'holdings'>
    /** The database's. */
    clock: Clock
    /** Tells who listens at the moment, after the commit. Never throws; what is lost is answered by who is asked. */
    announce: (messages: readonly AlertMessage[]) => void
    log: Logger
    metrics: Registry
  }) {
    this.#pool = parts.pool
    this.#prisma = parts.prisma
    this.#source = { entitlements: parts.entitlements, clock: parts.clock }
    this.#announce = parts.announce
    this.#log = parts.log
    this.#told = new Counter({
      name: 'tollgate_alert_crossings_total',
      help: 'Thresholds of alerts that were reached, and that were left, by how',
      labelNames: ['outcome'],
      registers: [parts.metrics],
    })
    this.#lag = new Histogram({
      name: 'tollgate_evaluation_lag_seconds',
      help: 'From a change of a customer to the evaluation of its alerts and entitlements',
      buckets: [...latencyBuckets, 15, 60],
      registers: [parts.metrics],
    })
  }

  /** Evaluates who is due, at most so many customers; answers how many were. A customer that fails holds up no other, and is due again later. */
  async run(limit: number): Promise<number> {
    const due = await leaseEvaluations(this.#pool, { limit, seconds: leaseSeconds })
    await Promise.all([...byEnvironment(due)].map(([environmentId, some]) => this.#evaluateTogether(environmentId, some)))
    for (const { waitedSeconds } of due) this.#lag.observe(waitedSeconds)
    return due.length
  }

  /** Has customers evaluated whose usage has started again by time alone, where a threshold was reached before. */
  async askEnded(): Promise<void> {
    await eachAlone(await findEndedPeriods(this.#pool, endedAtOnce), ({ environmentId, customerIds }) =>
      askEvaluations(this.#pool, environmentId, customerIds),
    )
  }

  /** Forgets crossings that have ended, so many days after they began. */
  async forgetOld(days: number, signal: AbortSignal): Promise<void> {
    const forget = () => inTransaction(this.#prisma, (db) => deleteOldCrossings(db, { days, limit: deletedAtOnce }))
    while (!signal.aborted && (await forget()) === deletedAtOnce);
  }

  /** Forgets alerts that were deleted, with their crossings: the row last, as what is found there is begun again when it was not finished. */
  async forgetDeleted(signal: AbortSignal): Promise<void> {
    await eachAlone(await findDeletedAlerts(this.#prisma, deletedAlertsAtOnce), async ({ environmentId, id }) => {
      // An evaluation may be ending some of them.
      const forget = () => inTransaction(this.#prisma, (db) => deleteCrossingsOf(db, environmentId, id, deletedAtOnce))
      while (!signal.aborted && (await forget()) === deletedAtOnce);
      if (!signal.aborted) await forgetAlert(this.#prisma, environmentId, id)
    })
  }

  /**
   * Most changes come to nothing, which is found out for all of them at once and without their locks. Where most of the last lot came to something it would be done twice:
   * who is free is evaluated at once then.
   */
  async #evaluateTogether(environmentId: string, due: readonly DueEvaluation[]): Promise<void> {
    const isEventful = this.#eventful.has(environmentId)
    const free = isEventful ? await this.#evaluateFree(environmentId, idsOf(due)) : new Map<string, boolean>()
    if (free.size > 0) this.#remember(environmentId, [...free.values()])
    const left = due.filter(({ customerId }) => !free.has(customerId))
    if (left.length === 0) return
    try {
      const decided = await inSnapshot(this.#prisma, (db) => this.#decide(db, environmentId, idsOf(left)))
      if (!isEventful) this.#remember(environmentId, [...decided.values()].map(comesToSomething))
      const first = [...decided.values()].filter(isOnlyFirst)
      const told = new Set([...decided].filter(([, one]) => comesToSomething(one)).map(([customerId]) => customerId))
      if (first.length > 0) await saveTold(this.#prisma, environmentId, first.flatMap(changesOf), { isFirst: true })
      await finishEvaluations(
        this.#pool,
        environmentId,
        left.filter(({ customerId }) => !told.has(customerId)),
      )
      await this.#evaluateAll(environmentId, [...told])
    } catch (error) {
      if (left.length === 1) this.#failed(error, environmentId, left[0]!.customerId)
      else for (const { customerId } of left) await this.#evaluateAlone(environmentId, customerId)
    }
  }

  #remember(environmentId: string, cameToSomething: readonly boolean[]): void {
    if (cameToSomething.filter(Boolean).length * 2 > cameToSomething.length) this.#eventful.set(environmentId, true)
    else this.#eventful.delete(environmentId)
  }

  /** Those that are free together; the others, and all of them when that fails, each by itself. */
  async #evaluateAll(environmentId: string, customerIds: readonly string[]): Promise<void> {
    const free = customerIds.length > 1 ? await this.#evaluateFree(environmentId, customerIds) : new Map<string, boolean>()
    for (const customerId of customerIds) if (!free.has(customerId)) await this.#evaluateAlone(environmentId, customerId)
  }

  async #evaluateAlone(environmentId: string, customerId: string): Promise<void> {
    try {
      const told = await inTransaction(this.#prisma, async (db) => {
        await lockCustomerState(db, environmentId, customerId)
        return this.#evaluate(db, environmentId, [customerId])
      })
      this.#tell(told)
    } catch (error) {
      this.#failed(error, environmentId, customerId)
    }
  }

  /** Answers whose state rows nobody else held, and whether it came to something. */
  async #evaluateFree(environmentId: string, customerIds: readonly string[]): Promise<Map<string, boolean>> {
    const all = new Map<string, boolean>()
    for (let from = 0; from < customerIds.length; from += heldAtOnce) {
      const some = customerIds.slice(from, from + heldAtOnce)
      try {
        const { free, told } = await inTransaction(this.#prisma, async (db) => {
          const held = [...(await lockFreeCustomers(db, environmentId, some)).keys()]
          return { free: held, told: await this.#evaluate(db, environmentId, held) }
        })
        this.#tell(told)
        for (const customerId of free) all.set(customerId, told.eventful.has(customerId))
      } catch (error) {
        this.#log.debug({ err: error, environmentId }, 'alerts of customers could not be evaluated together')
      }
    }
    return all
  }

  #failed(error: unknown, environmentId: string, customerId: string): void {
    this.#log.warn({ err: error, environmentId, customerId }, 'alerts of a customer could not be evaluated, trying again later')
  }

  /** In a transaction that holds the customers' state rows. */
  async #evaluate(db: Db, environmentId: string, customerIds: readonly string[]): Promise<Told> {
    // Who asks for one of them from now on waits for the end of the transaction, so that nothing is missed that is not read by now.
    const mine = await endEvaluations(db, environmentId, customerIds)
    const told: Told = { eventful: new Set(), ended: [], messages: [] }
    if (mine.length === 0) return told
    const decided = [...(await this.#decide(db, environmentId, mine)).values()]
    await saveTold(db, environmentId, decided.flatMap(changesOf))
    const events: NewEvent[] = []
    const recorded: CustomerCrossings[] = []
    for (const one of decided) {
      const { customer, crossings, changes } = one
      const { customerId, customerRefId, now } = customer
      if (comesToSomething(one)) told.eventful.add(customerId)
      const reached = crossings.reached.map((crossing) => ({ id: newId(), ...crossing }))
      recorded.push({ customerId, now, reached, ended: crossings.ended })
      for (const { resource, changes: differences } of changes) {
        if (!differences) continue
        const data = { customerId: customerRefId, resourceId: resource?.refId ?? null, ...differences }
        events.push({ type: 'entitlements.changed', customerId, data })
      }
      events.push(...crossings.ended.flatMap((ended) => endedEvents(customer, ended)))
      events.push(...reached.map((crossing) => reachedEvent(customer, crossing)))
      told.ended.push(...crossings.ended)
      told.messages.push(...reached.map((crossing) => toAlertMessage(environmentId, customer, crossing)))
    }
    await recordCrossings(db, environmentId, recorded)
    if (events.length > 0) await recordEvents(db, environmentId, () => events)
    return told
  }

  /** After the commit. */
  #tell({ ended, messages }: Told): void {
    if (messages.length > 0) {
      this.#announce(messages)
      this.#told.inc({ outcome: 'reached' }, messages.length)
    }
    for (const { reason } of ended) this.#told.inc({ outcome: reason.toLowerCase() })
  }

  /** By customer (our id). In one snapshot, or under the customers' state rows. */
  async #decide(db: Db, environmentId: string, customerIds: readonly string[]): Promise<Map<string, Decided>> {
    const { watchesUsage, hearsEvents, newCustomers } = await findListening(db, environmentId, customerIds)
    if (!watchesUsage && !hearsEvents) return new Map()
    const refIds = await refIdsOfCustomers(db, environmentId, customerIds)
    const customers = await loadStandings(db, this.#source, environmentId, [...refIds.values()])
    const alerts = watchesUsage ? await findAlerts(db, environmentId) : []
    const open = watchesUsage ? await findOpenCrossings(db, environmentId, customerIds) : new Map<string, never[]>()
    const told = hearsEvents ? await findTold(db, environmentId, customerIds) : new Map<string, never[]>()
    return new Map(
      customers.map((customer) => {
        const { customerId } = customer
        const crossings = decideCrossings({ customer, alerts, open: open.get(customerId) ?? [] })
        const isNew = newCustomers.has(customerId)
        const changes = hearsEvents ? decideHolderChanges({ customer, told: told.get(customerId) ?? [], isNew }) : []
        return [customerId, { customer, crossings, changes }]
      }),
    )
  }
}

const idsOf = (due: readonly DueEvaluation[]) => due.map(({ customerId }) => customerId)

const changesOf = ({ customer: { customerId }, changes }: Decided) => changes.map((change) => ({ customerId, ...change }))

const hasCrossings = ({ crossings }: Decided) => crossings.reached.length + crossings.ended.length > 0
const isNothing = (decided: Decided) => decided.changes.length === 0 && !hasCrossings(decided)
/** What is held is known for the first time, and nothing is told. */
const isOnlyFirst = (decided: Decided) =>
  decided.changes.length > 0 && !hasCrossings(decided) && decided.changes.every(({ told, changes }) => told !== null && changes === null)
const comesToSomething = (decided: Decided) => !isNothing(decided) && !isOnlyFirst(decided)

function byEnvironment(due: readonly DueEvaluation[]): Map<string, DueEvaluation[]> {
  const groups = new Map<string, DueEvaluation[]>()
  for (const one of due) groups.set(one.environmentId, [...(groups.get(one.environmentId) ?? []), one])
  return groups
}
