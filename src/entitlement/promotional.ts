import { type CatalogFeature, nearestFeature } from '../catalog/model/feature.js'
import type { CatalogService } from '../catalog/service.js'
import { lockCustomerState, recordAccessChange } from '../changes/access.js'
import { findCustomer } from '../customer/records/customers.js'
import { type HeldCustomer, holdCustomer } from '../customer/records/hold.js'
import type { EpochMs } from '../kernel/clock.js'
import { newId } from '../kernel/id.js'
import { invalidInput } from '../kernel/problem.js'
import { featureNotFound } from '../metering/model/problems.js'
import type { DueCustomer } from '../platform/due-sweep.js'
import { type Db, type PrismaClient } from '../platform/postgres.js'
import { inTransaction } from '../platform/transaction.js'
import { dueLagSeconds, findDueCustomers, findHeld, hasDue, insertPromotional, revokeHeld, settleDue } from './records/promotional.js'
import {
  decideGrant,
  type PromotionalEntitlement,
  type PromotionalGrant,
  promotionalEnd,
  promotionalNotFound,
} from './rules/promotional.js'

/** More would be a mistake: a catalog has tens of features. */
const maxGrants = 100

/** Grants rights to one customer beside its subscriptions, and takes them back. */
export class PromotionalService {
  readonly #prisma: PrismaClient
  readonly #catalog: CatalogService
  readonly #time: { now(environmentId: string): Promise<EpochMs> }
  readonly #after: { changed(environmentId: string): void; dueAt(environmentId: string, customerId: string, at: EpochMs): void }

  constructor(parts: {
    prisma: PrismaClient
    catalog: CatalogService
    /** The time in an environment. */
    time: { now(environmentId: string): Promise<EpochMs> }
    /** Wake-ups after a commit; losing one loses nothing. */
    after: { changed(environmentId: string): void; dueAt(environmentId: string, customerId: string, at: EpochMs): void }
  }) {
    this.#prisma = parts.prisma
    this.#catalog = parts.catalog
    this.#time = parts.time
    this.#after = parts.after
  }

  /**
   * Grants all or nothing. What the customer holds of the same features is replaced: repeated, the same grant begins anew, and so does the usage of
   * an Incremental feature.
   */
  async grant(environmentId: string, customerRefId: string, grants: readonly PromotionalGrant[]): Promise<PromotionalEntitlement[]> {
    checkGrants(grants)
    const granted = await inTransaction(this.#prisma, async (db) => {
      const customer = await holdCustomer(db, environmentId, customerRefId)
      const features = await this.#catalog.features(db, environmentId)
      const all = grants.map((grant) => decide(grant, features, customer))
      const featureIds = all.map(({ feature }) => feature.id)
      await revokeHeld(db, environmentId, customer.id, featureIds, customer.now)
      await insertPromotional(db, all)
      await recordAccessChange(db, customer)
      return all
    })
    this.#wake(granted)
    return granted
  }

  /** Not safe to repeat: what is not held (any more) is refused, so that the caller learns of it. Answers what was held. */
  async revoke(environmentId: string, customerRefId: string, featureRefId: string): Promise<PromotionalEntitlement> {
    const revoked = await inTransaction(this.#prisma, async (db) => {
      const customer = await holdCustomer(db, environmentId, customerRefId)
      const features = await this.#catalog.features(db, environmentId)
      if (!features.has(featureRefId)) throw featureNotFound(featureRefId, nearestFeature(features, featureRefId))
      const held = await this.#held(db, environmentId, [customer.id], customer.now)
      const found = held.find(({ feature }) => feature.refId === featureRefId)
      if (!found) throw promotionalNotFound(customerRefId, featureRefId)
      await revokeHeld(db, environmentId, customer.id, [found.feature.id], customer.now)
      await recordAccessChange(db, customer)
      return { ...found, status: 'Expired', revokedAt: customer.now, updatedAt: customer.now } as const
    })
    this.#after.changed(environmentId)
    return revoked
  }

  /** In the caller's transaction, which holds the customer's state row and records the change. */
  async revokeAllIn(db: Db, { environmentId, id, now }: Pick<HeldCustomer, 'environmentId' | 'id' | 'now'>): Promise<void> {
    await revokeHeld(db, environmentId, id, null, now)
  }

  /** What the customers (our ids) hold, expired ones too, the newest first; in the order that was asked. */
  async held(environmentId: string, customerIds: readonly string[]): Promise<PromotionalEntitlement[][]> {
    const now = await this.#time.now(environmentId)
    const all = await this.#held(this.#prisma, environmentId, customerIds, now)
    return customerIds.map((id) => all.filter(({ customerId }) => customerId === id))
  }

  /**
   * Tells the ends that time has made due for one customer (our id): its state gets a new version and is sent to all who hold it. Running it twice
   * is harmless: what was told is not due any more. `ifFree`: leaves a customer alone that another transaction holds.
   */
  async applyDue(environmentId: string, customerId: string, { ifFree = false } = {}): Promise<boolean> {
    if (!(await hasDue(this.#prisma, environmentId, customerId))) return false
    const isTold = await inTransaction(this.#prisma, async (db) => {
      const now = await lockCustomerState(db, environmentId, customerId, { ifFree })
      if (now === null || (await settleDue(db, environmentId, customerId, now)) === 0) return false
      await recordAccessChange(db, (await findCustomer(db, environmentId, { id: customerId }))!)
      return true
    })
    if (isTold) this.#after.changed(environmentId)
    return isTold
  }

  /** Customers (our ids) with an end to be told, the longest overdue first, without those that are left alone. */
  dueCustomers(limit: number, leftAlone: readonly string[]): Promise<DueCustomer[]> {
    return findDueCustomers(this.#prisma, limit, leftAlone)
  }

  /** Seconds since the oldest end that is to be told; 0: there is none. */
  lagSeconds(): Promise<number> {
    return dueLagSeconds(this.#prisma)
  }

  async #held(db: Db, environmentId: string, customerIds: readonly string[], now: EpochMs): Promise<PromotionalEntitlement[]> {
    const features = await this.#catalog.features(db, environmentId)
    return findHeld(db, environmentId, customerIds, {
      features: new Map([...features.values()].map((feature) => [feature.id, feature])),
      now,
    })
  }

  #wake(granted: readonly PromotionalEntitlement[]): void {
    const [first] = granted
    if (!first) return
    this.#after.changed(first.environmentId)
    for (const at of new Set(granted.flatMap(({ endDate }) => endDate ?? []))) this.#after.dueAt(first.environmentId, first.customerId, at)
  }
}

function checkGrants(grants: readonly PromotionalGrant[]): void {
  if (grants.length === 0 || grants.length > maxGrants)
    throw invalidInput(`Give 1 to ${maxGrants} promotional entitlements.`, { path: 'promotionalEntitlements' })
  const twice = grants.find(({ featureRefId }, index) => grants.findIndex((grant) => grant.featureRefId === featureRefId) !== index)
  if (twice) throw invalidInput(`Feature "${twice.featureRefId}" is named twice: grant it once.`, { featureId: twice.featureRefId })
}

function decide(
  grant: PromotionalGrant,
  features: ReadonlyMap<string, CatalogFeature>,
  { environmentId, id: customerId, timeZone, now }: HeldCustomer,
): PromotionalEntitlement {
  const { featureRefId } = grant
  const feature = features.get(featureRefId) ?? null
  const isSold = feature !== null && !feature.isArchived
  const content = decideGrant(grant, feature, isSold ? null : nearestFeature(features, featureRefId))
  return {
    id: newId(),
    environmentId,
    customerId,
    feature: feature!,
    ...content,
    period: grant.period,
    description: null,
    isVisible: grant.isVisible ?? true,
    startDate: now,
    endDate: promotionalEnd({ ...grant, startDate: now, timeZone: timeZone ?? 'UTC' }),
    status: 'Active',
    revokedAt: null,
    createdAt: now,
    updatedAt: now,
  }
}
