export const subscriptionStatuses = ['NOT_STARTED', 'IN_TRIAL', 'ACTIVE', 'PAYMENT_PENDING', 'CANCELED', 'EXPIRED'];
export const isFinal = (status) => status === 'CANCELED' || status === 'EXPIRED';
export const givesAccess = (status) => status === 'IN_TRIAL' || status === 'ACTIVE';
//# sourceMappingURL=subscription.js.map