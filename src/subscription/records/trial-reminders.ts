import type { EpochMs } from '../../kernel/clock.js'
import { type Db, Prisma } from '../../platform/postgres.js'

export interface EndingTrial {
  environmentId: string
  customerId: string
  /** Our id. */
  subscriptionId: string
}

/** Of a subscription `s`: a trial whose end was not told of yet. */
const isUntold = Prisma.sql`s.status = 'IN_TRIAL' AND s.told_trial_end IS DISTINCT FROM s.trial_end_date`

/**
 * Those that end within `leadMs` by the clock of their environment, and have not ended, of environments that hear of events: of all (null), of each in turn
 * those that end first, or of one.
 */
export async function findEndingTrials(
  db: Db,
  { environmentId, leadMs, limit }: { environmentId: string | null; leadMs: number; limit: number },
): Promise<EndingTrial[]> {
  const rows = await db.$queryRaw<{ environment_id: string; customer_id: string; id: string }[]>(Prisma.sql`
    SELECT environment.id AS environment_id, trial.customer_id, trial.id
    FROM (
      SELECT id, environment_clock(id) AS now FROM environment
      WHERE hears_events ${environmentId === null ? Prisma.empty : Prisma.sql`AND id = ${environmentId}::uuid`} OFFSET 0
    ) AS environment CROSS JOIN LATERAL (
      SELECT first.*, row_number() OVER (ORDER BY trial_end_date) AS place FROM (
      SELECT s.customer_id, s.id, s.trial_end_date FROM subscription AS s
      WHERE s.environment_id = environment.id AND ${isUntold}
        AND s.trial_end_date > to_timestamp(environment.now / 1000.0) AND s.trial_end_date <= to_timestamp((environment.now + ${leadMs}) / 1000.0)
      ORDER BY s.trial_end_date LIMIT ${limit}) AS first
    ) AS trial
    ORDER BY trial.place, trial.trial_end_date LIMIT ${limit}`)
  return rows.map((row) => ({ environmentId: row.environment_id, customerId: row.customer_id, subscriptionId: row.id }))
}

/** When the next trial of an environment is to be told of, not after `until`; null: none is. */
export async function findNextEndingTrial(db: Db, environmentId: string, leadMs: number, until: EpochMs): Promise<EpochMs | null> {
  const [row] = await db.$queryRaw<{ at: number | null }[]>(Prisma.sql`
    SELECT (min(extract(epoch FROM s.trial_end_date)) * 1000 - ${leadMs})::float8 AS at
    FROM environment AS e JOIN subscription AS s ON s.environment_id = e.id
    WHERE e.id = ${environmentId}::uuid AND e.hears_events AND ${isUntold}
      AND s.trial_end_date > to_timestamp(environment_clock(e.id) / 1000.0)`)
  const at = row?.at ?? null
  return at === null || at > until ? null : at
}

/** False: it was told before, or is no trial any more. */
export async function claimTrialEnd(db: Db, { environmentId, subscriptionId }: EndingTrial): Promise<boolean> {
  const count = await db.$executeRaw(Prisma.sql`
    UPDATE subscription SET told_trial_end = trial_end_date
    WHERE environment_id = ${environmentId}::uuid AND id = ${subscriptionId}::uuid AND status = 'IN_TRIAL'
      AND told_trial_end IS DISTINCT FROM trial_end_date`)
  return count === 1
}
