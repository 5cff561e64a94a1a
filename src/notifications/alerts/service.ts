import { nearestFeature } from '../../catalog/model/feature.js'
import type { CatalogService } from '../../catalog/service.js'
import { askRound } from '../../changes/evaluations.js'
import { customerNotFound } from '../../customer/model/problems.js'
import { findCustomer } from '../../customer/records/customers.js'
import { setWatching } from '../../environment/records/hearing.js'
import { newId } from '../../kernel/id.js'
import { Problem } from '../../kernel/problem.js'
import { featureIsNotMetered, featureNotFound } from '../../metering/model/problems.js'
import type { Page, Paging } from '../../platform/list/request.js'
import type { Db, PrismaClient } from '../../platform/postgres.js'
import { inTransaction } from '../../platform/transaction.js'
import { planNotFound } from '../../subscription/rules/problems.js'
import * as records from './records/alerts.js'
import { type Crossing, type CrossingFilter, pageOfAlerts, pageOfCrossings } from './records/lists.js'
import { type Alert, saysTheSame, type Threshold } from './rules/alert.js'
import { checkedThresholds, checkSettings } from './rules/checked.js'

/** All of them are looked at when a customer changes. */
const maxAlerts = 100
const defaultHysteresisPercent = 0

/** The caller's identifiers. */
export interface NewAlert {
  /** Null: budgets. */
  featureId: string | null
  planId?: string | null
  customerId?: string | null
  thresholds: readonly Threshold[]
  hysteresisPercent?: number
  description?: string | null
}

/** Absent: unchanged. */
export type AlertChange = Partial<Pick<NewAlert, 'hysteresisPercent' | 'description' | 'thresholds'>>

/** Alerts, as the host application manages them. */
export class AlertService {
  readonly #prisma: PrismaClient
  readonly #catalog: Pick<CatalogService, 'features' | 'latestVersion'>

  constructor({ prisma, catalog }: { prisma: PrismaClient; catalog: Pick<CatalogService, 'features' | 'latestVersion'> }) {
    this.#prisma = prisma
    this.#catalog = catalog
  }

  /** What is reached already is told too, once. Safe to repeat: one that says the same is answered, as two of them would tell everything twice. */
  async create(environmentId: string, wanted: NewAlert): Promise<Alert> {
    const { featureId, planId = null, customerId = null, hysteresisPercent = defaultHysteresisPercent, description = null } = wanted
    checkSettings({ hysteresisPercent, description })
    const thresholds = checkedThresholds(wanted.thresholds)
    return inTransaction(this.#prisma, async (db) => {
      // First, as it lets in one at a time.
      await setWatching(db, environmentId, true)
      const feature = featureId === null ? null : await this.#feature(db, environmentId, featureId)
      if (planId !== null && !(await this.#catalog.latestVersion(db, environmentId, 'PLAN', planId))) throw planNotFound(planId, null)
      const customer = customerId === null ? null : await findCustomer(db, environmentId, { refId: customerId })
      if (customerId !== null && !customer) throw customerNotFound(customerId)
      const alert = { environmentId, id: newId(), description, feature, planId, customer, thresholds, hysteresisPercent }
      const others = await records.findAlerts(db, environmentId)
      const same = others.find((other) => saysTheSame(other, alert))
      if (same) return same
      if (others.length >= maxAlerts)
        throw new Problem('RESOURCE_EXHAUSTED', 'TOO_MANY_ALERTS', `An environment has ${maxAlerts} alerts at most.`)
      await askRound(db, environmentId)
      return records.insertAlert(db, alert)
    })
  }

  /** What it does not name stays. Thresholds that stay are not told again. Safe to repeat. */
  async update(environmentId: string, id: string, change: AlertChange): Promise<Alert> {
    checkSettings(change)
    const thresholds = change.thresholds && checkedThresholds(change.thresholds)
    return inTransaction(this.#prisma, async (db) => {
      const before = await this.#take(db, environmentId, id)
      await askRound(db, environmentId)
      return records.updateAlert(db, before, { ...change, thresholds })
    })
  }

  /** Nothing more comes of it, and nothing that was reached of it is answered any more. */
  async delete(environmentId: string, id: string): Promise<void> {
    await inTransaction(this.#prisma, async (db) => {
      await setWatching(db, environmentId, true)
      await records.deleteAlert(db, await this.#take(db, environmentId, id))
      await setWatching(db, environmentId, (await records.countAlerts(db, environmentId)) > 0)
    })
  }

  /** The newest first. */
  list(environmentId: string, paging: Paging | null): Promise<Page<Alert>> {
    return pageOfAlerts(this.#prisma, environmentId, paging)
  }

  /** What was reached, the latest first. */
  crossings(environmentId: string, filter: CrossingFilter, paging: Paging | null): Promise<Page<Crossing>> {
    return pageOfCrossings(this.#prisma, environmentId, filter, paging)
  }

  async #feature(db: Db, environmentId: string, refId: string): Promise<{ id: string; refId: string }> {
    const features = await this.#catalog.features(db, environmentId)
    const feature = features.get(refId)
    if (!feature) throw featureNotFound(refId, nearestFeature(features, refId))
    if (feature.meterType === 'None') throw featureIsNotMetered(refId)
    return feature
  }

  async #take(db: Db, environmentId: string, id: string): Promise<Alert> {
    const taken = isUuid.test(id) ? await records.takeAlert(db, environmentId, id) : null
    return taken ?? Promise.reject(alertNotFound(id))
  }
}

const isUuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

const alertNotFound = (id: string) => new Problem('NOT_FOUND', 'ALERT_NOT_FOUND', `There is no alert ${id}.`)
