import * as decimal from '../../kernel/decimal.js';
export const featureContent = { meter: true };
export const productContent = {
    newCustomerPlan: { select: { refId: true } },
    downgradePlan: { select: { refId: true } },
};
export const versionContent = {
    package: { select: { refId: true, kind: true, product: { select: { id: true, refId: true } } } },
    basePlanVersion: { select: { package: { select: { refId: true } } } },
    packageEntitlements: { include: { feature: { select: { refId: true } } }, orderBy: { position: 'asc' } },
    prices: { include: { feature: { select: { refId: true } } }, orderBy: { position: 'asc' } },
    planCompatibleAddons: { include: { addon: { select: { refId: true } } }, orderBy: { addonId: 'asc' } },
    addonDependencies: { include: { requiredAddon: { select: { refId: true } } } },
};
const decimalOrNull = (value) => (value === null ? null : decimal.fromText(value.toString()));
const numberOrNull = (value) => value?.toNumber() ?? null;
export function toFeature(row) {
    const { id, refId, displayName, description, featureType, meterType, featureUnits: units, featureUnitsPlural: unitsPlural } = row;
    const unitTransformation = toUnitTransformation(row);
    return {
        id,
        refId,
        displayName,
        description,
        featureType,
        meterType,
        units,
        unitsPlural,
        unitTransformation,
        isArchived: row.archivedAt !== null,
        enumValues: row.enumValues,
    };
}
function toUnitTransformation({ unitDivide, unitRounding }) {
    return unitDivide && unitRounding ? { divide: unitDivide.toNumber(), round: unitRounding } : null;
}
export function toFeatureDefinition(row) {
    const { refId, displayName, description, featureType, meterType, enumValues, meter } = row;
    return {
        refId,
        displayName,
        description,
        type: featureType,
        meter: meterType,
        units: row.featureUnits,
        unitsPlural: row.featureUnitsPlural,
        enumValues,
        events: meter && { aggregation: meter.aggregation, field: meter.field, filters: meter.filters },
        unitTransformation: toUnitTransformation(row),
        additionalMetaData: row.additionalMetaData,
    };
}
export function toProductDefinition(row) {
    const { refId, displayName, description } = row;
    return {
        refId,
        displayName,
        description,
        settings: {
            newCustomer: row.newCustomerSetting,
            newCustomerPlan: row.newCustomerPlan?.refId ?? null,
            endOfSubscription: row.endSetting,
            downgradePlan: row.downgradePlan?.refId ?? null,
            downgradeTiming: row.downgradeTiming,
            cancellationTiming: row.cancellationTiming,
            usageOnPlanChange: row.usageOnPlanChange,
            multipleSubscriptions: row.allowsMultipleSubscriptions,
        },
        additionalMetaData: row.additionalMetaData,
    };
}
export function toPlanDefinition(row) {
    return {
        ...toPackageDefinition(row),
        basePlan: row.basePlanVersion?.package.refId ?? null,
        compatibleAddons: row.planCompatibleAddons.map(({ addon }) => addon.refId),
        defaultTrial: toTrial(row),
    };
}
export function toAddonDefinition(row) {
    return {
        ...toPackageDefinition(row),
        maxQuantity: row.maxQuantity,
        dependencies: row.addonDependencies.map(({ requiredAddon }) => requiredAddon.refId),
    };
}
function toPackageDefinition(row) {
    return {
        refId: row.package.refId,
        product: row.package.product.refId,
        displayName: row.displayName,
        description: row.description,
        pricingType: row.pricingType,
        entitlements: row.packageEntitlements.map((entitlement) => ({
            feature: entitlement.feature.refId,
            limit: decimalOrNull(entitlement.usageLimit),
            unlimited: entitlement.hasUnlimitedUsage,
            softLimit: entitlement.hasSoftLimit,
            values: entitlement.enumValues,
            behavior: entitlement.behavior,
            resetPeriod: entitlement.resetPeriod,
            resetRule: entitlement.resetRule,
            displayNameOverride: entitlement.displayNameOverride,
        })),
        prices: row.prices.map((price) => {
            const { billingModel, billingPeriod, currency, billingCountryCode: country, amount, featureRefId: feature, ...rest } = toPrice(price);
            const { tiersMode, tiers, blockSize, minUnitQuantity: minQuantity, maxUnitQuantity: maxQuantity } = rest;
            return { billingModel, billingPeriod, currency, country, amount, feature, tiersMode, tiers, blockSize, minQuantity, maxQuantity };
        }),
        additionalMetaData: row.additionalMetaData,
    };
}
function toTrial({ trialDuration, trialUnits, trialEndBehavior }) {
    return trialDuration !== null && trialUnits && trialEndBehavior
        ? { duration: trialDuration, units: trialUnits, endBehavior: trialEndBehavior }
        : null;
}
function toPrice(row) {
    const { id, billingModel, billingPeriod, billingCountryCode, featureId, tiersMode } = row;
    return {
        id,
        billingModel,
        billingPeriod,
        currency: row.currency,
        billingCountryCode,
        amount: decimalOrNull(row.amount),
        featureId,
        featureRefId: row.feature?.refId ?? null,
        tiersMode,
        tiers: row.tiers,
        blockSize: numberOrNull(row.blockSize),
        minUnitQuantity: numberOrNull(row.minUnitQuantity),
        maxUnitQuantity: numberOrNull(row.maxUnitQuantity),
    };
}
export function toFrozenVersion(row) {
    const { id, packageId, versionNumber, displayName, description, pricingType, basePlanVersionId, maxQuantity } = row;
    const { refId, kind, product } = row.package;
    return {
        id,
        packageId,
        refId,
        kind,
        versionNumber,
        productId: product.id,
        productRefId: product.refId,
        displayName,
        description,
        pricingType,
        basePlanVersionId,
        trial: toTrial(row),
        maxQuantity,
        entitlements: row.packageEntitlements.map(({ id, featureId, usageLimit, position, ...entitlement }) => ({
            id,
            featureId,
            usageLimit: decimalOrNull(usageLimit),
            hasUnlimitedUsage: entitlement.hasUnlimitedUsage,
            hasSoftLimit: entitlement.hasSoftLimit,
            enumValues: entitlement.enumValues,
            behavior: entitlement.behavior,
            resetPeriod: entitlement.resetPeriod,
            resetRule: entitlement.resetRule,
            displayNameOverride: entitlement.displayNameOverride,
            order: position,
        })),
        prices: row.prices.map(toPrice),
        additionalMetaData: row.additionalMetaData,
        compatibleAddonIds: row.planCompatibleAddons.map(({ addonId }) => addonId),
        dependencies: row.addonDependencies.map(({ requiredAddon }) => requiredAddon.refId),
    };
}
export function toCouponDefinition(row) {
    const { refId, name, description, percentOff, durationInMonths, maxRedemptions } = row;
    return {
        refId,
        name,
        description,
        percentOff: decimalOrNull(percentOff),
        amountsOff: row.amountsOff,
        durationInMonths,
        maxRedemptions,
        additionalMetaData: row.additionalMetaData,
    };
}
//# sourceMappingURL=rows.js.map