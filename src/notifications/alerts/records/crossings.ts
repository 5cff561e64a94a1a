import type pg from 'pg'
import type { EpochMs } from '../../../kernel/clock.js'
import * as decimal from '../../../kernel/decimal.js'
import { type Db, Prisma } from '../../../platform/postgres.js'
import { plainArray } from '../../../platform/sql.js'
import { type ThresholdKind, thresholdKinds } from '../rules/alert.js'
import type { CrossingDecision, OpenCrossing, ReachedThreshold } from '../rules/crossings.js'

/** What is known to be reached, by customer (our id); without those of a kind that only a later release knows, which ends them too. */
export async function findOpenCrossings(
  db: Db,
  environmentId: string,
  customerIds: readonly string[],
): Promise<Map<string, OpenCrossing[]>> {
  const rows = await db.alertCrossing.findMany({
    where: { environmentId, customerId: { in: [...customerIds] }, thresholdKind: { in: [...thresholdKinds] }, endedAt: null },
    orderBy: [{ reachedAt: 'asc' }, { id: 'asc' }],
  })
  const open = new Map<string, OpenCrossing[]>()
  for (const { id, alertId, customerId, resourceId, subjectId, thresholdKind, thresholdValue, periodStart } of rows) {
    const threshold = { kind: thresholdKind as ThresholdKind, value: decimal.fromText(thresholdValue.toFixed()) }
    const crossing = { id, alertId, resourceId, subjectId, threshold, periodStart: periodStart?.getTime() ?? null }
    open.set(customerId, [...(open.get(customerId) ?? []), crossing])
  }
  return open
}

export interface NewCrossing extends ReachedThreshold {
  id: string
}

/** What was reached of a customer (our id), and what has ended of what was. */
export interface CustomerCrossings {
  customerId: string
  now: EpochMs
  reached: readonly NewCrossing[]
  ended: CrossingDecision['ended']
}

/** In the transaction that holds the customers' state rows. */
export async function recordCrossings(db: Db, environmentId: string, customers: readonly CustomerCrossings[]): Promise<void> {
  const ended = customers.flatMap(({ now, ended }) => ended.map(({ crossing, reason }) => ({ id: crossing.id, reason, at: new Date(now) })))
  const reached = customers.flatMap(({ customerId, now, reached }) =>
    reached.map((crossing) => ({ customerId, at: new Date(now), ...crossing })),
  )
  if (ended.length > 0)
    await db.$executeRaw(Prisma.sql`
      UPDATE alert_crossing AS crossing SET ended_at = given.at, end_reason = given.reason
      FROM unnest(${ended.map(({ id }) => id)}::uuid[], ${ended.map(({ at }) => at)}::timestamptz[], ${ended.map(({ reason }) => reason)}::text[])
        AS given (id, at, reason)
      WHERE crossing.environment_id = ${environmentId}::uuid AND crossing.id = given.id`)
  if (reached.length > 0)
    await db.alertCrossing.createMany({
      data: reached.map(({ id, customerId, at, alert, threshold, holder, standing }) => ({
        environmentId,
        id,
        alertId: alert.id,
        customerId,
        resourceId: holder.resource?.id ?? null,
        subjectId: standing.subject.id,
        thresholdKind: threshold.kind,
        thresholdValue: threshold.value,
        usage: standing.usage,
        usageLimit: standing.limit,
        periodStart: standing.periodStart === null ? null : new Date(standing.periodStart),
        periodEnd: standing.periodEnd === null ? null : new Date(standing.periodEnd),
        reachedAt: at,
      })),
    })
}

/**
 * Customers (our ids) with something reached in a period that is over by now, by environment. The time of each is found out first: asked in the condition it would be asked
 * for each crossing, and no index could be gone by.
 */
export async function findEndedPeriods(pool: pg.Pool, limit: number): Promise<{ environmentId: string; customerIds: string[] }[]> {
  const { rows } = await pool.query<{ environmentId: string; customerIds: string[] }>({
    name: 'alerts_find_ended_periods',
    text: `
      SELECT environment.id AS "environmentId", array_agg(DISTINCT over.customer_id) AS "customerIds"
      FROM (
        SELECT id, to_timestamp(environment_clock(id) / 1000.0) AS now FROM environment WHERE watches_usage OFFSET 0
      ) AS environment CROSS JOIN LATERAL (
        SELECT customer_id FROM alert_crossing AS crossing
        WHERE crossing.environment_id = environment.id AND crossing.ended_at IS NULL AND crossing.period_end <= environment.now
          AND crossing.threshold_kind = ANY($2::text[])
          AND NOT EXISTS (
            SELECT FROM customer_evaluation AS evaluation
            WHERE evaluation.environment_id = environment.id AND evaluation.customer_id = crossing.customer_id)
        ORDER BY crossing.period_end LIMIT $1::int
      ) AS over
      GROUP BY environment.id`,
    values: [limit, plainArray([...thresholdKinds])],
  })
  return rows
}
