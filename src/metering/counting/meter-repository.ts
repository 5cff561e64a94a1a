/** Raw SQL that reads meters with their history. */
import type { Queryable } from '../../platform/sql.js'
import type { FeatureMeter, MeterVersion } from '../model/meter.js'

/** The meters in force, with all that they were. */
export async function loadMeters(db: Queryable, environmentId: string): Promise<FeatureMeter[]> {
  type Versions = (Omit<MeterVersion, 'validFrom'> & { from: string })[]
  const { rows } = await db.query<{ feature_id: string; ref_id: string; is_grouped: boolean; versions: Versions }>({
    name: 'metering_load_meters',
    text: `
      SELECT meter.feature_id, feature.ref_id, history.versions,
        EXISTS (SELECT FROM usage_grouping WHERE environment_id = $1::uuid AND feature_id = meter.feature_id) AS is_grouped
      FROM meter JOIN feature ON feature.environment_id = meter.environment_id AND feature.id = meter.feature_id
      CROSS JOIN LATERAL (
        SELECT json_agg(json_build_object('version', version, 'aggregation', aggregation, 'field', field, 'filters', filters,
          'from', floor(extract(epoch FROM valid_from) * 1000)) ORDER BY version) AS versions
        FROM meter_version WHERE environment_id = $1::uuid AND feature_id = meter.feature_id
      ) AS history
      WHERE meter.environment_id = $1::uuid`,
    values: [environmentId],
  })
  return rows.map(({ feature_id, ref_id, is_grouped, versions }) => ({
    featureId: feature_id,
    featureRefId: ref_id,
    isGrouped: is_grouped,
    versions: versions.map(({ from, ...version }) => ({ ...version, validFrom: Number(from) })),
  }))
}
