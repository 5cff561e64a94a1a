import { nearestName } from '../../kernel/nearest.js'
import type { MeterType } from '../../metering/model/meter.js'

export type FeatureType = 'BOOLEAN' | 'NUMBER' | 'ENUM'

/** A feature as those who hold it know it. What it is called may change; its type and its meter do not. */
export interface Feature {
  /** Ours. */
  id: string
  /** The caller's identifier. */
  refId: string
  displayName: string
  description: string | null
  featureType: FeatureType
  meterType: MeterType
  units: string | null
  unitsPlural: string | null
  unitTransformation: { divide: number; round: 'UP' | 'DOWN' } | null
}

/** A feature with what decides about granting it. */
export interface CatalogFeature extends Feature {
  /** Not in the catalog any more; those who hold it still do. */
  isArchived: boolean
  /** ENUM: the values that an entitlement may hold. */
  enumValues: string[]
}

/** A feature with what only those who show it need. */
export type ShownFeature = Feature & { additionalMetaData: Record<string, unknown> | null }

/** The feature (refId) of the catalog that was probably meant by a name that is none; null: none is close. */
export function nearestFeature(features: ReadonlyMap<string, CatalogFeature>, refId: string): string | null {
  const sold = [...features.values()].filter(({ isArchived }) => !isArchived)
  return nearestName(
    refId,
    sold.map((feature) => feature.refId),
  )
}
