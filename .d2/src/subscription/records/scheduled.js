/** Scheduled changes in PostgreSQL: which versions they lead to is looked up when they are read, as of the instant at which they take effect. */
import { z } from 'zod';
const addonShape = z.object({ id: z.string(), packageId: z.string(), quantity: z.number() });
const quantityShape = z.object({ featureId: z.string(), featureRefId: z.string(), quantity: z.string() });
const billingPeriodShape = z.enum(['MONTHLY', 'ANNUALLY']);
/** The wire format of the column `variables`. Ids are ours. */
const planShape = z.object({
    planId: z.string(),
    billingPeriod: billingPeriodShape.nullable(),
    addons: z.array(addonShape),
    quantities: z.array(quantityShape),
    // Written and read by the same code: only that it is one is checked. Absent in changes of before there was any.
    agreed: z.custom((value) => typeof value === 'object').nullish(),
});
const heldAddonShape = z.object({ id: z.string(), versionId: z.string(), quantity: z.number() });
const scheduledKey = (executeAt, packageId) => `${executeAt.getTime()} ${packageId}`;
/** The versions that the row's scheduled changes lead to. */
export async function loadScheduledVersions(db, catalog, row, held) {
    const versions = new Map();
    for (const { updateType, executeAt, variables } of row.scheduledUpdates) {
        if (updateType === 'Addon') {
            const { versionId } = heldAddonShape.parse(variables);
            for (const version of (await catalog.versions(db, row.environmentId, [versionId])).values())
                versions.set(version.id, version);
            continue;
        }
        for (const packageId of packagesOf(updateType, variables, row, held)) {
            const version = await catalog.versionAt(db, row.environmentId, packageId, executeAt.getTime());
            if (version)
                versions.set(scheduledKey(executeAt, packageId), version);
        }
    }
    return versions;
}
function packagesOf(updateType, variables, row, held) {
    if (updateType === 'MigrateToLatest')
        return [row.planVersionId, ...row.subscriptionAddons.map(({ addonVersionId }) => addonVersionId)].map((id) => held.get(id).packageId);
    if (updateType !== 'Plan' && updateType !== 'Downgrade')
        return [];
    const { planId, addons } = planShape.parse(variables);
    return [planId, ...addons.map(({ packageId }) => packageId)];
}
/** `current` is what the subscription holds: a migration leads to newer versions of that. */
export function toScheduledChange(row, current, versions) {
    const { id, executeAt } = row;
    return { id, executeAt: executeAt.getTime(), change: toChange(row, current, versions) };
}
function toChange({ updateType, executeAt, variables }, current, versions) {
    const versionOf = (packageId) => versions.get(scheduledKey(executeAt, packageId));
    switch (updateType) {
        case 'Plan':
        case 'Downgrade': {
            const { planId, billingPeriod, addons, quantities, agreed } = planShape.parse(variables);
            return {
                type: updateType,
                agreed: agreed ?? null,
                plan: versionOf(planId),
                billingPeriod,
                addons: addons.map(({ id, packageId, quantity }) => ({ id, version: versionOf(packageId), quantity })),
                quantities: quantities.map((quantity) => ({ ...quantity, quantity: quantity.quantity })),
            };
        }
        case 'MigrateToLatest':
            return {
                type: updateType,
                ...current,
                plan: versionOf(current.plan.packageId) ?? current.plan,
                addons: current.addons.map((addon) => ({ ...addon, version: versionOf(addon.version.packageId) ?? addon.version })),
            };
        case 'BillingPeriod':
            return { type: updateType, billingPeriod: billingPeriodShape.parse(variables.billingPeriod) };
        case 'UnitAmount': {
            const quantity = quantityShape.parse(variables);
            return { type: updateType, ...quantity, quantity: quantity.quantity };
        }
        case 'Addon': {
            const { id, versionId, quantity } = heldAddonShape.parse(variables);
            return { type: updateType, addon: { id, version: versions.get(versionId), quantity } };
        }
        default:
            throw new Error(`scheduled update of type ${updateType} cannot be read`);
    }
}
function toVariables(change) {
    switch (change.type) {
        case 'Plan':
        case 'Downgrade': {
            const { plan, billingPeriod, addons, quantities, agreed } = change;
            const variables = {
                planId: plan.packageId,
                billingPeriod,
                addons: addons.map(({ id, version, quantity }) => ({ id, packageId: version.packageId, quantity })),
                quantities,
                agreed,
            };
            return variables;
        }
        case 'MigrateToLatest':
            return {};
        case 'BillingPeriod':
            return { billingPeriod: change.billingPeriod };
        case 'UnitAmount':
            return { featureId: change.featureId, featureRefId: change.featureRefId, quantity: change.quantity };
        case 'Addon':
            return { id: change.addon.id, versionId: change.addon.version.id, quantity: change.addon.quantity };
    }
}
/** What waited and waits no more is Done when it was executed, else Canceled; what is new is stored. */
export async function saveScheduled(db, { before, after, executed }) {
    const { environmentId, id: subscriptionId, scheduled } = after;
    for (const { id } of before) {
        if (scheduled.some((other) => other.id === id))
            continue;
        const status = executed.includes(id) ? 'Done' : 'Canceled';
        await db.scheduledUpdate.update({ where: { environmentId_id: { environmentId, id } }, data: { status } });
    }
    for (const { id, executeAt, change } of scheduled) {
        if (before.some((other) => other.id === id))
            continue;
        await db.scheduledUpdate.create({
            data: { environmentId, id, subscriptionId, updateType: change.type, executeAt: new Date(executeAt), variables: toVariables(change) },
        });
    }
}
//# sourceMappingURL=scheduled.js.map