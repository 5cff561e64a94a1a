import { LRUCache } from 'lru-cache';
import { recordCatalogChange } from '../changes/access.js';
import { catalogVersion, countCatalogChange } from '../environment/records/catalog-version.js';
import { inTransaction } from '../platform/postgres.js';
import { compareCatalogs } from './document/difference.js';
import { normalise, overlay } from './document/normalise.js';
import { parseCatalog, parseCatalogText } from './document/parse.js';
import { catalogRefused, checkRevived } from './document/refusal.js';
import { publishedForAll } from './model/audience.js';
import * as repository from './records/catalog.js';
import { saveChanges } from './records/save.js';
// A version with 20 entitlements and some prices takes about 10 KB.
const maxCachedVersions = 2_000;
/**
 * The catalog of an environment. Reads take the caller's `db`, so that they see what its transaction sees; ids of another environment are
 * not found.
 */
export class CatalogService {
    #prisma;
    #clock;
    #startMigrations;
    #nudge;
    /** Published versions never change, so they are never stale. */
    #versions = new LRUCache({ max: maxCachedVersions });
    /** The version of the catalog that a transaction sees. */
    #readsAt = new WeakMap();
    /** By the version of the catalog. */
    #answers = new LRUCache({ max: maxCachedVersions });
    constructor({ prisma, clock, startMigrations, nudge }) {
        this.#prisma = prisma;
        this.#clock = clock;
        this.#startMigrations = startMigrations;
        this.#nudge = nudge;
    }
    /**
     * Brings the catalog to what the document says, all or nothing, and answers what changed; applying it again changes nothing. `input` is
     * what JSON holds, or YAML or JSON text. Fails with BAD_USER_INPUT and every problem in `details.problems` when the document is wrong.
     */
    async apply(environmentId, input, { dryRun, archiveMissing, onlyNew }) {
        const now = this.#clock.now();
        const changes = await inTransaction(this.#prisma, async (db) => {
            await repository.lockCatalog(db, environmentId);
            const current = await repository.readDocument(db, environmentId);
            const archived = await repository.readArchived(db, environmentId);
            const wanted = readInput(input, { current, archiveMissing });
            const problems = checkRevived(wanted, archived);
            if (problems.length > 0)
                throw catalogRefused(problems);
            const changes = compareCatalogs(current, wanted, { archiveMissing });
            if (onlyNew)
                checkNew(wanted, changes, onlyNew);
            if (dryRun || changes.length === 0)
                return changes;
            const after = archiveMissing ? normalise(wanted) : overlay(current, wanted);
            await saveChanges(db, { environmentId, changes, after, now });
            await countCatalogChange(db, environmentId);
            const packages = await repository.readPublished(db, environmentId, changes, publishedForAll(input));
            const forAll = packages.filter(({ message }) => message.migrationType === 'ALL_CUSTOMERS');
            if (forAll.length > 0)
                await this.#startMigrations(db, environmentId, forAll);
            await recordCatalogChange(db, { environmentId, version: now, packages: packages.map(({ message }) => message) });
            return changes;
        });
        if (!dryRun && changes.length > 0)
            this.#nudge(environmentId);
        return changes;
    }
    /** What is sold now, as one document; applying it changes nothing. */
    async export(environmentId) {
        // One snapshot, or a document that is being applied could be seen in parts.
        return this.#prisma.$transaction((db) => repository.readDocument(db, environmentId), { isolationLevel: 'RepeatableRead' });
    }
    /** Published versions by id, together with all versions that they inherit from. Unknown ids are left out. */
    async versions(db, environmentId, ids) {
        const frozen = new Map();
        for (let wanted = new Set(ids); wanted.size > 0;) {
            for (const version of await this.#frozenVersions(db, environmentId, [...wanted]))
                frozen.set(version.id, version);
            const basePlans = [...frozen.values()].flatMap(({ basePlanVersionId }) => basePlanVersionId ?? []);
            // Each version inherits from an older one, so this comes to an end.
            wanted = new Set(basePlans.filter((id) => !frozen.has(id)));
        }
        return this.#withFeatures(db, environmentId, frozen.values());
    }
    /**
     * The transaction of `db` sees this version of the catalog (`catalog_version` of its environment): what was read at it before need not be read again
     * for who asks with this `db`.
     */
    readsAt(db, environmentId, catalogVersion) {
        this.#readsAt.set(db, `${environmentId}:${catalogVersion}`);
    }
    /** The same for a transaction that reads one snapshot: looks up which version of the catalog that has. */
    async readsSnapshot(db, environmentId) {
        this.readsAt(db, environmentId, await catalogVersion(db, environmentId));
    }
    /** What a new subscription gets. Null: there is no such plan or add-on, or it is archived. */
    latestVersion(db, environmentId, kind, refId) {
        return this.#onceAt(db, `latest:${kind}:${refId}`, async () => {
            const id = await repository.findLatestVersionId(db, environmentId, kind, refId);
            return id === null ? null : this.#version(db, environmentId, id);
        });
    }
    /** The version of a package that was the latest at an instant; at one in the future, or at null, the latest of now. Null: the package has none. */
    async versionAt(db, environmentId, packageId, at) {
        const id = at === null ? null : await repository.findVersionIdAt(db, environmentId, packageId, at);
        return id === null ? this.#latestVersionOf(db, environmentId, packageId) : this.#version(db, environmentId, id);
    }
    /** All features by refId, archived ones too. */
    features(db, environmentId) {
        return this.#onceAt(db, 'features', async () => {
            const features = await repository.findFeatures(db, environmentId, null);
            return new Map(features.map((feature) => [feature.refId, feature]));
        });
    }
    /** Our id of a coupon that may be given to somebody. Null: there is none of that name, or it is archived. */
    couponId(db, environmentId, refId) {
        return repository.findCouponId(db, environmentId, refId);
    }
    /**
     * What the product says about its subscriptions, also when it is archived: they keep what they were promised, the downgrade to a plan that
     * is archived included. `productId` comes from a record that refers to the product, so it exists.
     */
    productRules(db, environmentId, productId) {
        return this.#onceAt(db, `rules:${productId}`, () => this.#productRules(db, environmentId, productId));
    }
    async #productRules(db, environmentId, productId) {
        const product = await repository.getProduct(db, environmentId, productId);
        const { id, refId, endSetting, cancellationTiming, downgradeTiming, usageOnPlanChange, allowsMultipleSubscriptions } = product;
        const downgradePlan = await this.#latestVersionOf(db, environmentId, product.downgradePlanId);
        return { id, refId, endSetting, downgradePlan, cancellationTiming, downgradeTiming, usageOnPlanChange, allowsMultipleSubscriptions };
    }
    /** The oldest product that is not archived. Null: there is none. */
    defaultProduct(db, environmentId) {
        return this.#onceAt(db, 'default', () => this.#defaultProduct(db, environmentId));
    }
    async #defaultProduct(db, environmentId) {
        const product = await repository.findOldestProduct(db, environmentId);
        if (!product)
            return null;
        const { id, refId, newCustomerSetting, newCustomerPlanId } = product;
        return { id, refId, newCustomer: newCustomerSetting, plan: await this.#latestVersionOf(db, environmentId, newCustomerPlanId) };
    }
    /** What is answered must not be changed by anybody: the next one gets it too. */
    async #onceAt(db, question, read) {
        const at = this.#readsAt.get(db);
        if (at === undefined)
            return read();
        const key = `${at}:${question}`;
        const known = this.#answers.get(key);
        if (known)
            return known.answer;
        const answer = await read();
        this.#answers.set(key, { answer });
        return answer;
    }
    async #latestVersionOf(db, environmentId, packageId) {
        const id = packageId && (await repository.findLatestVersionIdOf(db, environmentId, packageId));
        return id ? this.#version(db, environmentId, id) : null;
    }
    async #version(db, environmentId, id) {
        return (await this.#withFeatures(db, environmentId, await this.#frozenVersions(db, environmentId, [id]))).get(id) ?? null;
    }
    async #frozenVersions(db, environmentId, ids) {
        const keyOf = (id) => `${environmentId}:${id}`;
        const known = ids.flatMap((id) => this.#versions.get(keyOf(id)) ?? []);
        if (known.length === ids.length)
            return known;
        const missing = ids.filter((id) => !known.some((version) => version.id === id));
        const found = await repository.findVersions(db, environmentId, missing);
        for (const version of found)
            this.#versions.set(keyOf(version.id), version);
        return [...known, ...found];
    }
    /** Features are read each time: a new display name or unit is to be seen at once, and one query costs little. */
    async #withFeatures(db, environmentId, versions) {
        const all = [...versions];
        const ids = new Set(all.flatMap(({ entitlements }) => entitlements.map(({ featureId }) => featureId)));
        const features = ids.size === 0 ? [] : await repository.findFeatures(db, environmentId, [...ids]);
        const byId = new Map(features.map(({ isArchived, enumValues, ...feature }) => [feature.id, feature]));
        return new Map(all.map((version) => {
            const entitlements = version.entitlements.map((entitlement) => ({ ...entitlement, feature: byId.get(entitlement.featureId) }));
            return [version.id, { ...version, entitlements }];
        }));
    }
}
function checkNew({ features, products, plans, addons, coupons }, changes, problem) {
    const created = changes.filter(({ action }) => action === 'create').map(({ refId }) => refId);
    const known = [features, products, plans, addons, coupons].flat().find(({ refId }) => !created.includes(refId));
    if (known)
        throw problem(known.refId);
}
function readInput(input, options) {
    const parsed = typeof input === 'string' ? parseCatalogText(input, options) : parseCatalog(input, options);
    if ('problems' in parsed)
        throw catalogRefused(parsed.problems);
    return parsed.catalog;
}
//# sourceMappingURL=service.js.map