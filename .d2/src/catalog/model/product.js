export const endSettings = ['CANCEL_SUBSCRIPTION', 'DOWNGRADE_TO_FREE'];
export const changeTimings = ['IMMEDIATE', 'END_OF_BILLING_PERIOD'];
export const usageOnPlanChangeSettings = ['ALWAYS_RESET', 'NEVER_RESET', 'BILLING_PERIOD_CHANGE'];
//# sourceMappingURL=product.js.map