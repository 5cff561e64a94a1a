/** What does not say its environment, and why: the page on scaling has the same lists, word for word, which a test compares. */
import type { Fault } from './scope.js'

/** A row of the page. */
export interface Exception {
  what: string
  why: string
  /** Each is told from all others by what it contains, without regard to spaces. */
  statements: readonly { sql: string; faults: readonly Fault[] }[]
}

const sweep = (sql: string, ...tables: string[]) => ({ sql, faults: tables.map((table): Fault => `sweeps ${table}`) })
const lock = (sql: string, table: string) => ({ sql, faults: [`locks by a sweep ${table}` as Fault] })
const write = (sql: string, ...tables: string[]) => ({ sql, faults: tables.map((table): Fault => `writes by a sweep ${table}`) })

export const exceptions: readonly Exception[] = [
  {
    what: 'The environment of an API key, and a key that an operator names',
    why: 'what is asked is of which environment the key is; answers are remembered, so it is asked once in a while for each key',
    statements: [
      sweep('FROM "public"."api_key" WHERE ("public"."api_key"."hash" = $1', 'api_key'),
      sweep('FROM "public"."api_key" WHERE "public"."api_key"."id" = $1', 'api_key'),
    ],
  },
  {
    what: 'Rows that are written where they were found: versions of customers, counters, rollups',
    why: 'the statement before, or its first part, finds them by environment and takes their places (`ctid`); looking them up again would cost each report',
    statements: [
      write('UPDATE customer_state AS state SET version = greatest(v_time, state.version + 1)', 'customer_state'),
      write('WITH stored AS ( INSERT INTO usage_measurement', 'usage_counter', 'usage_rollup'),
      write('added AS ( UPDATE usage_counter AS counter SET usage = CASE given.how', 'usage_counter'),
    ],
  },
  {
    what: 'Customers with something due: subscriptions, promotional entitlements',
    why: 'who is due in any environment is looked for each few seconds; what is done then is done by environment',
    statements: [
      sweep(
        'WITH RECURSIVE busy AS ( (SELECT environment_id FROM subscription WHERE due_at IS NOT NULL ORDER BY environment_id LIMIT 1)',
        'subscription',
      ),
      sweep(
        'WITH RECURSIVE busy AS ( (SELECT environment_id FROM promotional_entitlement WHERE due_at IS NOT NULL ORDER BY environment_id LIMIT 1)',
        'promotional_entitlement',
      ),
    ],
  },
  {
    what: 'Migrations of packages that are not finished',
    why: 'looked for by the sweep that moves subscriptions; those are moved by environment',
    statements: [sweep('WITH RECURSIVE busy AS ( (SELECT environment_id FROM package_migration', 'package_migration')],
  },
  {
    what: 'Calls of the billing provider, stored events and recomputations that wait',
    why: 'those that wait longest in any environment are looked for each few seconds; each is claimed by environment',
    statements: [
      sweep('WITH RECURSIVE busy AS ( (SELECT environment_id FROM billing_intent', 'billing_intent'),
      sweep(
        'SELECT environment_id, array_agg(id) AS ids FROM ( SELECT environment_id, id FROM ( SELECT environment_id, id, coalesce(swept_at, created_at) AS since',
        'pending_batch',
      ),
      sweep('WITH RECURSIVE busy AS ( (SELECT environment_id FROM usage_recomputation', 'usage_recomputation'),
    ],
  },
  {
    what: 'Environments with changes to deliver',
    why: 'the sweep behind lost jobs; changes are leased by environment',
    statements: [sweep('SELECT DISTINCT environment_id FROM outbox_message', 'outbox_message')],
  },
  {
    what: 'Unfinished imports; finished ones that are old',
    why: 'the sweep behind lost jobs, and the deletion of what nobody asks for any more',
    statements: [
      sweep('WITH RECURSIVE busy AS ( (SELECT environment_id FROM import_job', 'import_job'),
      write('DELETE FROM import_job', 'import_job'),
    ],
  },
  {
    what: 'Invoices whose time to be paid has passed, failed ones to be collected again, usage that came too late',
    why: 'looked for each second by `billing-sync`; what is done then is done by environment',
    statements: [
      sweep('WITH RECURSIVE busy AS ( (SELECT environment_id FROM subscription_billing WHERE payment_due_at', 'subscription_billing'),
      sweep('WITH RECURSIVE busy AS ( (SELECT environment_id FROM invoice', 'invoice'),
      sweep('WITH RECURSIVE busy AS ( (SELECT environment_id FROM subscription_billing WHERE late_usage_due_at', 'subscription_billing'),
    ],
  },
  {
    what: 'Heartbeats of persistent caches, and warmings to go on with',
    why: 'one row for each environment, joined to the environments; the epochs of all are looked at each two seconds',
    statements: [
      write('UPDATE environment_feed AS feed SET beat_at', 'environment_feed'),
      sweep('feed.epoch::float8 AS epoch, feed.vouched_by AS "vouchedBy"', 'environment_feed'),
      write('UPDATE cache_warming AS warming SET claimed_until', 'cache_warming'),
    ],
  },
  {
    what: 'The longest usage period of all catalogs and entitlements',
    why: 'tells how long raw events are kept, once in a while; partitions of events are months, and not environments',
    statements: [
      sweep('WITH RECURSIVE source AS (', 'meter', 'package_entitlement', 'package_version', 'price'),
      sweep('FROM promotional_entitlement AS entitlement LEFT JOIN meter', 'meter', 'promotional_entitlement'),
      sweep('FROM subscription_entitlement AS entitlement LEFT JOIN meter', 'meter', 'subscription_entitlement'),
    ],
  },
  {
    what: 'Dropping and making months of raw events and of the audit log; deleting old events that are in no month, and old identities of usage',
    why: 'by age, whole partitions or block by block, on the server that has them',
    statements: [
      sweep('SELECT EXISTS (SELECT FROM pending_batch AS batch JOIN', 'pending_batch', 'raw_event'),
      sweep('SELECT count(*) FROM (SELECT FROM raw_event_default', 'raw_event'),
      write('AS event USING environment WHERE event.ctid >= $1::tid', 'raw_event'),
      { sql: 'WITH moved AS (DELETE FROM raw_event_default', faults: ['inserts without raw_event', 'writes by a sweep raw_event'] },
      sweep('(SELECT min(at) FROM audit_entry_default)', 'audit_entry'),
      { sql: 'WITH moved AS (DELETE FROM audit_entry_default', faults: ['inserts without raw_event', 'writes by a sweep audit_entry'] },
      write('WHERE ctid >= $1::tid AND ctid < $2::tid', 'ingestion_key'),
    ],
  },
  {
    what: 'Webhook endpoints with something to be sent, and the leases of a worker; old events',
    why: 'looked for by the workers, which lease endpoints of any environment; what is sent then is read by environment',
    statements: [
      lock('SELECT environment_id, id FROM webhook_endpoint AS endpoint WHERE status', 'webhook_endpoint'),
      write('WHERE id = ANY($2::uuid[]) AND leased_by = $1::uuid', 'webhook_endpoint'),
      sweep('FROM added AS event JOIN webhook_endpoint', 'webhook_endpoint'),
      sweep('FROM notification_event AS event, CAST(clock_timestamp()', 'notification_event'),
    ],
  },
  {
    what: 'Customers whose alerts and entitlements are to be evaluated, and rounds of all of them; usage that starts again; old crossings, and deleted alerts',
    why: 'looked for by the workers, some of each environment in turn; what is read and written then is by environment',
    statements: [
      sweep('WITH RECURSIVE busy AS ( (SELECT environment_id FROM customer_evaluation', 'customer_evaluation'),
      lock('SELECT environment_id, after_id, rounds FROM evaluation_round', 'evaluation_round'),
      sweep('FROM alert_crossing WHERE ended_at IS NOT NULL AND created_at', 'alert_crossing'),
      sweep('FROM alert WHERE deleted_at IS NOT NULL', 'alert'),
    ],
  },
  {
    what: 'Gauges: how late due work is, and how many calls of the billing provider and webhooks wait',
    why: 'one number for the whole platform',
    statements: [
      sweep("(SELECT count(*) FROM (SELECT FROM webhook_delivery WHERE status = 'PENDING'", 'webhook_delivery', 'webhook_endpoint'),
      sweep("SELECT count(*) FILTER (WHERE state = 'WAITING') AS waiting", 'billing_intent'),
    ],
  },
  {
    what: 'Dead letters among the changes',
    why: 'an operator looks at those of all environments, and names one by its id',
    statements: [
      sweep('FROM outbox_message WHERE unreadable IS NOT NULL', 'outbox_message'),
      write('UPDATE outbox_message SET claimed_until = NULL', 'outbox_message'),
      write('DELETE FROM outbox_message', 'outbox_message'),
    ],
  },
]

/** Keys that do not begin with the environment, and tables that belong to none. */
export const keyExceptions: readonly { what: string; why: string; names: readonly string[] }[] = [
  {
    what: 'The table of environments, and the ledgers of releases',
    why: 'small and changed seldom; environments are joined by all: a table that every server has whole (a reference table)',
    names: ['table environment', 'table schema_guard', 'table schema_function', 'table _prisma_migrations'],
  },
  {
    what: 'API keys by their hash',
    why: 'the key of a caller tells the environment; hashes are of 256 bits and unique without an index over all servers, so it may be an index that is not unique',
    names: ['index api_key_hash_key'],
  },
]

export const plain = (sql: string) => sql.trim().replace(/\s+/g, ' ')

/** What a statement is known for; undefined: it is no exception. */
export const knownAs = (sql: string, fault: Fault): string | undefined =>
  exceptions.flatMap(({ statements }) => statements).find((known) => known.faults.includes(fault) && plain(sql).includes(known.sql))?.sql
