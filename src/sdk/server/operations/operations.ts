import type { ApiClient } from '../../../reader/api/client.js'
import type { EntitlementSource } from '../../../reader/source/source.js'
import { TollgateError, toTollgateError } from '../../error.js'
import type { CallOptions } from '../../types.js'
import { documents, type OperationName } from './documents.js'
import type { GetCouponsAnswer, GetCouponsVariables } from './types/coupons.js'
import type * as customers from './types/customers.js'
import type * as estimates from './types/estimates.js'
import type { GetPaywallAnswer, GetPaywallInput } from './types/paywall.js'
import type * as subscriptions from './types/subscriptions.js'

/** These may wait for a billing provider. */
const patienceMs = 10_000

export interface OperationParts {
  /** Null: offline. */
  api: Pick<ApiClient, 'execute'> | null
  source: Pick<EntitlementSource, 'outdate'>
}

/**
 * Customers, subscriptions, prices: the operations of the API, with the types of its schema. What changes what a customer holds is seen by the checks of this client
 * as soon as it is answered. Each takes 10 seconds at most unless told otherwise, and is not sent again by itself: to provision is safe to repeat, and what the
 * others do twice they refuse. They fail with a TollgateError, offline too.
 */
export class Operations {
  readonly #parts: OperationParts

  constructor(parts: OperationParts) {
    this.#parts = parts
  }

  /** Creates the customer, or answers it as it is, and subscribes it when asked to. */
  provisionCustomer(input: customers.ProvisionCustomerInput, options?: CallOptions): Promise<customers.ProvisionCustomerAnswer> {
    return this.#change('provisionCustomer', input, input.customerId ?? input.refId, options)
  }

  /** Only what is given is changed. */
  updateCustomer(input: customers.UpdateCustomerInput, options?: CallOptions): Promise<customers.UpdateCustomerAnswer> {
    return this.#change('updateCustomer', input, input.customerId ?? input.refId, options)
  }

  /** Null: there is no such customer, or it is archived. */
  getCustomer(input: customers.GetCustomerByRefIdInput, options?: CallOptions): Promise<customers.GetCustomerAnswer> {
    return this.#read('getCustomer', { input }, options)
  }

  archiveCustomer(input: customers.ArchiveCustomerInput, options?: CallOptions): Promise<customers.ArchiveCustomerAnswer> {
    return this.#change('archiveCustomer', input, input.customerId, options)
  }

  unarchiveCustomer(input: customers.UnarchiveCustomerInput, options?: CallOptions): Promise<customers.UnarchiveCustomerAnswer> {
    return this.#change('unarchiveCustomer', input, input.customerId, options)
  }

  grantPromotionalEntitlements(
    input: customers.GrantPromotionalEntitlementsInput,
    options?: CallOptions,
  ): Promise<customers.GrantPromotionalEntitlementsAnswer> {
    return this.#change('grantPromotionalEntitlements', input, input.customerId, options)
  }

  revokePromotionalEntitlement(
    input: customers.RevokePromotionalEntitlementInput,
    options?: CallOptions,
  ): Promise<customers.RevokePromotionalEntitlementAnswer> {
    return this.#change('revokePromotionalEntitlement', input, input.customerId, options)
  }

  provisionSubscription(
    input: subscriptions.ProvisionSubscriptionInput,
    options?: CallOptions,
  ): Promise<subscriptions.ProvisionSubscriptionAnswer> {
    return this.#change('provisionSubscription', input, input.customerId, options)
  }

  updateSubscription(input: subscriptions.UpdateSubscriptionInput, options?: CallOptions): Promise<subscriptions.UpdateSubscriptionAnswer> {
    return this.#change('updateSubscription', input, null, options)
  }

  cancelSubscription(
    input: subscriptions.SubscriptionCancellationInput,
    options?: CallOptions,
  ): Promise<subscriptions.CancelSubscriptionAnswer> {
    return this.#change('cancelSubscription', input, null, options)
  }

  migrateSubscriptionToLatest(
    input: subscriptions.SubscriptionMigrationInput,
    options?: CallOptions,
  ): Promise<subscriptions.MigrateSubscriptionToLatestAnswer> {
    return this.#change('migrateSubscriptionToLatest', input, null, options)
  }

  getSubscription(input: subscriptions.GetSubscriptionInput, options?: CallOptions): Promise<subscriptions.GetSubscriptionAnswer> {
    return this.#read('getSubscription', { input }, options)
  }

  getActiveSubscriptions(
    input: subscriptions.GetActiveSubscriptionsInput,
    options?: CallOptions,
  ): Promise<subscriptions.GetActiveSubscriptionsAnswer> {
    return this.#read('getActiveSubscriptions', { input }, options)
  }

  /** What a subscription would cost. Buys nothing. */
  estimateSubscription(input: estimates.EstimateSubscriptionInput, options?: CallOptions): Promise<estimates.EstimateSubscriptionAnswer> {
    return this.#read('estimateSubscription', { input }, options)
  }

  /** What a change of a subscription would cost. Changes nothing. */
  estimateSubscriptionUpdate(
    input: estimates.EstimateSubscriptionUpdateInput,
    options?: CallOptions,
  ): Promise<estimates.EstimateSubscriptionUpdateAnswer> {
    return this.#read('estimateSubscriptionUpdate', { input }, options)
  }

  /** A page of them; 10 when `paging` does not say how many. */
  getCoupons(query: GetCouponsVariables = {}, options?: CallOptions): Promise<GetCouponsAnswer> {
    return this.#read('getCoupons', query, options)
  }

  getPaywall(input: GetPaywallInput = {}, options?: CallOptions): Promise<GetPaywallAnswer> {
    return this.#read('getPaywall', { input }, options)
  }

  /** `customerId`: of the customer that is changed, where the input names it; else the answer does. */
  async #change<Answer>(
    name: OperationName,
    input: object,
    customerId: string | null | undefined,
    options: CallOptions | undefined,
  ): Promise<Answer> {
    let changed = customerId
    try {
      const answer = await this.#execute<Answer>(name, { input }, false, options)
      changed ??= (answer as { customer?: { customerId: string } }).customer?.customerId
      return answer
    } finally {
      // Whatever came of it: a change that was not acknowledged may have been made.
      if (changed) this.#parts.source.outdate(changed)
    }
  }

  #read<Answer>(name: OperationName, variables: object, options: CallOptions | undefined): Promise<Answer> {
    return this.#execute(name, variables, true, options)
  }

  async #execute<Answer>(
    name: OperationName,
    variables: object,
    isRead: boolean,
    { timeoutMs = patienceMs }: CallOptions = {},
  ): Promise<Answer> {
    const { api } = this.#parts
    if (api === null) throw new TollgateError('UNAVAILABLE', 'OFFLINE', 'Offline mode: nobody is asked', {})
    try {
      const signal = AbortSignal.timeout(timeoutMs)
      const data = await api.execute<Record<string, Answer>>({ name, text: documents[name], isRead }, variables, signal)
      // Each document selects one field.
      return Object.values(data)[0]!
    } catch (error) {
      throw toTollgateError(error)
    }
  }
}
