import { expect } from 'chai'
import { Client, type Pool } from 'pg'
import { findEndedPeriods } from '../../../src/notifications/alerts/records/crossings.js'
import { findDue, type Lane, recordAttempts } from '../../../src/notifications/webhooks/records/lanes.js'
import { lookedAtBy } from '../../support/looked-at.js'
import { openWebhookBench, type WebhookBench } from './fixture.js'

/** An index may lead to a few more than are asked for. */
const mostLookedAt = 500
const many = 3_000
/** Looked at in tables and indexes to record one attempt. */
const mostBlocks = 60
const answered = { durationMs: 1, statusCode: 204, response: '', error: null, retryAfter: null }

/** A worker's connections live for days, and PostgreSQL keeps what it has planned for their statements while there was next to nothing. */
describe('statements that were planned while there were few rows', function () {
  this.timeout(60_000)
  let bench: WebhookBench
  let client: Client
  let environmentId: string
  let lane: Lane

  before(async () => {
    bench = await openWebhookBench()
    environmentId = await bench.createEnvironment()
    const { endpoint } = await bench.webhooks.create(environmentId, { url: 'http://127.0.0.1:9/', eventTypes: ['import.finished'] })
    lane = { environmentId, endpointId: endpoint.id } as Lane
    await bench.prisma.$executeRaw`UPDATE environment SET watches_usage = true WHERE id = ${environmentId}::uuid`
    client = new Client({ connectionString: bench.databaseUrl })
    await client.connect()
    await client.query("SET plan_cache_mode = 'force_generic_plan'")
    await findDue(client as unknown as Pool, lane, { without: [], limit: 32, maxBytes: 1_000_000 })
    await addEvents(1)
    await recordAttempts(client as unknown as Pool, lane, [
      { eventId: (await findPending(1))[0]!, outcome: answered, consequence: { status: 'DELIVERED' } },
    ])
    await findEndedPeriods(client as unknown as Pool, 32)
  })
  after(async () => {
    await client.end()
    expect(await bench.closeAll()).to.deep.equal([])
  })

  const addEvents = (count: number) => bench.prisma.$executeRaw`
    INSERT INTO notification_event (environment_id, id, type, payload_version, payload, occurred_at)
    SELECT ${environmentId}::uuid, gen_random_uuid(), 'import.finished', 1, '{}', now() FROM generate_series(1, ${count}::int)`
  const findPending = async (take: number) =>
    (await bench.prisma.webhookDelivery.findMany({ where: { status: 'PENDING' }, select: { eventId: true }, take })).map(
      ({ eventId }) => eventId,
    )

  it('find each event that is due by its key', async () => {
    await addEvents(many)
    const { rows, plan } = await lookedAtBy(
      client,
      `EXECUTE webhooks_find_due('${environmentId}', '${lane.endpointId}', '{}', 32, 1000000)`,
    )
    expect(rows, plan).to.be.within(32, mostLookedAt)
  })

  it('record an attempt at a delivery that is found by its key, and so is what the attempt refers to', async () => {
    await addEvents(5 * many)
    const made = (await findPending(8)).map((event) => ({ event, status: 'DELIVERED', durationMs: 1, statusCode: 204 }))
    const { rows } = await client.query<{ 'QUERY PLAN': { Plan: { 'Shared Hit Blocks': number } }[] }>(
      `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE webhooks_record_attempts('${environmentId}', '${lane.endpointId}', '${JSON.stringify(made)}')`,
    )
    // The index by date alone has more for each of them.
    expect(rows[0]!['QUERY PLAN'][0]!.Plan['Shared Hit Blocks'] / made.length).to.be.below(mostBlocks)
  })

  it('look at no crossing whose period goes on', async () => {
    const customer = await bench.customers.create(environmentId, { refId: 'acme' })
    const alertId = '00000000-0000-7000-8000-000000000001'
    await bench.prisma.$executeRaw`
      INSERT INTO alert (environment_id, id, thresholds, hysteresis_percent) VALUES (${environmentId}::uuid, ${alertId}::uuid, '[]', 0)`
    await bench.prisma.$executeRaw`
      INSERT INTO alert_crossing (environment_id, id, alert_id, customer_id, subject_id, threshold_kind, threshold_value, usage, reached_at, period_start, period_end)
      SELECT ${environmentId}::uuid, gen_random_uuid(), ${alertId}::uuid, ${customer.id}::uuid, gen_random_uuid(), 'AMOUNT', n, n, now(), now(), now() + interval '1 day'
      FROM generate_series(1, ${many}::int) AS n`
    const { rows, plan } = await lookedAtBy(client, 'EXECUTE alerts_find_ended_periods(32, $${SHARE,AMOUNT}$$)')
    expect(rows, plan).to.be.below(mostLookedAt)
  })
})
