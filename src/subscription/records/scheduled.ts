/** Scheduled changes in PostgreSQL: which versions they lead to is looked up when they are read, as of the instant at which they take effect. */
import { z } from 'zod'
import type { PackageVersion } from '../../catalog/model/package.js'
import type { CatalogService } from '../../catalog/service.js'
import type { Decimal } from '../../kernel/decimal.js'
import type { Db, Prisma } from '../../platform/postgres.js'
import type { HeldAddon, PlanAgreement, PlanContent, ScheduledChange, Subscription } from '../rules/subscription.js'

/** By id of the version, and of scheduled ones by `scheduledKey`. */
export type LoadedVersions = ReadonlyMap<string, PackageVersion>

interface ScheduledRow {
  id: string
  updateType: string
  executeAt: Date
  variables: Prisma.JsonValue
}

const addonShape = z.object({ id: z.string(), packageId: z.string(), quantity: z.number() })
const quantityShape = z.object({ featureId: z.string(), featureRefId: z.string(), quantity: z.string() })
const billingPeriodShape = z.enum(['MONTHLY', 'ANNUALLY'])
/** The wire format of the column `variables`. Ids are ours. */
const planShape = z.object({
  planId: z.string(),
  billingPeriod: billingPeriodShape.nullable(),
  addons: z.array(addonShape),
  quantities: z.array(quantityShape),
  // Written and read by the same code: only that it is one is checked. Absent in changes of before there was any.
  agreed: z.custom<PlanAgreement>((value) => typeof value === 'object').nullish(),
})
const heldAddonShape = z.object({ id: z.string(), versionId: z.string(), quantity: z.number() })

const scheduledKey = (executeAt: Date, packageId: string): string => `${executeAt.getTime()} ${packageId}`

/** The versions that the row's scheduled changes lead to. */
export async function loadScheduledVersions(
  db: Db,
  catalog: CatalogService,
  row: {
    environmentId: string
    planVersionId: string
    subscriptionAddons: { addonVersionId: string }[]
    scheduledUpdates: ScheduledRow[]
  },
  held: LoadedVersions,
): Promise<LoadedVersions> {
  const versions = new Map<string, PackageVersion>()
  for (const { updateType, executeAt, variables } of row.scheduledUpdates) {
    if (updateType === 'Addon') {
      const { versionId } = heldAddonShape.parse(variables)
      for (const version of (await catalog.versions(db, row.environmentId, [versionId])).values()) versions.set(version.id, version)
      continue
    }
    for (const packageId of packagesOf(updateType, variables, row, held)) {
      const version = await catalog.versionAt(db, row.environmentId, packageId, executeAt.getTime())
      if (version) versions.set(scheduledKey(executeAt, packageId), version)
    }
  }
  return versions
}

function packagesOf(
  updateType: string,
  variables: Prisma.JsonValue,
  row: { planVersionId: string; subscriptionAddons: { addonVersionId: string }[] },
  held: LoadedVersions,
): string[] {
  if (updateType === 'MigrateToLatest')
    return [row.planVersionId, ...row.subscriptionAddons.map(({ addonVersionId }) => addonVersionId)].map((id) => held.get(id)!.packageId)
  if (updateType !== 'Plan' && updateType !== 'Downgrade') return []
  const { planId, addons } = planShape.parse(variables)
  return [planId, ...addons.map(({ packageId }) => packageId)]
}

/** `current` is what the subscription holds: a migration leads to newer versions of that. */
export function toScheduledChange(row: ScheduledRow, current: PlanContent, versions: LoadedVersions): ScheduledChange {
  const { id, executeAt } = row
  return { id, executeAt: executeAt.getTime(), change: toChange(row, current, versions) }
}

function toChange(
  { updateType, executeAt, variables }: ScheduledRow,
  current: PlanContent,
  versions: LoadedVersions,
): ScheduledChange['change'] {
  const versionOf = (packageId: string) => versions.get(scheduledKey(executeAt, packageId))
  switch (updateType) {
    case 'Plan':
    case 'Downgrade': {
      const { planId, billingPeriod, addons, quantities, agreed } = planShape.parse(variables)
      return {
        type: updateType,
        agreed: agreed ?? null,
        plan: versionOf(planId)!,
        billingPeriod,
        addons: addons.map(({ id, packageId, quantity }): HeldAddon => ({ id, version: versionOf(packageId)!, quantity })),
        quantities: quantities.map((quantity) => ({ ...quantity, quantity: quantity.quantity as Decimal })),
      }
    }
    case 'MigrateToLatest':
      return {
        type: updateType,
        ...current,
        plan: versionOf(current.plan.packageId) ?? current.plan,
        addons: current.addons.map((addon) => ({ ...addon, version: versionOf(addon.version.packageId) ?? addon.version })),
      }
    case 'BillingPeriod':
      return { type: updateType, billingPeriod: billingPeriodShape.parse((variables as { billingPeriod: unknown }).billingPeriod) }
    case 'UnitAmount': {
      const quantity = quantityShape.parse(variables)
      return { type: updateType, ...quantity, quantity: quantity.quantity as Decimal }
    }
    case 'Addon': {
      const { id, versionId, quantity } = heldAddonShape.parse(variables)
      return { type: updateType, addon: { id, version: versions.get(versionId)!, quantity } }
    }
    default:
      throw new Error(`scheduled update of type ${updateType} cannot be read`)
  }
}

function toVariables(change: ScheduledChange['change']): Prisma.InputJsonObject {
  switch (change.type) {
    case 'Plan':
    case 'Downgrade': {
      const { plan, billingPeriod, addons, quantities, agreed } = change
      const variables: z.infer<typeof planShape> = {
        planId: plan.packageId,
        billingPeriod,
        addons: addons.map(({ id, version, quantity }) => ({ id, packageId: version.packageId, quantity })),
        quantities,
        agreed,
      }
      return variables as unknown as Prisma.InputJsonObject
    }
    case 'MigrateToLatest':
      return {}
    case 'BillingPeriod':
      return { billingPeriod: change.billingPeriod }
    case 'UnitAmount':
      return { featureId: change.featureId, featureRefId: change.featureRefId, quantity: change.quantity }
    case 'Addon':
      return { id: change.addon.id, versionId: change.addon.version.id, quantity: change.addon.quantity }
  }
}

/** What waited and waits no more is Done when it was executed, else Canceled; what is new is stored. */
export async function saveScheduled(
  db: Db,
  { before, after, executed }: { before: readonly ScheduledChange[]; after: Subscription; executed: readonly string[] },
): Promise<void> {
  const { environmentId, id: subscriptionId, scheduled } = after
  for (const { id } of before) {
    if (scheduled.some((other) => other.id === id)) continue
    const status = executed.includes(id) ? 'Done' : 'Canceled'
    await db.scheduledUpdate.update({ where: { environmentId_id: { environmentId, id } }, data: { status } })
  }
  for (const { id, executeAt, change } of scheduled) {
    if (before.some((other) => other.id === id)) continue
    await db.scheduledUpdate.create({
      data: { environmentId, id, subscriptionId, updateType: change.type, executeAt: new Date(executeAt), variables: toVariables(change) },
    })
  }
}
