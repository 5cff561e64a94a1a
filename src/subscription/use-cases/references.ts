import { nearestFeature } from '../../catalog/model/feature.js'
import type { BillingPeriod } from '../../catalog/model/package.js'
import { findNearestPackage } from '../../catalog/records/names.js'
import type { CatalogService } from '../../catalog/service.js'
import type { Customer } from '../../customer/model/customer.js'
import { customerArchived, customerNotFound } from '../../customer/model/problems.js'
import { findCustomer } from '../../customer/records/customers.js'
import { ensureResource, findResource } from '../../customer/records/resources.js'
import type { EpochMs } from '../../kernel/clock.js'
import type { Decimal } from '../../kernel/decimal.js'
import { checkRefId, newId } from '../../kernel/id.js'
import { invalidInput } from '../../kernel/problem.js'
import { featureNotFound } from '../../metering/model/problems.js'
import type { ResetPeriod, ResetRule } from '../../metering/model/usage-period.js'
import type { Db } from '../../platform/postgres.js'
import type { BillingCycleAnchor, ScheduleStrategy } from '../rules/billing-period.js'
import { onlyUnit } from '../rules/content.js'
import { addonNotFound, planNotFound } from '../rules/problems.js'
import type { SubscriptionRequest } from '../rules/provision.js'
import type { Budget, HeldAddon, HeldQuantity, OwnEntitlement, TrialEndBehavior } from '../rules/subscription.js'
import type { ForProvider } from './provider-requests.js'

/** An entitlement that is set on the subscription itself, in the caller's identifiers. */
export interface OwnEntitlementRequest {
  featureRefId: string
  usageLimit?: Decimal | null
  hasUnlimitedUsage?: boolean | null
  hasSoftLimit?: boolean | null
  enumValues?: string[] | null
  resetPeriod?: ResetPeriod | null
  resetRule?: ResetRule | null
}

/** What a subscription holds beside its plan, in the caller's identifiers. Absent and null: nothing is said about it. */
export interface ContentRequest {
  addons?: { addonRefId: string; quantity: number }[] | null
  quantities?: { featureRefId: string; quantity: Decimal }[] | null
  /** The quantity of the plan's only price per unit. */
  unitQuantity?: Decimal | null
  ownEntitlements?: OwnEntitlementRequest[] | null
}

/** A request to subscribe, in the caller's identifiers. Absent and null mean the same. */
export interface ProvisionSubscription extends ContentRequest, ForProvider {
  planRefId: string
  subscriptionRefId?: string | null
  resourceRefId?: string | null
  payingCustomerRefId?: string | null
  billingPeriod?: BillingPeriod | null
  billingCountryCode?: string | null
  startDate?: EpochMs | null
  /** The end of a term that is agreed at the start; exclusive. */
  endDate?: EpochMs | null
  /** A cancellation that is asked for at the start: ends the subscription then. */
  cancellationDate?: EpochMs | null
  /** Wins over the product's setting. */
  scheduleStrategy?: ScheduleStrategy | null
  skipTrial?: boolean | null
  trialOverride?: { isTrial: boolean; trialEndDate?: EpochMs | null; trialEndBehavior?: TrialEndBehavior | null } | null
  additionalMetaData?: Record<string, unknown> | null
  /** Whether billing periods begin anew (the default where it replaces another one) or go on. */
  billingCycleAnchor?: BillingCycleAnchor | null
  /** What usage-based charges of a billing period may come to. */
  budget?: Budget | null
  billingId?: string | null
  crmId?: string | null
  salesforceId?: string | null
}

/** From the caller's identifiers to records, in the caller's transaction. Every method throws a Problem about what is unknown or named twice. */
export class References {
  readonly #catalog: CatalogService

  constructor({ catalog }: { catalog: CatalogService }) {
    this.#catalog = catalog
  }

  async addons(db: Db, environmentId: string, asked: NonNullable<ContentRequest['addons']>): Promise<HeldAddon[]> {
    const addons: HeldAddon[] = []
    for (const { addonRefId, quantity } of asked) {
      const version = await this.#catalog.latestVersion(db, environmentId, 'ADDON', addonRefId)
      if (!version) throw addonNotFound(addonRefId, await findNearestPackage(db, environmentId, 'ADDON', addonRefId))
      if (addons.some((other) => other.version.id === version.id)) throw namedTwice('Add-on', addonRefId, { addonId: addonRefId })
      addons.push({ id: newId(), version, quantity })
    }
    return addons
  }

  async quantities(db: Db, environmentId: string, asked: NonNullable<ContentRequest['quantities']>): Promise<HeldQuantity[]> {
    const quantities: HeldQuantity[] = []
    for (const { featureRefId, quantity } of asked) {
      const { id: featureId } = await this.#feature(db, environmentId, featureRefId)
      if (quantities.some((other) => other.featureId === featureId)) throw namedTwice('Feature', featureRefId, { featureId: featureRefId })
      quantities.push({ featureId, featureRefId, quantity })
    }
    return quantities
  }

  async ownEntitlements(db: Db, environmentId: string, asked: NonNullable<ContentRequest['ownEntitlements']>): Promise<OwnEntitlement[]> {
    const entitlements: OwnEntitlement[] = []
    for (const { featureRefId, ...own } of asked) {
      const feature = await this.#feature(db, environmentId, featureRefId)
      const details = { featureId: featureRefId }
      if (entitlements.some((other) => other.featureId === feature.id)) throw namedTwice('Feature', featureRefId, details)
      if (own.hasUnlimitedUsage && own.usageLimit !== null && own.usageLimit !== undefined)
        throw invalidInput(`The entitlement to "${featureRefId}" is unlimited or has a limit, not both.`, details)
      if (own.resetPeriod && feature.meterType !== 'Incremental')
        throw invalidInput(`The usage of "${featureRefId}" is never reset: leave resetPeriod out.`, details)
      entitlements.push({
        id: newId(),
        featureId: feature.id,
        usageLimit: own.usageLimit ?? null,
        hasUnlimitedUsage: own.hasUnlimitedUsage ?? false,
        hasSoftLimit: own.hasSoftLimit ?? false,
        enumValues: own.enumValues ?? [],
        resetPeriod: own.resetPeriod ?? null,
        resetRule: own.resetPeriod ? (own.resetRule ?? 'SubscriptionStart') : null,
      })
    }
    return entitlements
  }

  /** Null takes the payer back. A customer that pays for itself is no payer. */
  async payer(db: Db, environmentId: string, refId: string | null, customerId: string): Promise<string | null> {
    if (refId === null) return null
    const payer = await findCustomer(db, environmentId, { refId })
    if (!payer) throw customerNotFound(refId)
    if (payer.archivedAt !== null) throw customerArchived(refId)
    return payer.id === customerId ? null : payer.id
  }

  /** Of the customer; `isDryRun`: one that is not there is only made up. */
  async resource(
    db: Db,
    environmentId: string,
    customerId: string,
    refId: string,
    { isDryRun = false } = {},
  ): Promise<{ id: string; refId: string }> {
    if (isDryRun) return (await findResource(db, environmentId, customerId, refId)) ?? { id: newId(), refId }
    return ensureResource(db, environmentId, customerId, checkRefId(refId, 'resourceId'))
  }

  async request(db: Db, customer: Customer, request: ProvisionSubscription, { isDryRun = false } = {}): Promise<SubscriptionRequest> {
    const { environmentId } = customer
    const plan = await this.#catalog.latestVersion(db, environmentId, 'PLAN', request.planRefId)
    if (!plan) throw planNotFound(request.planRefId, await findNearestPackage(db, environmentId, 'PLAN', request.planRefId))
    const quantities = await this.quantities(db, environmentId, request.quantities ?? [])
    if (request.unitQuantity !== null && request.unitQuantity !== undefined) {
      const unit = onlyUnit(plan)
      if (quantities.some(({ featureId }) => featureId === unit.featureId))
        throw namedTwice('Feature', unit.featureRefId, { path: 'unitQuantity' })
      quantities.push({ ...unit, quantity: request.unitQuantity })
    }
    const id = newId()
    return {
      id,
      refId: request.subscriptionRefId ? checkRefId(request.subscriptionRefId, 'subscriptionId') : id,
      environmentId,
      customerId: customer.id,
      payingCustomerId: await this.payer(db, environmentId, request.payingCustomerRefId ?? null, customer.id),
      timeZone: customer.timeZone ?? 'UTC',
      resource: request.resourceRefId ? await this.resource(db, environmentId, customer.id, request.resourceRefId, { isDryRun }) : null,
      plan,
      product: (await this.#catalog.productRules(db, environmentId, plan.productId))!,
      addons: await this.addons(db, environmentId, request.addons ?? []),
      quantities,
      ownEntitlements: await this.ownEntitlements(db, environmentId, request.ownEntitlements ?? []),
      billingPeriod: request.billingPeriod ?? null,
      billingCountryCode: request.billingCountryCode ?? null,
      startDate: request.startDate ?? null,
      endDate: request.endDate ?? null,
      cancellationDate: request.cancellationDate ?? null,
      scheduleStrategy: request.scheduleStrategy ?? null,
      scheduleId: newId(),
      skipTrial: request.skipTrial ?? false,
      trialOverride: request.trialOverride
        ? {
            isTrial: request.trialOverride.isTrial,
            trialEndDate: request.trialOverride.trialEndDate ?? null,
            trialEndBehavior: request.trialOverride.trialEndBehavior ?? null,
          }
        : null,
      billingCycleAnchor: request.billingCycleAnchor ?? null,
      budget: request.budget ?? null,
      additionalMetaData: request.additionalMetaData ?? null,
      billingId: request.billingId ?? null,
      crmId: request.crmId ?? null,
      salesforceId: request.salesforceId ?? null,
      billing: request.billing ?? null,
    }
  }

  async #feature(db: Db, environmentId: string, refId: string) {
    const features = await this.#catalog.features(db, environmentId)
    const feature = features.get(refId)
    if (!feature) throw featureNotFound(refId, nearestFeature(features, refId))
    return feature
  }
}

const namedTwice = (what: string, refId: string, details: Record<string, unknown>) =>
  invalidInput(`${what} "${refId}" is named twice: give one quantity.`, details)
