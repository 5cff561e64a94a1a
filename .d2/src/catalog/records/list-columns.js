import { column, nothing, nullable } from '../../platform/list/columns.js';
/** What versions of plans, called `package_version` and `package` in the statement, are filtered by. `productId` is ours, as in a plan. */
export const planColumns = {
    billingId: nothing,
    createdAt: column('time', 'package_version.created_at'),
    description: nullable('text', 'package_version.description'),
    displayName: column('text', 'package_version.display_name'),
    environmentId: column('uuid', 'package_version.environment_id'),
    id: column('uuid', 'package_version.id'),
    isLatest: column('boolean', 'package_version.is_latest'),
    pricingType: column('text', 'package_version.pricing_type::text'),
    productId: column('text', 'package.product_id::text'),
    refId: column('text', 'package.ref_id'),
    status: column('text', "(CASE WHEN package.archived_at IS NULL THEN package_version.status::text ELSE 'ARCHIVED' END)"),
    updatedAt: column('time', 'package_version.created_at'),
    versionNumber: column('integer', 'package_version.version_number'),
};
/** What coupons, called `coupon` in the statement, are filtered and sorted by. */
export const couponColumns = {
    billingId: nothing,
    createdAt: column('time', 'coupon.created_at'),
    description: nullable('text', 'coupon.description'),
    environmentId: column('uuid', 'coupon.environment_id'),
    id: column('uuid', 'coupon.id'),
    name: column('text', 'coupon.name'),
    refId: column('text', 'coupon.ref_id'),
    source: column('text', "'STIGG'::text"),
    status: column('text', 'coupon.status::text'),
    type: column('text', 'coupon.coupon_type::text'),
    updatedAt: column('time', 'coupon.updated_at'),
};
/** What products, called `product` in the statement, are filtered by. */
export const productColumns = {
    createdAt: column('time', 'product.created_at'),
    description: nullable('text', 'product.description'),
    displayName: column('text', 'product.display_name'),
    environmentId: column('uuid', 'product.environment_id'),
    id: column('uuid', 'product.id'),
    refId: column('text', 'product.ref_id'),
    updatedAt: column('time', 'product.updated_at'),
};
//# sourceMappingURL=list-columns.js.map