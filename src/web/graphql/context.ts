import DataLoader from 'dataloader'
import type { App } from '../../app.js'
import type { Customer } from '../../customer/model.js'
import type { EpochMs } from '../../kernel/clock.js'
import type { UsageService } from '../../metering/service.js'
import type { Subscription } from '../../subscription/model.js'
import type { ChangeKind, ChangeMessage } from '../../updates/change-message.js'
import type { CatchUp } from '../../updates/change-stream.js'
import type { Identity } from '../auth.js'

/** The services that the front door calls. */
export type Services = Pick<App, 'catalog' | 'customers' | 'entitlements' | 'environments' | 'subscriptions'> & { usage: UsageService }

/** What resolvers know about the request that they answer. */
export interface RequestContext {
  app: Services
  identity: Identity
  traceId: string
  /** Aborts when nobody waits for the answer any more. */
  signal: AbortSignal
  /** One instant for the whole answer. */
  now: EpochMs
  loaders: Loaders
  /** What subscriptions listen to: changes of these kinds that the identity may see, from now on, until `signal` aborts. */
  changes(kinds: readonly ChangeKind[]): AsyncIterable<ChangeMessage>
  /** What changed in the environment after a position of its change stream; null: the reader knows none. */
  missedSince(position: string | null): Promise<CatchUp>
}

/** Of one request: a record that an answer needs several times is loaded once. */
interface Loaders {
  /** By our id. */
  customers: DataLoader<string, Customer | null>
  /** By the customer's refId, over all its resources. */
  activeSubscriptions: DataLoader<string, Subscription[]>
}

export function createContext(facts: Omit<RequestContext, 'loaders' | 'now'>): RequestContext {
  const { app, identity } = facts
  const { environmentId } = identity
  return {
    ...facts,
    now: Date.now(),
    loaders: {
      customers: new DataLoader((ids) => Promise.all(ids.map((id) => app.customers.byId(environmentId, id)))),
      activeSubscriptions: new DataLoader((refIds) =>
        Promise.all(refIds.map((customerRefId) => app.subscriptions.active(environmentId, { customerRefId }))),
      ),
    },
  }
}
