import { expect } from 'chai'
import { newId } from '../../../src/kernel/id.js'
import { checkEvent, checkReport, keyOfMeasurement, type UsageEvent, type UsageReport } from '../../../src/metering/model/report.js'
import type { IngestionJob } from '../../../src/metering/wire/jobs.js'
import { packEvents } from '../../../src/metering/wire/packed-events.js'
import { packCall } from '../../../src/metering/wire/packed-reports.js'
import { type IngestionReply, replyChannel, unpackReply } from '../../../src/metering/wire/replies.js'
import { openSubscriber } from '../../../src/platform/redis.js'
import {
  count,
  createEnvironment,
  event,
  eventually,
  type MeteringBench,
  openMeteringBench,
  problemOf,
  report,
  usageOf,
} from './fixture.js'

const minute = 60_000
const door = 'door-of-repeats'

/** What is stored was counted, so a repeat of it is never refused: whoever believed that would count it again. */
describe('a repeat of usage that is stored', function () {
  this.timeout(30_000)
  let bench: MeteringBench
  let environmentId: string
  const replies: IngestionReply[] = []

  before(async () => {
    bench = await openMeteringBench({ shards: 1 })
    bench.startIngestion()
    const redis = openSubscriber(bench.life, bench.queues)
    redis.on('message', (_channel, text) => void replies.push(unpackReply(text)!))
    await redis.subscribe(replyChannel(bench.queues.prefix, door))
  })
  after(async () => expect(await bench.close()).to.deep.equal([]))
  beforeEach(async () => {
    environmentId = await createEnvironment(bench)
    for (const refId of ['customer', 'other'])
      await bench.app.customers.provision(environmentId, { refId, subscription: { planRefId: 'free' } })
  })

  const send = (...items: UsageReport[]) => bench.usage.report(environmentId, items)
  const archive = () => bench.app.customers.archive(environmentId, 'customer')
  const measurements = () => count(bench.pool, 'usage_measurement', environmentId)

  const jobOf = (batch: IngestionJob['batch']): IngestionJob => ({ v: 1, environmentId, door, batchId: newId(), isRepeat: false, batch })
  const reports = (...calls: UsageReport[][]) =>
    jobOf({
      kind: 'reports',
      calls: calls.map((items) =>
        packCall({ deadline: Date.now() + minute, items: items.map((item) => checkReport(item, newId(), Date.now())) }),
      ),
    })
  const events = (...calls: UsageEvent[][]) =>
    jobOf({
      kind: 'events',
      calls: calls.map((items) => ({
        deadline: Date.now() + minute,
        packed: packEvents(items.map((item) => checkEvent(item, Date.now()))),
      })),
    })
  /** Of each call: what the worker answers. */
  const ingest = async (job: IngestionJob) => {
    replies.splice(0)
    await bench.newIngestion().ingest({ ...job, batchId: newId() }, false)
    const [reply] = await eventually(
      async () => replies,
      (found) => found.length > 0,
    )
    return reply!.answers.map((answer) => {
      if ('problem' in answer) return answer.problem.details.outcome ?? answer.problem.reason
      return 'refused' in answer && answer.refused.length > 0 ? answer.refused.map(({ code }) => code) : 'counted'
    })
  }

  describe('whose customer was archived since', () => {
    it('is answered with the id of the first, as usage that nobody is entitled to', async () => {
      const keyed = report('customer', 3, { idempotencyKey: 'key' })
      const [first] = await send(keyed)
      await send(report('customer', 4))
      await archive()
      const [again] = await send(keyed)
      expect(again).to.deep.include({ id: first!.id, currentUsage: '7', periodStart: null, periodEnd: null })
      expect(await measurements()).to.equal(2)
      // and: what is not stored is refused as ever
      expect((await problemOf(send({ ...keyed, idempotencyKey: 'another' }))).reason).to.equal('ENTITY_IS_ARCHIVED')
      expect((await problemOf(send(report('customer', 5, { idempotencyKey: 'key' })))).code).to.equal('ALREADY_EXISTS')
    })

    it('is known by the key that names its measurement, of this customer only', async () => {
      await bench.app.subscriptions.provision(environmentId, { customerRefId: 'customer', planRefId: 'free', resourceRefId: 'r' })
      const [first] = await send(report('customer', 3))
      const [ofResource] = await send(report('customer', 4, { resourceId: 'r' }))
      const [ofOther] = await send(report('other', 3))
      await archive()
      const named = (id: string, resourceId: string | null = null) =>
        send(report('customer', 3, { resourceId, idempotencyKey: keyOfMeasurement(id) }))
      expect((await named(first!.id))[0]).to.include({ id: first!.id, currentUsage: '7' })
      expect((await named(ofResource!.id, 'r'))[0]).to.include({ id: ofResource!.id, resourceId: 'r' })
      for (const id of [ofResource!.id, ofOther!.id]) expect((await problemOf(named(id))).code).to.equal('ALREADY_EXISTS')
    })

    it('leaves the rest of its call to be counted', async () => {
      const keyed = report('customer', 3, { idempotencyKey: 'key' })
      const [first] = await send(keyed)
      await archive()
      const [again, fresh] = await send(keyed, report('other', 2, { idempotencyKey: 'fresh' }))
      expect(again!.id).to.equal(first!.id)
      expect(fresh!.currentUsage).to.equal('2')
      expect(await usageOf(bench, environmentId, 'other', 'calls')).to.equal('2')
      expect(await measurements()).to.equal(2)
    })

    it('is recognised by a worker that has its job again, and when a door asks only for what is stored', async () => {
      const job = reports([report('customer', 3)], [report('customer', 4, { idempotencyKey: 'key' })])
      expect(await ingest(job)).to.deep.equal(['counted', 'counted'])
      await archive()
      expect(await ingest({ ...job, isRepeat: true })).to.deep.equal(['counted', 'counted'])
      expect(await ingest({ ...job, isRepeat: true, onlyStored: true })).to.deep.equal(['counted', 'counted'])
      expect(await measurements()).to.equal(2)
    })

    it('is a success of events, and others are refused', async () => {
      const [a, b] = [event('customer', 'a'), event('customer', 'b')]
      expect(await ingest(events([a]))).to.deep.equal(['counted'])
      await archive()
      expect(await ingest(events([a], [b], [a, b], [event('other', 'c'), a]))).to.deep.equal([
        'counted',
        ['ENTITY_IS_ARCHIVED'],
        ['ENTITY_IS_ARCHIVED'],
        'counted',
      ])
      expect(await count(bench.pool, 'raw_event', environmentId)).to.equal(2)
    })

    it('is found among events by a door that asks only for what is stored, and nothing is said of others', async () => {
      const [a, b] = [event('customer', 'a'), event('customer', 'b')]
      await ingest(events([a]))
      await archive()
      const question = events([a], [b], [a, b])
      expect(await ingest({ ...question, isRepeat: true, onlyStored: true })).to.deep.equal(['counted', 'unknown', 'unknown'])
    })

    it('leaves it unknown what became of a late call with it', async () => {
      const [a, b] = [event('customer', 'a'), event('other', 'b')]
      await ingest(events([a]))
      await archive()
      const job = events([a, b])
      if (job.batch.kind === 'events') for (const call of job.batch.calls) call.deadline = Date.now() - 1
      expect(await ingest(job)).to.deep.equal(['unknown'])
    })
  })

  describe('whose feature is metered by events since', () => {
    const calls = { refId: 'calls', displayName: 'Calls', type: 'NUMBER', meter: 'Incremental', units: 'call', unitsPlural: 'calls' }
    const measure = () => {
      const filters = [[{ field: 'eventName', operation: 'EQUALS', value: 'request' }]]
      const features = [{ ...calls, events: { aggregation: 'COUNT', filters } }]
      return bench.app.catalog.apply(environmentId, { features }, { dryRun: false, archiveMissing: false })
    }

    it('is answered with the id of the first, also in a worker that has its job again', async () => {
      const keyed = report('customer', 3, { idempotencyKey: 'key' })
      const job = reports([report('customer', 4)])
      const [first] = await send(keyed)
      expect(await ingest(job)).to.deep.equal(['counted'])
      await measure()
      expect((await send(keyed))[0]).to.include({ id: first!.id, currentUsage: '7' })
      expect(await ingest({ ...job, isRepeat: true })).to.deep.equal(['counted'])
      expect(await ingest({ ...job, isRepeat: true, onlyStored: true })).to.deep.equal(['counted'])
      expect((await problemOf(send({ ...keyed, idempotencyKey: 'another' }))).reason).to.equal(
        'CANNOT_REPORT_USAGE_FOR_ENTITLEMENT_WITH_METER',
      )
      expect(await measurements()).to.equal(2)
    })

    it('computes usage with the meter where there is no counter', async () => {
      const keyed = report('customer', 3, { idempotencyKey: 'key' })
      await send(keyed)
      await measure()
      await bench.usage.reportEvents(environmentId, [event('customer', 'a'), event('customer', 'b')])
      const { rows } = await bench.pool.query<{ id: string }>('SELECT id FROM pending_batch WHERE environment_id = $1', [environmentId])
      for (const { id: batchId } of rows) await bench.newAggregation().aggregate({ v: 1, environmentId, batchId, stored: null })
      await bench.pool.query('DELETE FROM usage_counter WHERE environment_id = $1', [environmentId])
      expect(await ingest(reports([keyed]))).to.deep.equal(['counted'])
      expect(await usageOf(bench, environmentId, 'customer', 'calls')).to.equal('5')
      expect((await send(keyed))[0]!.currentUsage).to.equal('5')
    })
  })
})
