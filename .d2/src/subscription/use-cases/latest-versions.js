/** What was published last of everything that the subscription holds. */
export async function latestVersions(db, catalog, { environmentId, plan, addons }) {
    const latest = {
        plan: (await catalog.versionAt(db, environmentId, plan.packageId, null)) ?? plan,
        addons: new Map(),
    };
    for (const { version } of addons) {
        const newest = await catalog.versionAt(db, environmentId, version.packageId, null);
        if (newest)
            latest.addons.set(version.packageId, newest);
    }
    return latest;
}
//# sourceMappingURL=latest-versions.js.map