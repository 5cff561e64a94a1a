/**
 * The server SDK: answers checks in the process of the application, from a cache in its memory that the platform pushes changes to, or from an external one.
 *
 *   const tollgate = await createClient({ apiKey: 'server-…', apiUrl: 'https://tollgate.internal' })
 *   const { hasAccess } = await tollgate.getMeteredEntitlement({ customerId: 'acme', featureId: 'api-calls', requestedUsage: 1 })
 *   await tollgate.reportUsage({ customerId: 'acme', featureId: 'api-calls', value: 1 })
 *   await tollgate.close()
 */

export { TollgateError } from '../error.js'
export type * from '../types.js'
export { createClient, type Figures, type TollgateClient } from './client.js'
export type * from './operations/types/coupons.js'
export type * from './operations/types/customers.js'
export type * from './operations/types/enums.js'
export type * from './operations/types/estimates.js'
export type * from './operations/types/paywall.js'
export type * from './operations/types/subscriptions.js'
export type { ClientOptions, EventBufferOptions, Hooks } from './options.js'
export type { NewEvent } from './reports.js'
