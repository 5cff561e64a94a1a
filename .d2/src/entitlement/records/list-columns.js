import { column } from '../../platform/list/columns.js';
/** What promotional entitlements, called `promotional_entitlement` in the statement, are filtered by. The status is the one of the database's now. */
export const promotionalEntitlementColumns = {
    createdAt: column('time', 'promotional_entitlement.created_at'),
    environmentId: column('uuid', 'promotional_entitlement.environment_id'),
    id: column('uuid', 'promotional_entitlement.id'),
    status: column('text', "(CASE WHEN promotional_entitlement.end_date <= clock_timestamp() THEN 'Expired' ELSE 'Active' END)"),
    updatedAt: column('time', 'promotional_entitlement.updated_at'),
};
//# sourceMappingURL=list-columns.js.map