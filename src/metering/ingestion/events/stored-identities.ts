/** Which events are stored already, asked by their identities (see `eventIdentity`; here as latin1 text, each once, in ascending order). */
import type { EpochMs } from '../../../kernel/clock.js'
import { callOf, type Queryable } from '../../../platform/sql.js'

const packed = (identities: readonly string[]): Buffer => Buffer.from(identities.join(''), 'latin1')

/** What can be seen now: others may be about to store what is not. */
export async function findStoredNow(db: Queryable, environmentId: string, identities: readonly string[]): Promise<Set<string>> {
  const { rows } = await db.query<{ hash: Buffer }>({
    name: 'metering_find_stored_events',
    text: `
      SELECT key.hash FROM unnest($2::bytea[]) AS asked (hash)
      CROSS JOIN LATERAL (SELECT hash FROM ingestion_key WHERE environment_id = $1::uuid AND hash = asked.hash LIMIT 1) AS key`,
    values: [environmentId, identities.map((identity) => Buffer.from(identity, 'latin1'))],
  })
  return new Set(rows.map(({ hash }) => hash.toString('latin1')))
}

/** Of calls whose deadline is `deadline` at the latest, by when it has passed: what is not stored now will not be by them. Waits for who is storing it. */
export async function findStoredForSure(
  db: Queryable,
  environmentId: string,
  identities: readonly string[],
  deadline: EpochMs,
): Promise<Set<string>> {
  const parameters = { p_environment: environmentId, p_deadline: deadline, p_hashes: packed(identities) }
  const { rows } = await db.query<{ o_is_stored: boolean[] }>(callOf('find_stored_events', parameters, 'o_is_stored'))
  return new Set(identities.filter((_, index) => rows[0]!.o_is_stored[index]))
}
