import { newId } from '../../kernel/id.js'
import { type Db, Prisma } from '../../platform/postgres.js'
import { definitionsOf, type PlannedChange } from '../document/plan.js'
import type { PackageKind } from '../model/package.js'

/** Our ids of what changes of a catalog name, archived or not, with those of what they make. */
export interface CatalogIds {
  feature: Ids
  product: Ids
  PLAN: Packages
  ADDON: Packages
}

class Ids {
  readonly #what: string
  readonly #byRefId: Map<string, string>

  constructor(what: string, byRefId: Record<string, string>) {
    this.#what = what
    this.#byRefId = new Map(Object.entries(byRefId))
  }

  /** @throws Error when nothing has the name: it was not looked up, or not made yet */
  of(refId: string): string {
    const id = this.#byRefId.get(refId)
    if (id === undefined) throw new Error(`the ${this.#what} "${refId}" is named by the catalog and is not saved`)
    return id
  }

  /** That of what has the name, or of what is about to get it. */
  forSaving(refId: string): string {
    const id = this.#byRefId.get(refId) ?? newId()
    this.#byRefId.set(refId, id)
    return id
  }
}

interface PackageRow {
  id: string
  refId: string
  kind: PackageKind
  /** Of its newest version, a draft too; null: it has none. */
  versionNumber: number | null
  /** Null: nothing of it is published. */
  latestId: string | null
}

class Packages extends Ids {
  readonly #latest: Map<string, { id: string | null; versionNumber: number }>

  constructor(kind: PackageKind, rows: readonly PackageRow[]) {
    super(kind === 'PLAN' ? 'plan' : 'add-on', Object.fromEntries(rows.map(({ refId, id }) => [refId, id])))
    this.#latest = new Map(rows.map(({ refId, versionNumber, latestId }) => [refId, { id: latestId, versionNumber: versionNumber ?? 0 }]))
  }

  /** The version after those that there are; from now on it is the latest. */
  nextVersion(refId: string): { id: string; versionNumber: number } {
    const next = { id: newId(), versionNumber: (this.#latest.get(refId)?.versionNumber ?? 0) + 1 }
    this.#latest.set(refId, next)
    return next
  }

  /** @throws Error when none was published */
  latestVersion(refId: string): string {
    const id = this.#latest.get(refId)?.id
    if (!id) throw new Error(`"${refId}" has no version that is published`)
    return id
  }
}

/** Looks up all that the changes name. */
export async function readIds(db: Db, environmentId: string, changes: readonly PlannedChange[]): Promise<CatalogIds> {
  const [plans, addons] = [definitionsOf('plan', changes), definitionsOf('addon', changes)]
  const [products, packages] = [definitionsOf('product', changes), [...plans, ...addons]]
  const features = [
    ...changes.flatMap(({ change: { kind, refId } }) => (kind === 'feature' || kind === 'meter' ? [refId] : [])),
    ...packages.flatMap(({ entitlements, prices }) => [...entitlements, ...prices].flatMap(({ feature }) => feature ?? [])),
  ]
  const productNames = [...products.map(({ refId }) => refId), ...packages.map(({ product }) => product)]
  const planNames = [
    ...plans.flatMap(({ refId, basePlan }) => [refId, basePlan ?? refId]),
    ...products.flatMap(({ settings }) => [settings.newCustomerPlan ?? [], settings.downgradePlan ?? []].flat()),
  ]
  const addonNames = [
    ...plans.flatMap(({ compatibleAddons }) => compatibleAddons),
    ...addons.flatMap(({ refId, dependencies }) => [refId, ...dependencies]),
  ]
  const ofPackages = await db.$queryRaw<{ rows: PackageRow[] }[]>(Prisma.sql`
    SELECT coalesce(json_agg(json_build_object('id', id, 'refId', ref_id, 'kind', kind,
      'versionNumber', (SELECT max(version_number) FROM package_version AS version
        WHERE version.environment_id = package.environment_id AND version.package_id = package.id),
      'latestId', (SELECT version.id FROM package_version AS version
        WHERE version.environment_id = package.environment_id AND version.package_id = package.id AND is_latest))), '[]') AS rows
    FROM package
    WHERE environment_id = ${environmentId}::uuid
      AND (kind = 'PLAN' AND ref_id = ANY(${distinct(planNames)}::text[]) OR kind = 'ADDON' AND ref_id = ANY(${distinct(addonNames)}::text[]))`)
  const rows = ofPackages[0]!.rows
  return {
    feature: new Ids('feature', await idsOf(db, Prisma.sql`feature`, environmentId, features)),
    product: new Ids('product', await idsOf(db, Prisma.sql`product`, environmentId, productNames)),
    PLAN: new Packages(
      'PLAN',
      rows.filter(({ kind }) => kind === 'PLAN'),
    ),
    ADDON: new Packages(
      'ADDON',
      rows.filter(({ kind }) => kind === 'ADDON'),
    ),
  }
}

async function idsOf(db: Db, table: Prisma.Sql, environmentId: string, refIds: readonly string[]): Promise<Record<string, string>> {
  const rows = await db.$queryRaw<{ ids: Record<string, string> }[]>(Prisma.sql`
    SELECT coalesce(json_object_agg(ref_id, id), '{}') AS ids FROM ${table}
    WHERE environment_id = ${environmentId}::uuid AND ref_id = ANY(${distinct(refIds)}::text[])`)
  return rows[0]!.ids
}

const distinct = (refIds: readonly string[]) => [...new Set(refIds)]
