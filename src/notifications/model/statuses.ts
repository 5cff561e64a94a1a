/** As subscriptions say it; the rules of subscriptions stand after this room, and a type there holds them to the same words. */
export const subscriptionStatuses = ['NOT_STARTED', 'IN_TRIAL', 'ACTIVE', 'PAYMENT_PENDING', 'CANCELED', 'EXPIRED'] as const
