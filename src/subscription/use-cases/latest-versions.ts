import type { CatalogService } from '../../catalog/service.js'
import type { Db } from '../../platform/postgres.js'
import type { Subscription } from '../rules/subscription.js'
import type { LatestVersions } from '../rules/update.js'

/** What was published last of everything that the subscription holds. */
export async function latestVersions(
  db: Db,
  catalog: CatalogService,
  { environmentId, plan, addons }: Subscription,
): Promise<LatestVersions> {
  const latest: LatestVersions & { addons: Map<string, Subscription['plan']> } = {
    plan: (await catalog.versionAt(db, environmentId, plan.packageId, null)) ?? plan,
    addons: new Map(),
  }
  for (const { version } of addons) {
    const newest = await catalog.versionAt(db, environmentId, version.packageId, null)
    if (newest) latest.addons.set(version.packageId, newest)
  }
  return latest
}
