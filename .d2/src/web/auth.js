/**
 * Who asks, and what the asker may ask. Every root field of the schema passes `authorize`; what is not named here is for server keys only.
 *
 * server key   may do everything in its environment
 * client key   sits in a browser: reads what belongs to the one customer whose signed token comes with it
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { Problem } from '../kernel/problem.js';
export function credentialsOf(headers) {
    return { apiKey: single(headers['x-api-key']), customerToken: single(headers['x-customer-key']) };
}
/** Fails with UNAUTHENTICATED when the key or the token is missing, unknown or no longer valid. */
export async function identify(environments, { apiKey, customerToken }) {
    if (!apiKey)
        throw new Problem('UNAUTHENTICATED', 'UNAUTHENTICATED', 'Send an API key of the environment in the header X-API-KEY.');
    const key = await environments.authenticate(apiKey);
    const isSigned = key.kind === 'CLIENT' && customerToken !== undefined;
    return { ...key, customerId: isSigned ? await environments.verifyCustomerToken(key.environmentId, customerToken) : null };
}
/** The customer whom a read of a client key is about. Root fields with the same name and arguments as in the schema. */
const clientReads = new Map(Object.entries({
    cachedEntitlements: ({ query }) => query?.customerId,
    entitlement: ({ query }) => query?.customerId,
    entitlementV2: ({ query }) => query?.customerId,
    entitlementsState: ({ query }) => query?.customerId,
    getActiveSubscriptions: ({ input }) => input?.customerId,
    getCustomerByRefId: ({ input }) => input?.customerId,
    paywall: ({ input }) => input?.customerId,
}));
/** Queries that need no customer. */
const publicReads = new Set(['coupons', 'products', 'sdkConfiguration']);
/** What anybody may see who has a client key; a paywall as long as it is nobody's. */
const isPublic = (field, args) => publicReads.has(field) || (field === 'paywall' && !args.input?.customerId);
/**
 * Passes, or fails with PERMISSION_DENIED, before the root field is resolved. A subscription of a client key passes: it is sent only what
 * belongs to the customer of its token.
 */
export function authorize(identity, root) {
    checkEnvironment(identity, root.args);
    if (identity.kind === 'SERVER')
        return;
    if (root.operation === 'Query' && isPublic(root.field, root.args))
        return;
    if (root.operation === 'Subscription' && identity.customerId !== null)
        return;
    const customerOf = root.operation === 'Query' ? clientReads.get(root.field) : undefined;
    if (!customerOf)
        throw forbidden(`${root.field} needs a server key.`);
    if (identity.customerId === null) {
        if (identity.allowsUnsignedClientReads)
            return;
        throw forbidden('A client key needs the signed token of a customer in the header X-CUSTOMER-KEY.');
    }
    if (customerOf(root.args) !== identity.customerId)
        throw new Problem('PERMISSION_DENIED', 'AUTH_CUSTOMER_MISMATCH', 'The customer token is for another customer than the one that was asked for.');
}
/** Inputs may name the environment; the key decides, so another one is a mistake that must not go unnoticed. */
function checkEnvironment({ environmentId, environmentRefId }, args) {
    for (const input of Object.values(args)) {
        const named = typeof input === 'object' ? input?.environmentId : undefined;
        // In a filter it is a comparison, and other environments are not in the list anyway.
        if (typeof named === 'string' && named !== environmentId && named !== environmentRefId)
            throw forbidden('The key belongs to another environment than the one that environmentId names.');
    }
}
function forbidden(message) {
    return new Problem('PERMISSION_DENIED', 'IDENTITY_FORBIDDEN', message);
}
/** Whether it is the operator's key. Digests have one length, so that comparing takes the same time whatever is given. */
export function isOperatorKey(given, operatorKey) {
    if (!operatorKey || !given)
        return false;
    const digest = (text) => createHash('sha256').update(text).digest();
    return timingSafeEqual(digest(single(given)), digest(operatorKey.reveal()));
}
const single = (header) => (Array.isArray(header) ? header[0] : header);
//# sourceMappingURL=auth.js.map