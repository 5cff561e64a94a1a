import DataLoader from 'dataloader'
import type { App } from '../../app.js'
import type { Customer } from '../../customer/model.js'
import type { EpochMs } from '../../kernel/clock.js'
import type { Subscription } from '../../subscription/model.js'
import type { Identity } from '../auth.js'

/** What resolvers know about the request that they answer. */
export interface RequestContext {
  app: App
  identity: Identity
  traceId: string
  /** Aborts when nobody waits for the answer any more. */
  signal: AbortSignal
  /** One instant for the whole answer. */
  now: EpochMs
  loaders: Loaders
}

/** Of one request: a record that an answer needs several times is loaded once. */
export interface Loaders {
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
      activeSubscriptions: new DataLoader((refIds) => Promise.all(refIds.map((customerRefId) => app.subscriptions.active(environmentId, { customerRefId })))),
    },
  }
}
