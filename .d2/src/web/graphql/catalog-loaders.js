import DataLoader from 'dataloader';
export function createCatalogLoaders({ offers }, environmentId) {
    return {
        coupons: loader((ids) => offers.coupons(environmentId, ids)),
        features: loader((refIds) => offers.features(environmentId, refIds)),
        inherited: loader((ids) => offers.inherited(environmentId, ids)),
        latestAddons: loader((refIds) => offers.latestAddons(environmentId, refIds)),
        latestVersions: loader((ids) => offers.latestVersions(environmentId, ids)),
        products: loader((ids) => offers.products(environmentId, ids)),
        versionFacts: loader((ids) => offers.versionFacts(environmentId, ids)),
        versions: loader((ids) => offers.versions(environmentId, ids)),
    };
}
function loader(load) {
    return new DataLoader(async (keys) => {
        const found = await load(keys);
        return keys.map((key) => found.get(key));
    });
}
//# sourceMappingURL=catalog-loaders.js.map