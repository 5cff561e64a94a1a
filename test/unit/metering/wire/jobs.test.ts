import { expect } from 'chai'
import { fromText } from '../../../../src/kernel/decimal.js'
import type { EventItem, ReportItem } from '../../../../src/metering/model/report.js'
import {
  type AggregationJob,
  aggregateEvents,
  deadlineMs,
  directDoorPrefix,
  type FillingJob,
  fillUsage,
  type IngestionJob,
  ingestDirectUsage,
  ingestionShard,
  ingestUsage,
  shardOf,
} from '../../../../src/metering/wire/jobs.js'
import { packEvents } from '../../../../src/metering/wire/packed-events.js'
import { packCall } from '../../../../src/metering/wire/packed-reports.js'
import { packStored } from '../../../../src/metering/wire/stored-events.js'

const environmentId = '01900000-0000-7000-8000-000000000001'
const batchId = '01900000-0000-7000-8000-000000000002'
const plain: ReportItem = {
  id: 'id',
  customerId: 'acme',
  featureId: 'calls',
  value: fromText('1.5'),
  behavior: 'DELTA',
  resourceId: null,
  timestamp: null,
  idempotencyKey: null,
  dimensions: null,
}
const particular: ReportItem = {
  ...plain,
  behavior: 'SET',
  resourceId: 'r',
  timestamp: 2,
  idempotencyKey: 'key',
  dimensions: { region: 'eu' },
}
const events: EventItem[] = ['login', 'logout'].map((eventName, index) => ({
  customerId: 'acme',
  resourceId: index === 0 ? null : 'r',
  eventName,
  idempotencyKey: `${index}`,
  timestamp: index === 0 ? null : 2,
  dimensions: { tokens: index },
}))
const asked = {
  v: 1,
  environmentId,
  door: 'door',
  batchId,
  isRepeat: false,
  keyHash: 'hash',
  announcement: { sender: 'web', number: 7 },
} as const

/** Whoever changes the form of a job, or of what travels in it, raises its version: both are written here. */
describe('jobs of usage', () => {
  const read = (definition: { parse(data: unknown): unknown }, job: object) => definition.parse(JSON.parse(JSON.stringify(job)))
  const head = `{"v":1,"environmentId":"${environmentId}","door":"door","batchId":"${batchId}","isRepeat":false,"keyHash":"hash","announcement":{"sender":"web","number":7}`

  it('carry reports in their version’s form, and are read as they were written', () => {
    const calls = [packCall({ deadline: 9, items: [plain, particular] })]
    const job: IngestionJob = { ...asked, batch: { kind: 'reports', calls } }
    expect(ingestUsage.version).to.equal(1)
    expect(JSON.stringify(job)).to.equal(
      `${head},"batch":{"kind":"reports","calls":[[9,["id","acme","calls","1.5"],["id","acme","calls","1.5","SET","r",2,"key",{"region":"eu"}]]]}}`,
    )
    for (const definition of [ingestUsage, ingestionShard(1), ingestDirectUsage(environmentId)])
      expect(read(definition, job)).to.deep.equal(job)
  })

  it('carry events in their version’s form, and are read as they were written', () => {
    const job: IngestionJob = { ...asked, batch: { kind: 'events', calls: [{ deadline: 9, packed: packEvents(events) }] } }
    expect(JSON.stringify(job)).to.equal(
      `${head},"batch":{"kind":"events","calls":[{"deadline":9,"packed":{"customers":["acme","acme"],"resources":[null,"r"],"names":["login","logout"],` +
        '"named":[0,1],"keys":["0","1"],"times":[null,2],"dimensions":[{"tokens":0},{"tokens":1}]}}]}}',
    )
    expect(read(ingestUsage, job)).to.deep.equal(job)
  })

  it('have events counted in their version’s form, and are read as they were written', () => {
    const stored = packStored(
      5,
      events.map(({ eventName, timestamp, dimensions, ...holder }) => {
        return { customerId: 'c', resourceId: holder.resourceId && 'r-id', holder, eventName, occurredAt: timestamp, dimensions }
      }),
    )
    const job: AggregationJob = { v: 1, environmentId, batchId, stored, reportedAt: 4 }
    expect(aggregateEvents.version).to.equal(1)
    expect(JSON.stringify(job)).to.equal(
      `{"v":1,"environmentId":"${environmentId}","batchId":"${batchId}","stored":{"places":[["c","acme"],["c","acme","r-id","r"]],"names":["login","logout"],` +
        '"time":5,"placed":[0,1],"named":[0,1],"times":[null,2],"dimensions":[{"tokens":0},{"tokens":1}]},"reportedAt":4}',
    )
    expect(read(aggregateEvents, job)).to.deep.equal(job)
    expect(read(aggregateEvents, { ...job, stored: null })).to.deep.equal({ ...job, stored: null })
  })

  it('have usage filled in their version’s form, and are read as they were written', () => {
    const job: FillingJob = { v: 1, environmentId, customerId: batchId, resourceId: null }
    expect(fillUsage.version).to.equal(1)
    expect(JSON.stringify(job)).to.equal(`{"v":1,"environmentId":"${environmentId}","customerId":"${batchId}","resourceId":null}`)
    expect(read(fillUsage, job)).to.deep.equal(job)
  })

  it('are refused when what they carry is none of it', () => {
    const call = packCall({ deadline: 9, items: [plain] })
    const reports = [null, 'calls', ['call'], [call, ['9']], [call, null]]
    for (const calls of reports)
      expect(() => read(ingestUsage, { ...asked, batch: { kind: 'reports', calls } }), JSON.stringify(calls)).to.throw()
    for (const packed of [undefined, null, {}, { keys: 'k' }])
      expect(() => read(ingestUsage, { ...asked, batch: { kind: 'events', calls: [{ deadline: 9, packed }] } })).to.throw()
    for (const stored of [undefined, {}, { placed: 0 }])
      expect(() => read(aggregateEvents, { v: 1, environmentId, batchId, stored })).to.throw()
  })

  it('wait in queues that every release knows', () => {
    expect([0, 1, 7].map((index) => ingestionShard(index).queue)).to.deep.equal([
      'usage-ingestion',
      'usage-ingestion-1',
      'usage-ingestion-7',
    ])
    expect(ingestDirectUsage(environmentId)).to.include({ queue: `usage-ingestion-${environmentId}`, name: 'ingest', version: 1 })
    // As long as somebody waits for the answer; then the payload goes.
    for (const { name, version, options } of [ingestionShard(0), ingestionShard(1)]) {
      expect({ name, version }).to.deep.equal({ name: 'ingest', version: 1 })
      const { attempts, backoff, ...kept } = options as { attempts: number; backoff: { type: string; delay: number } }
      expect(backoff.type).to.equal('fixed')
      expect(attempts * backoff.delay).to.equal(deadlineMs)
      expect(kept).to.deep.equal({ removeOnComplete: true, removeOnFail: { count: 100, age: 3_600 } })
    }
    expect(directDoorPrefix(environmentId)).to.equal(`${environmentId}:`)
  })

  it('of a customer are in one shard, the same for every release', () => {
    const cases: [customerRefId: string, shards: number, shard: number][] = [
      ['acme', 1, 0],
      ['acme', 4, 2],
      ['acme', 7, 3],
      ['globex', 4, 0],
      ['initech', 7, 6],
    ]
    for (const [customerRefId, shards, shard] of cases) expect(shardOf(environmentId, customerRefId, shards)).to.equal(shard)
  })
})
