import type pg from 'pg'
import { lockCustomers } from '../../changes/counting.js'
import { inPoolTransaction } from '../../platform/transaction.js'
import { type Holder, holderKey } from '../model/holder.js'
import type { FillingJob } from '../wire/jobs.js'
import { Binding, Bindings } from './bindings.js'
import { computeUsage } from './compute-usage.js'
import { CounterBatch, type Route } from './counter-batch.js'
import type { LoadHeldSeries } from './held-series.js'
import { findRefIds } from './holder-repository.js'
import { loadMeters } from './meter-repository.js'

/**
 * Gives a counter to current usage that has none and that every reading would else compute again: a series that has begun to win, or a meter that has
 * come, after the last report. Changes no usage. May run twice, also at once.
 */
export class UsageFilling {
  readonly #pool: pg.Pool
  readonly #loadHeld: LoadHeldSeries

  constructor({ pool, loadHeld }: { pool: pg.Pool; loadHeld: LoadHeldSeries }) {
    this.#pool = pool
    this.#loadHeld = loadHeld
  }

  async fill({ environmentId, customerId, resourceId }: FillingJob): Promise<void> {
    await inPoolTransaction(this.#pool, async (db) => {
      const { customers } = await lockCustomers(db, environmentId, [customerId])
      const locked = customers.get(customerId)
      if (!locked) return
      const holder = await findRefIds(db, environmentId, { customerId, resourceId })
      // Of its own: under the lock they are true, and nobody has to be told what they have learned.
      const routes = await this.#routesOf(environmentId, holder, locked.version)
      const batch = new CounterBatch(db, environmentId, customers)
      await batch.prepare(routes.map((route) => ({ route, at: null })))
      for (const route of routes) batch.current(route)
      const meters = new Map((await loadMeters(db, environmentId)).map((meter) => [meter.featureId, meter]))
      await batch.write((ranges) => computeUsage(db, environmentId, ranges, meters))
    })
  }

  /** One for each feature that is measured by the holder itself. */
  async #routesOf(environmentId: string, holder: Holder, now: number): Promise<Route[]> {
    const customerHolder = { ...holder, resourceId: null }
    const bindings = await new Bindings(this.#loadHeld).load(environmentId, [customerHolder, holder])
    const customer = bindings.get(holderKey(customerHolder))
    const own = bindings.get(holderKey(holder))
    if (!(customer instanceof Binding) || !(own instanceof Binding)) return []
    return [...own.decisionAt(now).entitled.values()].flatMap(({ series, feature }) =>
      series.resourceId === own.resourceId ? [{ customer, resource: holder.resourceId === null ? null : own, feature }] : [],
    )
  }
}
