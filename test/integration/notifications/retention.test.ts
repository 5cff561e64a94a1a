import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { deleteOldEvents } from '../../../src/notifications/webhooks/records/retention.js'
import { type Bench, openBench } from '../subscription/fixture.js'

describe('events that are old', () => {
  let bench: Bench
  let environmentId: string
  let endpointId: string

  before(async () => {
    bench = await openBench()
  })
  beforeEach(async () => {
    await bench.pool.query('DELETE FROM notification_event')
    environmentId = await bench.createEnvironment()
    endpointId = (await bench.webhooks.create(environmentId, { url: 'https://app.example.com/hooks' })).endpoint.id
  })
  after(async () => expect(await bench.close()).to.deep.equal([]))

  /** So many days ago, and attempts at it. */
  async function newEvent(days: number, attempts: number[] = []): Promise<string> {
    const id = randomUUID()
    await bench.prisma.$executeRaw`
      INSERT INTO notification_event (environment_id, id, type, payload_version, payload, occurred_at, created_at)
      SELECT ${environmentId}::uuid, ${id}::uuid, 'import.finished', 1, '{}', at, at FROM CAST(now() - make_interval(mins => ${Math.round(days * 1_440)}) AS timestamptz) AS at`
    for (const [index, daysAgo] of attempts.entries())
      await bench.prisma.$executeRaw`
        INSERT INTO webhook_attempt (environment_id, endpoint_id, event_id, number, at, duration_ms, status_code)
        SELECT ${environmentId}::uuid, ${endpointId}::uuid, ${id}::uuid, ${index + 1}, now() - make_interval(mins => ${Math.round(daysAgo * 1_440)}), 5, 500`
    return id
  }
  const kept = async (table: 'notification_event' | 'webhook_delivery' | 'webhook_attempt') => {
    const column = table === 'notification_event' ? 'id' : 'event_id'
    const { rows } = await bench.pool.query<{ id: string }>(`SELECT DISTINCT ${column} AS id FROM ${table} WHERE environment_id = $1`, [
      environmentId,
    ])
    return rows.map(({ id }) => id)
  }

  it('go with their deliveries and attempts after 30 days, and not before', async () => {
    await newEvent(30.01, [30.01, 30])
    await newEvent(31)
    const young = await newEvent(29.9, [29.9])
    expect(await deleteOldEvents(bench.prisma, { days: 30, limit: 100 })).to.equal(2)
    for (const table of ['notification_event', 'webhook_delivery', 'webhook_attempt'] as const)
      expect(await kept(table)).to.deep.equal([young])
  })

  it('stay as long as an attempt at them is to be kept', async () => {
    const resent = await newEvent(45, [45, 29.9])
    await newEvent(45, [45, 30.1])
    expect(await deleteOldEvents(bench.prisma, { days: 30, limit: 100 })).to.equal(1)
    expect(await kept('webhook_attempt')).to.deep.equal([resent])
    const { deliveries } = await bench.webhooks.deliveries(environmentId, { endpointId, first: 10 })
    expect(deliveries.map(({ attempts }) => attempts.length)).to.deep.equal([2])
  })

  it('go in lots, the oldest first', async () => {
    const [youngest] = [await newEvent(33), await newEvent(40), await newEvent(35)]
    expect(await deleteOldEvents(bench.prisma, { days: 30, limit: 2 })).to.equal(2)
    expect(await kept('notification_event')).to.deep.equal([youngest])
    expect(await deleteOldEvents(bench.prisma, { days: 30, limit: 2 })).to.equal(1)
  })
})
