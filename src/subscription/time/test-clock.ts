import type { BillingSync } from '../../billing/sync.js'
import { recordAccessChange } from '../../changes/access.js'
import { listCustomers } from '../../customer/records/customers.js'
import type { TestClock } from '../../environment/model/environment.js'
import type { EnvironmentService } from '../../environment/service.js'
import type { EpochMs } from '../../kernel/clock.js'
import { type PrismaClient } from '../../platform/postgres.js'
import { inTransaction } from '../../platform/transaction.js'
import { findNextDue } from '../records/due.js'
import type { AfterCommit } from '../records/frame.js'
import type { DueTransitions } from './due.js'
import type { TrialReminders } from './trial-reminders.js'

/** Customers whose states are made anew in one transaction. */
const customersPerTransaction = 100

/** Time in a test environment: it stands still until it is told to go on, and then everything happens that would have happened. */
export class TestClockService {
  readonly #prisma: PrismaClient
  readonly #environments: EnvironmentService
  readonly #transitions: DueTransitions
  readonly #billing: Pick<BillingSync, 'nextDue' | 'applyDue'>
  readonly #reminders: TrialReminders
  readonly #after: AfterCommit

  constructor(parts: {
    prisma: PrismaClient
    environments: EnvironmentService
    transitions: DueTransitions
    billing: Pick<BillingSync, 'nextDue' | 'applyDue'>
    reminders: TrialReminders
    after: AfterCommit
  }) {
    this.#prisma = parts.prisma
    this.#environments = parts.environments
    this.#transitions = parts.transitions
    this.#billing = parts.billing
    this.#reminders = parts.reminders
    this.#after = parts.after
  }

  /** Null: the environment has none. */
  find(environmentId: string): Promise<TestClock | null> {
    return this.#environments.testClock(environmentId)
  }

  /** @throws Problem when the environment is no test environment, has a clock already, or the time is in the past */
  async create(environmentId: string, at: EpochMs): Promise<TestClock> {
    await this.#environments.createTestClock(environmentId, at)
    return this.#goOn(environmentId, at)
  }

  /**
   * Moves time on: every transition that comes due on the way is recorded at its instant, in order, and told to those who listen; so is what billing does
   * by itself (payments tried again, deadlines). Then every customer's state is told anew, for usage periods that have turned over. Killed on the way, the
   * same call goes on where it was.
   */
  async advance(environmentId: string, to: EpochMs): Promise<TestClock> {
    await this.#environments.checkTestClockMove(environmentId, to)
    return this.#goOn(environmentId, to)
  }

  async #goOn(environmentId: string, to: EpochMs): Promise<TestClock> {
    /** Up to when billing has done what could be done; null: the last transitions may have left it something. */
    let billedUntil: EpochMs | null = null
    for (;;) {
      const next = await findNextDue(this.#prisma, environmentId, to)
      const billing = await this.#billing.nextDue(environmentId, { after: billedUntil, until: next?.at ?? to })
      // What is to be paid before time goes on is paid before.
      if (billing !== null && (!next || billing < next.at)) {
        await this.#environments.moveTestClock(environmentId, billing)
        billedUntil = await this.#environments.now(environmentId)
        await this.#billing.applyDue(environmentId)
        continue
      }
      const reminder = await this.#reminders.nextDue(environmentId, next?.at ?? to)
      if (reminder !== null) {
        await this.#environments.moveTestClock(environmentId, reminder)
        if ((await this.#reminders.tellDue(environmentId)) > 0) continue
      }
      if (!next) break
      await this.#environments.moveTestClock(environmentId, next.at)
      let isMoved = false
      for (const customerId of next.customerIds) isMoved = (await this.#transitions.applyDue(environmentId, customerId)) || isMoved
      // Somebody else was faster, or there would be something due that nothing can be done about.
      if (!isMoved && (await findNextDue(this.#prisma, environmentId, to))?.at === next.at)
        throw new Error(`what is due at ${new Date(next.at).toISOString()} cannot be recorded`)
      billedUntil = null
    }
    await this.#environments.moveTestClock(environmentId, to)
    await this.#renewStates(environmentId)
    this.#after.changed(environmentId)
    return (await this.find(environmentId))!
  }

  async #renewStates(environmentId: string): Promise<void> {
    const customers = await listCustomers(this.#prisma, environmentId)
    for (let first = 0; first < customers.length; first += customersPerTransaction) {
      const some = customers.slice(first, first + customersPerTransaction)
      await inTransaction(this.#prisma, async (db) => {
        for (const customer of some) await recordAccessChange(db, customer)
      })
    }
  }
}
