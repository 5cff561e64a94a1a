/** Why a check was denied. The names are the wire's; each door maps them to its own enum. */
export const denialReasons = [
    'BudgetExceeded',
    'CustomerIsArchived',
    'CustomerNotFound',
    'CustomerResourceNotFound',
    'EntitlementNotFound',
    'FeatureNotFound',
    'FeatureTypeMismatch',
    'InsufficientCredits',
    'NoActiveSubscription',
    'NoFeatureEntitlementInSubscription',
    'RequestedUsageExceedingLimit',
    'RequestedValuesMismatch',
    'Revoked',
    'Unknown',
];
//# sourceMappingURL=denial.js.map