import { Sender } from '../src/notifications/webhooks/attempt.js'
import { targetsOf, webhookVariables } from '../src/notifications/webhooks/config.js'
import { extendIntervalMs, WebhookDelivery } from '../src/notifications/webhooks/delivery.js'
import { deleteOldEvents } from '../src/notifications/webhooks/records/retention.js'
import { Sealing } from '../src/notifications/webhooks/secrets.js'
import { loadTracing } from '../src/platform/cloud/traces.js'
import { databaseVariables, port, positive, processVariables } from '../src/platform/config.js'
import { DatabaseClock } from '../src/platform/database-clock.js'
import { connectPostgres } from '../src/platform/postgres.js'
import { runProcess } from '../src/platform/process.js'
import { every } from '../src/platform/timer.js'
import { inTransaction } from '../src/platform/transaction.js'

const webhookDeliveryConfig = {
  ...processVariables,
  ...databaseVariables,
  ...webhookVariables,
  PORT: port({ default: 4107, desc: 'Port of health and metrics' }),
  CONCURRENCY: positive({ default: 100, desc: 'Webhook endpoints that are sent to at the same time' }),
  SWEEP_INTERVAL_MS: positive({ default: 200, desc: 'How often endpoints with something to be delivered are looked for' }),
  EVENTS_KEPT_DAYS: positive({ default: 30, desc: 'How long events, their deliveries and the attempts at them are kept' }),
}

/** Attempts under way when the process is told to stop. */
const stopGraceMs = 5_000
const retentionIntervalMs = 10 * 60_000
const deletedAtOnce = 5_000

/**
 * Sends committed events to the webhook endpoints of the host application. Several copies may run: an endpoint is leased to one of them at a time, and an event that is
 * sent twice has the same id.
 */
await runProcess({ name: 'webhook-delivery', spec: webhookDeliveryConfig, loadTracing }, async (config, life) => {
  const { pool, prisma } = await connectPostgres(life, config.DATABASE_URL.reveal(), {
    poolSize: config.DATABASE_POOL_SIZE,
    isPooler: config.DATABASE_DIRECT_URL !== undefined,
    // Statements on deliveries are planned once, and that while there are none would be to read all of them, also when they are many.
    session: { enable_seqscan: 'off' },
  })
  const clock = await DatabaseClock.open(life, pool)
  const sender = life.open('webhook connections', new Sender({ targets: targetsOf(config) }), (opened) => opened.close())
  const sealing = new Sealing(config.SECRETS_KEY)
  const { log, metrics } = life
  const delivery = new WebhookDelivery({ pool, prisma, sender, sealing, clock, log, metrics, lanes: config.CONCURRENCY })

  every(life, 'webhook lanes', config.SWEEP_INTERVAL_MS, () => delivery.takeLanes())
  every(life, 'webhook leases', extendIntervalMs, () => delivery.extendLanes())
  every(life, 'old events', retentionIntervalMs, async () => {
    const forget = () => inTransaction(prisma, (db) => deleteOldEvents(db, { days: config.EVENTS_KEPT_DAYS, limit: deletedAtOnce }))
    while (!life.signal.aborted && (await forget()) === deletedAtOnce);
  })
  life.onStop('webhook attempts', () => delivery.stop(stopGraceMs))
  await life.serveHealth({ port: config.PORT, host: config.BIND_ADDRESS })
})
