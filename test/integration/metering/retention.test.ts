import { randomBytes } from 'node:crypto'
import { expect } from 'chai'
import { newId } from '../../../src/kernel/id.js'
import { ensurePartitions } from '../../../src/metering/batch-sweep.js'
import { KeyPruning } from '../../../src/metering/key-pruning.js'
import { count, createEnvironment, type MeteringBench, openMeteringBench } from './bench.js'

describe('retention', () => {
  let bench: MeteringBench

  before(async () => {
    bench = await openMeteringBench()
  })
  after(async () => expect(await bench.close()).to.deep.equal([]))

  it('deletes identities that no repeat can need, and only those', async () => {
    const environmentId = await createEnvironment(bench)
    const insert = (keys: number, age: string) =>
      bench.pool.query(
        'INSERT INTO ingestion_key (environment_id, hash, record_id, created_at) SELECT $1::uuid, hash, $2::uuid, now() - $4::interval FROM unnest($3::bytea[]) AS hash',
        [environmentId, newId(), Array.from({ length: keys }, () => randomBytes(32)), age],
      )
    await insert(500, '41 days')
    await insert(300, '39 days')
    const pruning = new KeyPruning(bench.pool)
    let deleted = 0
    for (let step = 0; step < 16; step++) deleted += await pruning.step()
    expect(deleted).to.equal(500)
    expect(await count(bench.pool, 'ingestion_key', environmentId)).to.equal(300)
  })

  it('has a partition for every month that events may be stored in', async () => {
    await bench.pool.query('DROP TABLE IF EXISTS raw_event_default')
    await Promise.all([ensurePartitions(bench.pool), ensurePartitions(bench.pool)])
    const environmentId = await createEnvironment(bench)
    for (const days of [-35, 0, 31, 61]) {
      await bench.pool.query(
        `INSERT INTO raw_event (environment_id, batch_id, position, occurred_at, customer_id, event_name, dimensions)
         VALUES ($1::uuid, $2::uuid, 0, now() + make_interval(days => $3::int), $2::uuid, 'e', '{}')`,
        [environmentId, newId(), days],
      )
    }
    expect(await count(bench.pool, 'raw_event', environmentId)).to.equal(4)
  })
})
