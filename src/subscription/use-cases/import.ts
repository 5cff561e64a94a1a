import type { EpochMs } from '../../kernel/clock.js'
import type { Db } from '../../platform/postgres.js'
import { type RecordsParts, SubscriptionRecords } from '../records/frame.js'
import { claimSourceUpdate } from '../records/subscriptions.js'
import type { Subscription } from '../rules/subscription.js'
import type { ProvisionService } from './provision.js'
import type { ProvisionSubscription } from './references.js'

/** A subscription that exists elsewhere, as it waits to be imported (JSON). */
export type ImportSubscription = ProvisionSubscription & {
  customerRefId: string
  /** When it last changed where it comes from; an import that is older than the last one of the same `subscriptionRefId` changes nothing. */
  updatedAt?: EpochMs | null
}

/** Subscriptions that exist elsewhere. */
export class SubscriptionImporter {
  readonly #records: SubscriptionRecords
  readonly #provisions: ProvisionService

  constructor({ provisions, ...parts }: RecordsParts & { provisions: ProvisionService }) {
    this.#records = new SubscriptionRecords(parts)
    this.#provisions = provisions
  }

  /**
   * Takes it over in the caller's transaction; repeated with its `subscriptionRefId`, it answers what is there. The
   * caller tells `changed` after the commit; wake-ups are left to the sweep.
   */
  async importIn(db: Db, environmentId: string, { updatedAt, ...input }: ImportSubscription): Promise<Subscription> {
    const customer = await this.#records.hold(db, environmentId, { refId: input.customerRefId })
    if (typeof updatedAt !== 'number') return this.#provisions.provisionIn(db, customer, input)
    const named = input.subscriptionRefId ? await this.#records.byRefId(db, environmentId, input.subscriptionRefId) : null
    const known = named?.customerId === customer.id ? named : null
    if (known && !(await claimSourceUpdate(db, known, updatedAt))) return known
    const imported = await this.#provisions.provisionIn(db, customer, input)
    if (!known) await claimSourceUpdate(db, imported, updatedAt)
    return imported
  }
}
