import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { newId } from '../../../src/kernel/id.js'
import { checkEvent, checkReport, type UsageEvent, type UsageReport } from '../../../src/metering/model/report.js'
import type { IngestionJob } from '../../../src/metering/wire/jobs.js'
import { packEvents } from '../../../src/metering/wire/packed-events.js'
import { packCall } from '../../../src/metering/wire/packed-reports.js'
import { type IngestionReply, replyChannel, unpackReply } from '../../../src/metering/wire/replies.js'
import { openSubscriber } from '../../../src/platform/redis.js'
import { count, createEnvironment, event, eventually, type MeteringBench, openMeteringBench, report, usageOf } from './fixture.js'

const minute = 60_000
const door = 'late-door'

/** What a worker says of calls that it gets to too late: only what it has seen to. */
describe('calls whose deadline has passed', () => {
  let bench: MeteringBench
  let environmentId: string
  let customerId: string
  let serial = 0
  const replies: IngestionReply[] = []

  before(async () => {
    bench = await openMeteringBench()
    environmentId = await createEnvironment(bench)
    const redis = openSubscriber(bench.life, bench.queues)
    redis.on('message', (_channel, text) => void replies.push(unpackReply(text)!))
    await redis.subscribe(replyChannel(bench.queues.prefix, door))
  })
  after(async () => expect(await bench.close()).to.deep.equal([]))
  beforeEach(async () => {
    customerId = `customer-${++serial}`
    await bench.app.customers.provision(environmentId, { refId: customerId, subscription: { planRefId: 'free' } })
  })

  const late = -1
  const jobOf = (batch: IngestionJob['batch']): IngestionJob => ({ v: 1, environmentId, door, batchId: newId(), isRepeat: false, batch })
  const packedReports = (items: UsageReport[], leftMs = minute) =>
    packCall({ deadline: Date.now() + leftMs, items: items.map((item) => checkReport(item, newId(), Date.now())) })
  const packedEvents = (events: UsageEvent[], leftMs = minute) => ({
    deadline: Date.now() + leftMs,
    packed: packEvents(events.map((item) => checkEvent(item, Date.now()))),
  })
  const reports = (...calls: ReturnType<typeof packedReports>[]) => jobOf({ kind: 'reports', calls })
  const events = (...calls: ReturnType<typeof packedEvents>[]) => jobOf({ kind: 'events', calls })
  /** Of each call: how it ended. */
  const ingest = async (job: IngestionJob, isRerun = false) => {
    replies.splice(0)
    await bench.newIngestion().ingest(job, isRerun)
    const reply = await eventually(
      async () => replies.find(({ batchId }) => batchId === job.batchId),
      (found) => found !== undefined,
    )
    return reply!.answers.map((answer) => ('problem' in answer ? (answer.problem.details.outcome ?? answer.problem.reason) : 'counted'))
  }
  const lateAgain = <Job extends IngestionJob>(job: Job): Job => {
    const { batch } = job
    if (batch.kind === 'events')
      return { ...job, batch: { ...batch, calls: batch.calls.map((call) => ({ ...call, deadline: Date.now() + late })) } }
    return { ...job, batch: { ...batch, calls: batch.calls.map(([, ...items]) => [Date.now() + late, ...items]) } }
  }
  const usage = () => usageOf(bench, environmentId, customerId, 'calls')

  describe('of reports', () => {
    it('were not counted when they are not stored', async () => {
      expect(await ingest(reports(packedReports([report(customerId, 1)], late), packedReports([report(customerId, 2)])))).to.deep.equal([
        'notCounted',
        'counted',
      ])
      expect(await usage()).to.equal('2')
    })

    it('are answered when they are stored, also where nobody says that they may be', async () => {
      for (const idempotencyKey of [null, newId()]) {
        const job = reports(packedReports([report(customerId, 1, { idempotencyKey })]))
        expect(await ingest(job)).to.deep.equal(['counted'])
        for (const isRerun of [true, false]) expect(await ingest(lateAgain(job), isRerun)).to.deep.equal(['counted'])
      }
      expect(await usage()).to.equal('2')
    })

    it('are answered when they were being stored, and are by the time that the customer is free', async () => {
      const [first, second] = [bench.newIngestion(), bench.newIngestion()]
      // What they are added to is known to the first, which then takes the short way.
      await first.ingest(reports(packedReports([report(customerId, 1)])), false)
      const job = reports(packedReports([report(customerId, 4)], 300))
      const holder = await bench.pool.connect()
      try {
        await holder.query('BEGIN')
        await holder.query('LOCK TABLE usage_measurement IN SHARE MODE')
        replies.splice(0)
        const counting = first.ingest(job, false)
        await sleep(350)
        const asked = second.ingest(job, true)
        await sleep(100)
        await holder.query('COMMIT')
        await Promise.all([counting, asked])
      } finally {
        holder.release()
      }
      await eventually(
        async () => replies.length,
        (heard) => heard === 2,
      )
      for (const { answers } of replies) expect(answers[0]).to.not.have.property('problem')
      expect(await usage()).to.equal('5')
    })

    it('may have been when part of them is stored', async () => {
      const key = newId()
      await ingest(reports(packedReports([report(customerId, 1, { idempotencyKey: key })])))
      const both = [report(customerId, 1, { idempotencyKey: key }), report(customerId, 2, { idempotencyKey: newId() })]
      expect(await ingest(reports(packedReports(both, late)))).to.deep.equal(['unknown'])
      expect(await ingest(reports(packedReports(both)))).to.deep.equal(['counted'])
      expect(await usage()).to.equal('3')
    })

    it('do not take their key from another call, whatever that reports', async () => {
      for (const value of [2, 3]) {
        const idempotencyKey = newId()
        const first = packedReports([report(customerId, 2, { idempotencyKey })], late)
        expect(await ingest(reports(first, packedReports([report(customerId, value, { idempotencyKey })])))).to.deep.equal([
          'notCounted',
          'counted',
        ])
      }
      expect(await usage()).to.equal('5')
    })

    it('do not take it from a call with other keys beside it either', async () => {
      const [a, b, c] = [newId(), newId(), newId()]
      const keyed = (value: number, idempotencyKey: string) => report(customerId, value, { idempotencyKey })
      const outcomes = await ingest(
        reports(
          packedReports([keyed(1, a), keyed(2, b)], late),
          packedReports([keyed(4, c)], late),
          packedReports([keyed(8, b), keyed(16, a)]),
          packedReports([keyed(32, newId())]),
        ),
      )
      expect(outcomes).to.deep.equal(['notCounted', 'notCounted', 'counted', 'counted'])
      expect(await usage()).to.equal('56')
    })
  })

  describe('of events', () => {
    const stored = () => count(bench.pool, 'raw_event', environmentId)

    it('were not stored when they are not, and are a success when they are', async () => {
      const before = await stored()
      const [a, b] = [event(customerId, newId()), event(customerId, newId())]
      expect(await ingest(events(packedEvents([a], late), packedEvents([b])))).to.deep.equal(['notCounted', 'counted'])
      expect(await ingest(events(packedEvents([b], late)))).to.deep.equal(['counted'])
      expect(await ingest(events(packedEvents([a, b], late)))).to.deep.equal(['unknown'])
      expect(await ingest(events(packedEvents([a])))).to.deep.equal(['counted'])
      expect(await stored()).to.equal(before + 2)
    })

    it('are waited for while they are being stored', async () => {
      const before = await stored()
      const job = events(packedEvents([event(customerId, newId()), event(customerId, newId())]))
      // Their commit is held up by the row that says that they wait.
      const holder = await bench.pool.connect()
      try {
        await holder.query('BEGIN')
        await holder.query('LOCK TABLE pending_batch IN ACCESS EXCLUSIVE MODE')
        replies.splice(0)
        const storing = bench.newIngestion().ingest(job, false)
        await sleep(100)
        // Those of another call, with the same events.
        const asked = bench.newIngestion().ingest(lateAgain(job), true)
        await sleep(100)
        await holder.query('COMMIT')
        await Promise.all([storing, asked])
      } finally {
        holder.release()
      }
      await eventually(
        async () => replies.length,
        (heard) => heard === 2,
      )
      for (const { answers } of replies) expect(answers[0]).to.not.have.property('problem')
      expect(await stored()).to.equal(before + 2)
    })

    it('are not stored when the deadline comes while they are', async () => {
      const before = await stored()
      const [job, key] = [events(packedEvents([event(customerId, newId())], 300)), newId()]
      const holder = await bench.pool.connect()
      try {
        await holder.query('BEGIN')
        await holder.query('LOCK TABLE pending_batch IN ACCESS EXCLUSIVE MODE')
        const outcomes = ingest({ ...job, batch: { kind: 'events', calls: [...eventCalls(job), packedEvents([event(customerId, key)])] } })
        await sleep(400)
        await holder.query('COMMIT')
        expect(await outcomes).to.deep.equal(['notCounted', 'counted'])
      } finally {
        holder.release()
      }
      expect(await stored()).to.equal(before + 1)
    })
  })

  const eventCalls = ({ batch }: IngestionJob) => (batch.kind === 'events' ? batch.calls : [])

  it('are looked for, and nothing is counted, when a door asks only for what is stored', async () => {
    const [a, b] = [report(customerId, 1, { idempotencyKey: newId() }), report(customerId, 2)]
    const job = reports(packedReports([a]))
    await ingest(job)
    const question = reports(...(job.batch.kind === 'reports' ? job.batch.calls : []), packedReports([b]))
    expect(await ingest({ ...question, isRepeat: true, onlyStored: true })).to.deep.equal(['counted', 'unknown'])
    const [c, d] = [event(customerId, newId()), event(customerId, newId())]
    await ingest(events(packedEvents([c])))
    const ofEvents = events(packedEvents([c]), packedEvents([d]), packedEvents([c, d]))
    expect(await ingest({ ...ofEvents, isRepeat: true, onlyStored: true })).to.deep.equal(['counted', 'unknown', 'unknown'])
    expect(await usage()).to.equal('1')
  })
})
