import type { EpochMs } from '../../../kernel/clock.js'
import * as decimal from '../../../kernel/decimal.js'
import { column, nullable } from '../../../platform/list/columns.js'
import { bind } from '../../../platform/list/filter.js'
import { type List, readPage, withRecords } from '../../../platform/list/page.js'
import type { Page, Paging } from '../../../platform/list/request.js'
import { type Db, Prisma } from '../../../platform/postgres.js'
import type { ReachedMessage } from '../../../updates/wire/alert-message.js'
import type { Alert, ThresholdKind } from '../rules/alert.js'
import type { EndReason } from '../rules/crossings.js'
import { findAlertsById } from './alerts.js'

/** A threshold that was reached, and what became of it; usage and limit as they were then. */
export interface Crossing extends ReachedMessage {
  /** Null: it is reached. */
  endedAt: EpochMs | null
  endReason: EndReason | null
}

/** Absent and null mean the same: all. */
export interface CrossingFilter {
  alertId?: string | null
  customerId?: string | null
  /** True: only what is reached now; false: only what is not any more. */
  isReached?: boolean | null
}

const alerts: List = {
  from: Prisma.sql`alert`,
  id: column('uuid', 'alert.id'),
  defaultSort: { field: 'createdAt', direction: 'DESC' },
  columns: { createdAt: column('time', 'alert.created_at') },
}

export async function pageOfAlerts(db: Db, environmentId: string, paging: Paging | null): Promise<Page<Alert>> {
  const page = await readPage(db, alerts, Prisma.sql`alert.environment_id = ${environmentId}::uuid AND alert.deleted_at IS NULL`, {
    paging,
  })
  return withRecords(page, async (ids) => new Map((await findAlertsById(db, environmentId, ids)).map((alert) => [alert.id, alert])))
}

const crossings: List = {
  from: Prisma.sql`alert_crossing AS crossing`,
  id: column('uuid', 'crossing.id'),
  defaultSort: { field: 'reachedAt', direction: 'DESC' },
  columns: {
    alertId: column('uuid', 'crossing.alert_id'),
    endedAt: nullable('time', 'crossing.ended_at'),
    reachedAt: column('time', 'crossing.reached_at'),
  },
}

export async function pageOfCrossings(
  db: Db,
  environmentId: string,
  { alertId, customerId, isReached }: CrossingFilter,
  paging: Paging | null,
): Promise<Page<Crossing>> {
  const filter = {
    alertId: isGiven(alertId) ? { eq: alertId } : undefined,
    endedAt: isGiven(isReached) ? (isReached ? { is: null } : { isNot: null }) : undefined,
  }
  // Subqueries, which are asked once: a join would be in the way of an index that has the order.
  const scope = Prisma.sql`crossing.environment_id = ${environmentId}::uuid
    AND crossing.alert_id <> ALL(ARRAY(SELECT id FROM alert WHERE environment_id = ${environmentId}::uuid AND deleted_at IS NOT NULL))`
  const ofCustomer = isGiven(customerId)
    ? Prisma.sql`crossing.customer_id = (SELECT id FROM customer WHERE environment_id = ${environmentId}::uuid AND ref_id = ${bind('text', customerId)})`
    : Prisma.sql`TRUE`
  const page = await readPage(db, crossings, Prisma.join([scope, ofCustomer], ' AND '), { filter, paging })
  return withRecords(page, async (ids) => new Map((await findCrossings(db, environmentId, ids)).map((crossing) => [crossing.id, crossing])))
}

const isGiven = <T>(value: T | null | undefined): value is T => value !== null && value !== undefined

interface Row {
  id: string
  alert_id: string
  customer_id: string
  resource_id: string | null
  feature_id: string | null
  subscription_id: string | null
  threshold_kind: ThresholdKind
  threshold_value: string
  usage: string
  usage_limit: string | null
  period_start: Date | null
  period_end: Date | null
  reached_at: Date
  ended_at: Date | null
  end_reason: EndReason | null
}

export async function findCrossings(db: Db, environmentId: string, ids: readonly string[]): Promise<Crossing[]> {
  const rows = await db.$queryRaw<Row[]>(Prisma.sql`
    SELECT crossing.id, crossing.alert_id, customer.ref_id AS customer_id, resource.ref_id AS resource_id, feature.ref_id AS feature_id,
      subscription.ref_id AS subscription_id, crossing.threshold_kind, crossing.threshold_value::text, crossing.usage::text, crossing.usage_limit::text,
      crossing.period_start, crossing.period_end, crossing.reached_at, crossing.ended_at, crossing.end_reason
    FROM alert_crossing AS crossing
    JOIN customer ON customer.environment_id = crossing.environment_id AND customer.id = crossing.customer_id
    LEFT JOIN customer_resource AS resource
      ON resource.environment_id = crossing.environment_id AND resource.customer_id = crossing.customer_id AND resource.id = crossing.resource_id
    LEFT JOIN feature ON feature.environment_id = crossing.environment_id AND feature.id = crossing.subject_id
    LEFT JOIN subscription ON subscription.environment_id = crossing.environment_id AND subscription.id = crossing.subject_id
    WHERE crossing.environment_id = ${environmentId}::uuid AND crossing.id = ANY(${[...ids]}::uuid[])`)
  return rows.map((row) => ({
    id: row.id,
    alertId: row.alert_id,
    customerId: row.customer_id,
    resourceId: row.resource_id,
    featureId: row.feature_id,
    subscriptionId: row.subscription_id,
    threshold: { kind: row.threshold_kind, value: decimal.fromText(row.threshold_value) },
    usage: decimal.fromText(row.usage),
    limit: row.usage_limit === null ? null : decimal.fromText(row.usage_limit),
    periodStart: row.period_start?.getTime() ?? null,
    periodEnd: row.period_end?.getTime() ?? null,
    reachedAt: row.reached_at.getTime(),
    endedAt: row.ended_at?.getTime() ?? null,
    endReason: row.end_reason,
  }))
}
