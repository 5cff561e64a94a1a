import { withRecords } from '../platform/list/page.js';
import { couponExists } from './model/coupon.js';
import { inheritedEntitlements } from './model/inheritance.js';
import { productNotFound } from './model/problems.js';
import * as repository from './records/lists.js';
/** The catalog for those who show it: many records at once, each found by the id that another record names it by. */
export class CatalogReader {
    #prisma;
    #catalog;
    #users;
    constructor({ prisma, catalog, users }) {
        this.#prisma = prisma;
        this.#catalog = catalog;
        this.#users = users;
    }
    /** By our id, archived ones too. */
    async products(environmentId, ids) {
        return byId(await repository.findProducts(this.#prisma, environmentId, ids));
    }
    /** By our id of the version. */
    async versionFacts(environmentId, versionIds) {
        const facts = await repository.findVersionFacts(this.#prisma, environmentId, versionIds);
        const subscribed = await this.#users.subscribedVersions(this.#prisma, environmentId, versionIds);
        return new Map([...facts].map(([id, known]) => [id, { ...known, hasSubscriptions: subscribed.has(id) }]));
    }
    /** By refId, archived ones too. */
    async features(environmentId, refIds) {
        const features = await repository.findShownFeatures(this.#prisma, environmentId, refIds);
        return new Map(features.map((feature) => [feature.refId, feature]));
    }
    /** By our id of the version; what they inherit from is in it too. */
    versions(environmentId, versionIds) {
        return this.#catalog.versions(this.#prisma, environmentId, versionIds);
    }
    /** What new subscriptions get of these packages, by our id of the package. Archived ones are left out. */
    async latestVersions(environmentId, packageIds) {
        const versions = await this.#latest(environmentId, { packageIds });
        return new Map(versions.map((version) => [version.packageId, version]));
    }
    /** The same of add-ons, by refId. */
    async latestAddons(environmentId, refIds) {
        const versions = await this.#latest(environmentId, { kind: 'ADDON', refIds });
        return new Map(versions.map((version) => [version.refId, version]));
    }
    /** What each of these versions (our ids) inherits. */
    async inherited(environmentId, versionIds) {
        const versions = await this.versions(environmentId, versionIds);
        return new Map(versionIds.map((id) => [id, inheritedEntitlements(versions.get(id), versions)]));
    }
    /** The plans of a product that are sold now, in no order. Null: of the default product. Fails with PRODUCT_NOT_FOUND. */
    async plansOf(environmentId, productRefId) {
        if (productRefId === null) {
            const product = await this.#catalog.defaultProduct(this.#prisma, environmentId);
            return product ? this.#latest(environmentId, { kind: 'PLAN', productId: product.id }) : [];
        }
        const productId = await repository.findProductId(this.#prisma, environmentId, productRefId);
        if (productId === null)
            throw productNotFound(productRefId);
        return this.#latest(environmentId, { kind: 'PLAN', productId });
    }
    async listProducts(environmentId, request) {
        const page = await repository.pageOfProducts(this.#prisma, environmentId, request);
        return withRecords(page, (ids) => this.products(environmentId, ids));
    }
    async listCoupons(environmentId, request) {
        const page = await repository.pageOfCoupons(this.#prisma, environmentId, request, this.#users.couponColumns);
        return withRecords(page, (ids) => this.coupons(environmentId, ids));
    }
    /** By our id, archived ones too. */
    async coupons(environmentId, ids) {
        return byId(await repository.findCoupons(this.#prisma, environmentId, ids));
    }
    /** Adds one to the catalog. Fails with DUPLICATED_ENTITY_NOT_ALLOWED when it is there, with BAD_USER_INPUT as `CatalogService.apply` does. */
    async createCoupon(environmentId, definition) {
        await this.#catalog.apply(environmentId, { coupons: [definition] }, { dryRun: false, archiveMissing: false, onlyNew: couponExists });
        return (await repository.findCoupon(this.#prisma, environmentId, definition.refId));
    }
    async #latest(environmentId, which) {
        const ids = await repository.findLatestVersionIds(this.#prisma, environmentId, which);
        const versions = await this.versions(environmentId, ids);
        return ids.map((id) => versions.get(id));
    }
}
const byId = (records) => new Map(records.map((record) => [record.id, record]));
//# sourceMappingURL=reader.js.map