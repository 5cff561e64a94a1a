import type { BillingPeriod } from '../../catalog/model/package.js'
import type { CatalogService } from '../../catalog/service.js'
import type { EpochMs } from '../../kernel/clock.js'
import { invalidInput } from '../../kernel/problem.js'
import type { Db } from '../../platform/postgres.js'
import { type RecordsParts, SubscriptionRecords } from '../records/frame.js'
import type { BillingCycleAnchor, ScheduleStrategy } from '../rules/billing-period.js'
import { onlyUnit } from '../rules/content.js'
import { refusal } from '../rules/lifecycle.js'
import type { Budget, Subscription } from '../rules/subscription.js'
import { cancelSchedule, decideMigration, decideUpdate, type SubscriptionUpdate } from '../rules/update.js'
import { latestVersions } from './latest-versions.js'
import type { ForProvider, ProviderRequests } from './provider-requests.js'
import { type ContentRequest, type OwnEntitlementRequest, References } from './references.js'

/** Absent: unchanged. */
export interface UpdateSubscription extends Omit<ContentRequest, 'ownEntitlements'>, Omit<ForProvider, 'paymentMethodId'> {
  subscriptionRefId: string
  additionalMetaData?: Record<string, unknown> | null
  salesforceId?: string | null
  trialEndDate?: EpochMs | null
  billingPeriod?: BillingPeriod | null
  /** Null takes a scheduled cancellation back. */
  cancellationDate?: EpochMs | null
  scheduleStrategy?: ScheduleStrategy | null
  /** NOW begins a billing period at the change. Default UNCHANGED. */
  billingCycleAnchor?: BillingCycleAnchor | null
  /** Null: no budget any more. */
  budget?: Budget | null
  /** The whole list. Each names its feature, or the id of one that is held. */
  ownEntitlements?: (Omit<OwnEntitlementRequest, 'featureRefId'> & { featureRefId?: string | null; id?: string | null })[] | null
}

/** Changes of a subscription that is there. What waits, and what is answered, is the subscription itself. */
export class SubscriptionChangeService {
  readonly #catalog: CatalogService
  readonly #records: SubscriptionRecords
  readonly #references: References
  readonly #provider: ProviderRequests

  constructor(parts: RecordsParts & { provider: ProviderRequests }) {
    this.#catalog = parts.catalog
    this.#records = new SubscriptionRecords(parts)
    this.#references = new References(parts)
    this.#provider = parts.provider
  }

  /** Safe to repeat. */
  async update(environmentId: string, asked: UpdateSubscription): Promise<Subscription> {
    const request = await this.#provider.before(environmentId, asked)
    const updated = await this.#records.change(
      environmentId,
      request.subscriptionRefId,
      (subscription, { db, customer: { now } }) => this.decide(db, subscription, request, now),
      request.billing,
    )
    await this.#provider.after(updated, request)
    return updated
  }

  /** The subscription after the update, which is not made. */
  async decide(db: Db, subscription: Subscription, request: UpdateSubscription, now: EpochMs): Promise<Subscription> {
    const update = await this.#resolve(db, subscription, request)
    return decideUpdate({ subscription, update, now })
  }

  /** Takes back every scheduled change, and a scheduled cancellation. Safe to repeat. */
  cancelSchedule(environmentId: string, subscriptionRefId: string): Promise<Subscription> {
    return this.#records.change(environmentId, subscriptionRefId, (subscription, { customer: { now } }) =>
      cancelSchedule(subscription, now),
    )
  }

  /** Fails with SUBSCRIPTION_ALREADY_ON_LATEST_PLAN when nothing newer was published. */
  migrateToLatest(environmentId: string, subscriptionRefId: string, time: 'IMMEDIATE' | 'END_OF_BILLING_PERIOD'): Promise<Subscription> {
    return this.#records.change(environmentId, subscriptionRefId, async (subscription, { db, customer: { now } }) => {
      const latest = await latestVersions(db, this.#catalog, subscription)
      return decideMigration({ subscription, latest, time, now })
    })
  }

  /** Says who pays; null: its own customer. Entitlements stay. Safe to repeat. */
  delegate(environmentId: string, subscriptionRefId: string, payingCustomerRefId: string | null): Promise<Subscription> {
    return this.#records.change(environmentId, subscriptionRefId, async (subscription, { db, customer }) => {
      const refused = refusal(subscription, 'update', 'delegated')
      if (refused) throw refused
      return { ...subscription, payingCustomerId: await this.#references.payer(db, environmentId, payingCustomerRefId, customer.id) }
    })
  }

  async #resolve(db: Db, subscription: Subscription, request: UpdateSubscription): Promise<SubscriptionUpdate> {
    const { environmentId } = subscription
    const update: SubscriptionUpdate = { scheduleStrategy: request.scheduleStrategy ?? null }
    if (request.addons) update.addons = await this.#references.addons(db, environmentId, request.addons)
    const quantities = await this.#references.quantities(db, environmentId, request.quantities ?? [])
    if (request.unitQuantity !== null && request.unitQuantity !== undefined)
      quantities.push({ ...onlyUnit(subscription.plan), quantity: request.unitQuantity })
    if (quantities.length > 0) update.quantities = quantities
    if (request.ownEntitlements) {
      const named = await this.#named(db, subscription, request.ownEntitlements)
      update.ownEntitlements = await this.#references.ownEntitlements(db, environmentId, named)
    }
    if (request.additionalMetaData !== undefined) update.additionalMetaData = request.additionalMetaData
    if (request.salesforceId !== undefined) update.salesforceId = request.salesforceId
    if (request.cancellationDate !== undefined) update.cancellationDate = request.cancellationDate
    if (typeof request.trialEndDate === 'number') update.trialEndDate = request.trialEndDate
    if (request.billingPeriod) update.billingPeriod = request.billingPeriod
    if (request.billingCycleAnchor) update.billingCycleAnchor = request.billingCycleAnchor
    if (request.budget !== undefined) update.budget = request.budget
    return update
  }

  /** Each by its feature: who names the id of a held one means its feature. */
  async #named(
    db: Db,
    { environmentId, ownEntitlements }: Subscription,
    asked: NonNullable<UpdateSubscription['ownEntitlements']>,
  ): Promise<OwnEntitlementRequest[]> {
    const features = [...(await this.#catalog.features(db, environmentId)).values()]
    return asked.map(({ id, featureRefId, ...own }) => {
      const held = ownEntitlements.find((other) => other.id === id)
      const refId = featureRefId ?? features.find((feature) => feature.id === held?.featureId)?.refId
      if (!refId)
        throw invalidInput('Name the feature of each subscription entitlement, or the id of one that is held.', {
          path: 'subscriptionEntitlements',
        })
      return { ...own, featureRefId: refId }
    })
  }
}
