/** In this order a change of plan is a downgrade or an upgrade: FREE < PAID < CUSTOM. CUSTOM is priced by agreement and carries no prices. */
export const pricingTypes = ['FREE', 'PAID', 'CUSTOM'];
/**
 * How an entitlement meets the one below it (the base plan's, or the plan's when it is an add-on's): Increment adds (an add-on's value is
 * multiplied by its quantity), Override replaces.
 */
export const entitlementBehaviors = ['Increment', 'Override'];
export const trialUnits = ['DAY', 'MONTH'];
export const trialEndBehaviors = ['CONVERT_TO_PAID', 'CANCEL_SUBSCRIPTION'];
export const billingModels = ['FLAT_FEE', 'PER_UNIT', 'USAGE_BASED'];
export const billingPeriods = ['MONTHLY', 'ANNUALLY'];
/** GRADUATED: each unit costs what its own tier says. VOLUME: all units cost what the tier of the last one says. */
export const tiersModes = ['GRADUATED', 'VOLUME'];
//# sourceMappingURL=package.js.map