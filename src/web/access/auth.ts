/**
 * Who asks, and what the asker may ask. Every root field of the schema passes `authorize`; what is not named here is for server keys only.
 *
 * server key   may do everything in its environment
 * client key   sits in a browser: reads what belongs to the one customer whose signed token comes with it
 * operator     who shows the operator key: environments and keys, also without a key of any environment
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { type Actor, operatorActor } from '../../audit/model/entry.js'
import type { KeyIdentity, KeyKind } from '../../environment/model/environment.js'
import type { EnvironmentService } from '../../environment/service.js'
import { Problem } from '../../kernel/problem.js'
import type { Secret } from '../../kernel/secret.js'

export type Identity = Omit<KeyIdentity, 'kind'> & {
  kind: KeyKind | 'OPERATOR'
  /** The customer (its refId) that a client key's token names; null: no token, or a server key. */
  customerId: string | null
}

/** The operator without a key of an environment: what is looked up in its environment is not found. */
export const operator: Identity = {
  environmentId: '00000000-0000-0000-0000-000000000000',
  environmentRefId: '',
  hasPersistentCache: false,
  allowsUnsignedClientReads: false,
  kind: 'OPERATOR',
  keyId: 'operator',
  keyName: 'operator',
  customerId: null,
}

/** An API key from wherever a request carries it, and the signed token of a customer. */
export interface Credentials {
  apiKey: string | undefined
  customerToken: string | undefined
}

export type Authenticator = Pick<EnvironmentService, 'authenticate' | 'verifyCustomerToken'>

export function credentialsOf(headers: IncomingHttpHeaders): Credentials {
  return { apiKey: single(headers['x-api-key']), customerToken: single(headers['x-customer-key']) }
}

/**
 * Fails with UNAUTHENTICATED when the key or the token is missing, unknown or no longer valid, and with RESOURCE_EXHAUSTED when too many that are unknown were
 * shown from the address.
 */
export async function identify(environments: Authenticator, { apiKey, customerToken }: Credentials, address: string): Promise<Identity> {
  if (!apiKey) return nobody()
  const key = await environments.authenticate(apiKey, address)
  const isSigned = key.kind === 'CLIENT' && customerToken !== undefined
  return { ...key, customerId: isSigned ? await environments.verifyCustomerToken(key.environmentId, customerToken) : null }
}

/** Fails with UNAUTHENTICATED. */
export function nobody(): never {
  throw new Problem('UNAUTHENTICATED', 'UNAUTHENTICATED', 'Send an API key of the environment in the header X-API-KEY.')
}

/** The customer whom a read of a client key is about. Root fields with the same name and arguments as in the schema. */
const clientReads: ReadonlyMap<string, (args: RootArguments) => unknown> = new Map(
  Object.entries({
    cachedEntitlements: ({ query }: RootArguments) => query?.customerId,
    entitlement: ({ query }: RootArguments) => query?.customerId,
    entitlementV2: ({ query }: RootArguments) => query?.customerId,
    entitlementsState: ({ query }: RootArguments) => query?.customerId,
    getActiveSubscriptions: ({ input }: RootArguments) => input?.customerId,
    getCustomerByRefId: ({ input }: RootArguments) => input?.customerId,
    getPaywall: ({ input }: RootArguments) => input?.customerId,
    paywall: ({ input }: RootArguments) => input?.customerId,
  }),
)

/** Queries that need no customer. */
const publicReads: ReadonlySet<string> = new Set(['coupons', 'products', 'sdkConfiguration'])

/**
 * Subscriptions that send a client key only what belongs to the customer of its token; the last two nothing, but clients that listen to them would connect
 * again and again if they were refused.
 */
const clientSubscriptions: ReadonlySet<string> = new Set([
  'entitlementsUpdated',
  'entitlementsUpdatedV2',
  'usageUpdated',
  'usageUpdatedV2',
  'creditBalanceUpdated',
  'packagePublished',
])

/** The same, as long as they name no customer. */
const publicOffers: ReadonlySet<string> = new Set(['getPaywall', 'paywall'])

/** What anybody may see who has a client key. */
const isPublic = (field: string, args: RootArguments) => publicReads.has(field) || (publicOffers.has(field) && !args.input?.customerId)

/** Queries and mutations that cross environments: for whoever shows the operator key, and nobody else. */
export const operatorFields: ReadonlySet<string> = new Set([
  'apiKeys',
  'createApiKey',
  'createEnvironment',
  'disablePersistentCache',
  'enablePersistentCache',
  'environments',
  'revokeApiKey',
  'rotateApiKey',
])

/** About one environment, which the operator may name instead of showing a key of it. */
export const operatorsToo: ReadonlySet<string> = new Set(['auditLog'])

/** Changes that move money by hand: they need the operator key beside that of the environment, so it is the operator who makes them. */
const byHand: ReadonlySet<string> = new Set([
  'markInvoiceFailed',
  'markInvoicePaid',
  'requirePaymentAction',
  'retryBillingCalls',
  'setPaymentMethod',
  'setTaxRate',
])

/** Whose doing a mutation is, for the audit log. */
export function actorOf(identity: Identity, field: string): Actor {
  if (operatorFields.has(field) || byHand.has(field)) return operatorActor
  return { kind: 'KEY', id: identity.keyId, name: identity.keyName }
}

export type RootArguments = Readonly<Record<string, Readonly<Record<string, unknown>> | null | undefined>>

/** Passes, or fails with PERMISSION_DENIED, before the root field is resolved or subscribed to. */
export function authorize(
  identity: Identity,
  root: { operation: string; field: string; args: RootArguments },
  { isOperator = false }: { isOperator?: boolean } = {},
): void {
  if (operatorFields.has(root.field)) {
    if (isOperator) return
    throw forbidden(`${root.field} crosses environments: send the operator key in the header X-OPERATOR-KEY.`)
  }
  if (identity.kind === 'OPERATOR' && operatorsToo.has(root.field)) return
  if (identity.kind === 'OPERATOR')
    throw forbidden(`${root.field} is about one environment: send an API key of it in the header X-API-KEY.`)
  checkEnvironment(identity, root.args)
  if (identity.kind === 'SERVER') return
  if (root.operation === 'Query' && isPublic(root.field, root.args)) return
  if (root.operation === 'Subscription' && clientSubscriptions.has(root.field) && identity.customerId !== null) return
  const customerOf = root.operation === 'Query' ? clientReads.get(root.field) : undefined
  if (!customerOf) throw forbidden(`${root.field} needs a server key.`)
  if (identity.customerId === null) {
    if (identity.allowsUnsignedClientReads) return
    throw forbidden('A client key needs the signed token of a customer in the header X-CUSTOMER-KEY.')
  }
  if (customerOf(root.args) !== identity.customerId)
    throw new Problem(
      'PERMISSION_DENIED',
      'AUTH_CUSTOMER_MISMATCH',
      'The customer token is for another customer than the one that was asked for.',
    )
}

/** Inputs may name the environment; the key decides, so another one is a mistake that must not go unnoticed. */
function checkEnvironment({ environmentId, environmentRefId }: Identity, args: RootArguments): void {
  for (const input of Object.values(args)) {
    const named = typeof input === 'object' ? input?.environmentId : undefined
    // In a filter it is a comparison, and other environments are not in the list anyway.
    if (typeof named === 'string' && named !== environmentId && named !== environmentRefId)
      throw forbidden('The key belongs to another environment than the one that environmentId names.')
  }
}

function forbidden(message: string): Problem {
  return new Problem('PERMISSION_DENIED', 'IDENTITY_FORBIDDEN', message)
}

/** Whether it is the operator's key. Digests have one length, so that comparing takes the same time whatever is given. */
export function isOperatorKey(given: string | string[] | undefined, operatorKey: Secret | undefined): boolean {
  if (!operatorKey || !given) return false
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(single(given)!), digest(operatorKey.reveal()))
}

const single = (header: string | string[] | undefined) => (Array.isArray(header) ? header[0] : header)
