import { overInherited } from './combine.js'
import type { PackageEntitlement, PackageVersion } from './package.js'

/** What inherits, by its own name. */
type Inheriting = Pick<PackageVersion, 'id' | 'basePlanVersionId'> & { entitlements: readonly Pick<PackageEntitlement, 'featureId'>[] }

/**
 * What versions inherit: the entitlements of their base plan, with what that one inherits itself. What a base plan gives is put together once for all who
 * inherit from it. `versions` holds all of their base plans.
 */
export class Inheritance {
  readonly #versions: ReadonlyMap<string, PackageVersion>
  /** By version and feature, what comes from the farthest base plan first. */
  readonly #given = new Map<string, ReadonlyMap<string, PackageEntitlement>>()

  constructor(versions: ReadonlyMap<string, PackageVersion>) {
    this.#versions = versions
  }

  of({ basePlanVersionId }: Pick<PackageVersion, 'basePlanVersionId'>): PackageEntitlement[] {
    return basePlanVersionId === null ? [] : [...this.#givenBy(basePlanVersionId).values()]
  }

  #givenBy(versionId: string): ReadonlyMap<string, PackageEntitlement> {
    const known = this.#given.get(versionId)
    if (known) return known
    const chain = chainOf(versionId, this.#versions, (id) => this.#given.has(id))
    const given = new Map(this.#given.get(chain.at(-1)!.basePlanVersionId ?? ''))
    for (const { entitlements } of chain.reverse())
      for (const grant of entitlements)
        given.set(grant.featureId, overInherited(given.get(grant.featureId) ?? null, { grant, behavior: grant.behavior }))
    this.#given.set(versionId, given)
    return given
  }
}

/** The version and its base plans, nearest first, up to one that is `known`. */
function chainOf<V extends Inheriting>(versionId: string, versions: ReadonlyMap<string, V>, known: (id: string) => boolean): V[] {
  const chain: V[] = []
  for (let id: string | null = versionId; id !== null && !known(id); id = chain.at(-1)!.basePlanVersionId) chain.push(versions.get(id)!)
  return chain
}

/** How many features each of the versions gives, inherited ones too. A step for each of them. */
export function* countGiven(versions: ReadonlyMap<string, Inheriting>): Generator<void, ReadonlyMap<string, number>> {
  const own = new Map<string, ReadonlySet<string>>()
  const counts = new Map<string, number>()
  const isGivenBy = (versionId: string | null, featureId: string): boolean => {
    for (let id = versionId; id !== null; id = versions.get(id)!.basePlanVersionId) if (own.get(id)!.has(featureId)) return true
    return false
  }
  for (const versionId of versions.keys()) {
    for (const { id, basePlanVersionId, entitlements } of chainOf(versionId, versions, (id) => counts.has(id)).reverse()) {
      const features = new Set(entitlements.map(({ featureId }) => featureId))
      let count = basePlanVersionId === null ? 0 : counts.get(basePlanVersionId)!
      for (const featureId of features) if (!isGivenBy(basePlanVersionId, featureId)) count += 1
      own.set(id, features)
      counts.set(id, count)
    }
    yield
  }
  return counts
}
