import { askRound } from '../../changes/evaluations.js'
import { recordEvents } from '../../changes/events.js'
import { setHearing } from '../../environment/records/hearing.js'
import type { Clock, EpochMs } from '../../kernel/clock.js'
import { newId } from '../../kernel/id.js'
import { invalidInput, Problem } from '../../kernel/problem.js'
import type { Db, PrismaClient } from '../../platform/postgres.js'
import { inSnapshot, inTransaction } from '../../platform/transaction.js'
import { eventTypes as allTypes, isEventType } from '../model/catalog.js'
import { type AllowedTargets, urlFault } from './addresses.js'
import * as deliveries from './records/deliveries.js'
import * as endpoints from './records/endpoints.js'
import type { WebhookEndpoint } from './rules/endpoint.js'
import { newEndpointSecret, type Sealing, sealedFor } from './secrets.js'

export type { WebhookDelivery } from './records/deliveries.js'
export type { WebhookEndpoint } from './rules/endpoint.js'

/** Each event is sent to all of them. */
const maxEndpoints = 20
const maxOverlapSeconds = 7 * 86_400
export const maxDeliveriesPerPage = 100
const maxDescription = 1_000
const changedAtOnce = 5_000

/** Absent: unchanged, of a new one the default. */
export interface EndpointSettings {
  url?: string
  description?: string | null
  /** Those that it hears of; none: all. */
  eventTypes?: readonly string[]
  isPaused?: boolean
}

export interface DeliveriesPage {
  deliveries: deliveries.WebhookDelivery[]
  /** Of the last of them; null: there are no more. */
  nextCursor: string | null
}

/** Endpoints of webhooks, as the host application manages them. */
export class WebhookService {
  readonly #prisma: PrismaClient
  readonly #sealing: Sealing | null
  readonly #targets: AllowedTargets
  readonly #clock: Clock

  constructor({
    prisma,
    sealing,
    targets,
    clock,
  }: {
    prisma: PrismaClient
    /** Null: no secret can be made here. */
    sealing: Sealing | null
    targets: AllowedTargets
    /** The database's. */
    clock: Clock
  }) {
    this.#prisma = prisma
    this.#clock = clock
    this.#sealing = sealing
    this.#targets = targets
  }

  /** Answers its secret too, this once. */
  async create(
    environmentId: string,
    settings: EndpointSettings & { url: string },
  ): Promise<{ endpoint: WebhookEndpoint; secret: string }> {
    const { url, description = null, eventTypes = [], isPaused = false } = this.#checked(settings)
    const id = newId()
    const { secret, sealed } = this.#newSecret(environmentId, id)
    const endpoint = await inTransaction(this.#prisma, async (db) => {
      // First, as it lets in one at a time.
      await setHearing(db, environmentId, true)
      const others = await endpoints.findEndpoints(db, environmentId)
      if (others.length >= maxEndpoints)
        throw new Problem(
          'RESOURCE_EXHAUSTED',
          'TOO_MANY_WEBHOOK_ENDPOINTS',
          `An environment has ${maxEndpoints} webhook endpoints at most.`,
        )
      // What customers may use by now is known then, so that changes of it can be told.
      if (others.length === 0) await askRound(db, environmentId)
      const status = isPaused ? 'PAUSED' : 'ACTIVE'
      return endpoints.insertEndpoint(db, { environmentId, id, url, description, eventTypes: [...eventTypes], status }, sealed)
    })
    return { endpoint, secret }
  }

  /** What it does not name stays. Saying that it is not paused also takes back that it was disabled. Safe to repeat. */
  async update(environmentId: string, id: string, settings: EndpointSettings): Promise<WebhookEndpoint> {
    const { isPaused, eventTypes, ...change } = this.#checked(settings)
    return inTransaction(this.#prisma, async (db) => {
      const before = await this.#take(db, environmentId, id)
      const status = isPaused === undefined ? undefined : isPaused ? 'PAUSED' : 'ACTIVE'
      return endpoints.updateEndpoint(db, before, {
        ...change,
        ...(eventTypes && { eventTypes: [...eventTypes] }),
        ...(status && status !== before.status && { status }),
      })
    })
  }

  /** Nothing more is sent to it, and nothing of it is kept. */
  async delete(environmentId: string, id: string): Promise<void> {
    await this.#find(this.#prisma, environmentId, id)
    // They may be many: in lots, so that no statement takes long. What comes meanwhile goes with the endpoint.
    // Attempts may be recorded of some of them.
    const forget = () => inTransaction(this.#prisma, (db) => deliveries.deleteDeliveries(db, environmentId, id, changedAtOnce))
    while ((await forget()) === changedAtOnce);
    await inTransaction(this.#prisma, async (db) => {
      await setHearing(db, environmentId, true)
      await endpoints.deleteEndpoint(db, await this.#take(db, environmentId, id))
      await setHearing(db, environmentId, (await endpoints.findEndpoints(db, environmentId)).length > 0)
    })
  }

  /**
   * A new secret, answered this once. Until the overlap is over, deliveries are signed with the one before it too, and with those before that until theirs is: so it is
   * safe to repeat. An overlap of 0 leaves only the new one. Fails with TOO_MANY_SECRETS when many are valid.
   */
  async rotateSecret(environmentId: string, id: string, overlapSeconds: number): Promise<{ endpoint: WebhookEndpoint; secret: string }> {
    if (overlapSeconds < 0 || overlapSeconds > maxOverlapSeconds)
      throw invalidInput(`overlapSeconds must be 0 to ${maxOverlapSeconds}.`, { path: 'overlapSeconds' })
    const { secret, sealed } = this.#newSecret(environmentId, id)
    const endpoint = await inTransaction(this.#prisma, async (db) => {
      const before = await this.#take(db, environmentId, id)
      return endpoints.replaceSecret(db, before, sealed, { now: this.#clock.now(), overlapMs: overlapSeconds * 1_000 })
    })
    return { endpoint, secret }
  }

  /** Has an event made for this endpoint alone; answers its id. */
  async test(environmentId: string, id: string): Promise<string> {
    const eventId = newId()
    await inTransaction(this.#prisma, async (db) => {
      const { status } = await this.#find(db, environmentId, id)
      if (status !== 'ACTIVE')
        throw new Problem(
          'FAILED_PRECONDITION',
          'WEBHOOK_ENDPOINT_NOT_ACTIVE',
          `The webhook endpoint ${id} is ${status}: nothing is sent to it.`,
        )
      await recordEvents(db, environmentId, () => [
        { id: eventId, type: 'webhook_endpoint.tested', customerId: null, data: { endpointId: id } },
      ])
    })
    return eventId
  }

  /** Oldest first. */
  list(environmentId: string): Promise<WebhookEndpoint[]> {
    return endpoints.findEndpoints(this.#prisma, environmentId)
  }

  /** The newest first. */
  async deliveries(
    environmentId: string,
    asked: { endpointId: string; status?: deliveries.DeliveryStatus | null; eventId?: string | null; after?: string | null; first: number },
  ): Promise<DeliveriesPage> {
    const { endpointId, status = null, eventId = null, after, first } = asked
    if (first < 1 || first > maxDeliveriesPerPage) throw invalidInput(`first must be 1 to ${maxDeliveriesPerPage}.`, { path: 'first' })
    await this.#find(this.#prisma, environmentId, endpointId)
    if (eventId !== null && !isUuid.test(eventId)) return { deliveries: [], nextCursor: null }
    const before = after ? fromCursor(after) : null
    const wanted = { endpointId, status, eventId, before, limit: first + 1 }
    // A delivery and its attempts are read one after the other: they are to be of one instant.
    const found = await inSnapshot(this.#prisma, (db) => deliveries.findDeliveries(db, environmentId, wanted))
    const page = found.slice(0, first)
    return { deliveries: page, nextCursor: found.length > first ? toCursor(page.at(-1)!) : null }
  }

  /** Has deliveries made once more; answers how many. */
  async resend(
    environmentId: string,
    endpointId: string,
    wanted: { eventId: string } | { since: EpochMs; onlyFailed: boolean },
  ): Promise<number> {
    await this.#find(this.#prisma, environmentId, endpointId)
    if ('eventId' in wanted) {
      const { eventId } = wanted
      if (isUuid.test(eventId) && (await deliveries.resendOne(this.#prisma, environmentId, endpointId, eventId))) return 1
      throw deliveryNotFound(eventId)
    }
    // They may be many: in lots, so that no statement takes long.
    const lot = { ...wanted, endedBefore: this.#clock.now(), limit: changedAtOnce }
    for (let count = 0; ; ) {
      const resent = await inTransaction(this.#prisma, (db) => deliveries.resendLot(db, environmentId, endpointId, lot))
      count += resent
      if (resent < changedAtOnce) return count
    }
  }

  async #find(db: Db, environmentId: string, id: string): Promise<WebhookEndpoint> {
    const found = isUuid.test(id) ? await endpoints.findEndpoint(db, environmentId, id) : null
    return found ?? Promise.reject(endpointNotFound(id))
  }

  async #take(db: Db, environmentId: string, id: string): Promise<WebhookEndpoint> {
    const taken = isUuid.test(id) ? await endpoints.takeEndpoint(db, environmentId, id) : null
    return taken ?? Promise.reject(endpointNotFound(id))
  }

  #newSecret(environmentId: string, endpointId: string): { secret: string; sealed: Buffer } {
    if (!this.#sealing) throw new Error('no SECRETS_KEY in a process that makes secrets of endpoints')
    const secret = newEndpointSecret()
    return { secret, sealed: this.#sealing.seal(secret, sealedFor(environmentId, endpointId)) }
  }

  #checked<Settings extends EndpointSettings>(settings: Settings): Settings {
    const { url, description, eventTypes } = settings
    const fault = url === undefined ? null : urlFault(url, this.#targets)
    if (fault) throw invalidInput(fault, { path: 'url' })
    if (description && description.length > maxDescription)
      throw invalidInput(`description has more than ${maxDescription} characters.`, { path: 'description' })
    const unknown = eventTypes?.find((type) => !isEventType(type))
    if (unknown !== undefined)
      throw invalidInput(`"${unknown}" is no type of event. There are: ${allTypes.join(', ')}.`, { path: 'eventTypes' })
    return eventTypes ? { ...settings, eventTypes: [...new Set(eventTypes)] } : settings
  }
}

const isUuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

const toCursor = ({ createdAt, eventId }: deliveries.WebhookDelivery) => Buffer.from(`${createdAt} ${eventId}`).toString('base64url')

function fromCursor(cursor: string): { createdAt: EpochMs; eventId: string } {
  const [createdAt, eventId] = Buffer.from(cursor, 'base64url').toString('utf8').split(' ')
  if (!/^\d{1,15}$/.test(createdAt ?? '') || !isUuid.test(eventId ?? ''))
    throw invalidInput('after is no cursor of this list.', { path: 'after' })
  return { createdAt: Number(createdAt), eventId: eventId! }
}

const endpointNotFound = (id: string) => new Problem('NOT_FOUND', 'WEBHOOK_ENDPOINT_NOT_FOUND', `There is no webhook endpoint ${id}.`)
const deliveryNotFound = (id: string) =>
  new Problem('NOT_FOUND', 'WEBHOOK_DELIVERY_NOT_FOUND', `No event ${id} was to be delivered to this endpoint, or it is not kept any more.`)
