export const newCustomerSettings = ['FREE_PLAN', 'TRIAL_PERIOD', 'PLAN_SELECTION'];
//# sourceMappingURL=document.js.map