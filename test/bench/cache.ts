import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Queue } from 'bullmq'
import { Redis } from 'ioredis'
import type { EntitlementState } from '../../src/entitlement/rules/state.js'
import type { EpochMs } from '../../src/kernel/clock.js'
import { newId } from '../../src/kernel/id.js'
import type { Program } from '../../src/local/programs/debian-package.js'
import { queuePrefix } from '../../src/platform/redis/slots.js'
import { entitlementsMessage } from '../../src/updates/deliver/change-messages.js'
import { environmentQueue } from '../../src/updates/deliver/jobs.js'
import { feedKey } from '../../src/updates/external-cache/keys.js'
import { OwnRedis } from '../support/own-redis.js'
import { type Comparison, compare, type Sample } from './figures/compare.js'
import { quantile } from './figures/statistics.js'
import type { Benchmark, BenchmarkContext } from './harness/benchmark.js'
import { loadAtOnce } from './load/grpc-load.js'
import { type BenchmarkedCall, callOnce, countedHits, definitionOf, frame, wrong } from './sidecar-calls.js'
import { ServerProcess } from './stack/server-process.js'
import { startStack } from './stack/stack.js'

const customers = 5_000
const batchSize = 100
/** Of a small plan; the other one has all features. */
const fewEntitlements = 5
/** Of calls to the sidecar, under way at the same time. */
const inFlight = 16
const callsPerRound = 8_000
/** Of a check through Redis. */
const targetMs = 1.5
const prefix = 'bench'
const featureId = 'feature-8'
const neverMs = 60_000

const features = Array.from({ length: 20 }, (_, index) => {
  const refId = `feature-${index}`
  const units = { units: 'unit', unitsPlural: 'units' }
  if (index % 4 === 1) return { refId, type: 'BOOLEAN' }
  if (index % 4 === 3) return { refId, type: 'NUMBER', ...units }
  return { refId, type: 'NUMBER', meter: 'Incremental', ...units }
})
const catalog = {
  features,
  products: [{ refId: 'cloud' }],
  plans: [
    {
      refId: 'free',
      product: 'cloud',
      pricingType: 'FREE',
      entitlements: features.map((feature) =>
        feature.type === 'BOOLEAN'
          ? { feature: feature.refId }
          : { feature: feature.refId, limit: 1_000, ...('meter' in feature && { resetPeriod: 'MONTH' }) },
      ),
    },
  ],
}

type Written = readonly [key: string, value: string]

/** What waits in a queue, applied by one worker; then checks of a sidecar that reads what was written. */
export const cache: Benchmark = {
  name: 'cache',
  about: `states of ${fewEntitlements} and ${features.length} entitlements applied to the external cache by one worker; reference: bare pipelined writes of the same keys. And a sidecar's checks through Redis, ${inFlight} in flight; reference: ${targetMs} ms`,
  needs: ['h2load'],
  async run({ seconds, program, life, note }) {
    const folder = life.open('folder', await mkdtemp(join(tmpdir(), 'tollgate-bench-')), (path) => rm(path, { recursive: true }))
    const stack = await startStack(life, catalog)
    await stack.app.customers.provision(stack.environmentId, { refId: 'customer-0', subscription: { planRefId: 'free' } })
    const state = await stack.app.entitlements.state(stack.environmentId, 'customer-0', null)
    const web = await stack.start('web')
    // A Redis of its own, as in production, which keeps nothing on disk: what it loses is read anew.
    const own = life.open('Redis of the cache', new OwnRedis(), (r) => r.stop())
    await own.start()
    const redis = life.open('redis', new Redis(own.url), (r) => r.disconnect())
    await redis.config('SET', 'appendonly', 'no')
    const place = new URL(own.url)
    const cacheServer = { REDIS_HOST: place.hostname, REDIS_PORT: place.port, REDIS_DB: place.pathname.slice(1) || '0' }
    const { queue: queueName } = environmentQueue(stack.environmentId)
    await stack.start('queue-consumption', {
      ...cacheServer,
      QUEUE_URL: `${stack.redisUrl}?queue=${queueName}&prefix=${encodeURIComponent(stack.queuePrefix)}`,
      SERVER_API_KEY: stack.serverKey,
      EDGE_API_URL: web.url,
      ENVIRONMENT_PREFIX: prefix,
      BATCH_SIZE: String(batchSize),
    })
    const connection = life.open('redis of the queue', new Redis(stack.redisUrl, { maxRetriesPerRequest: null }), (r) => r.disconnect())
    const options = { connection, prefix: queuePrefix(stack.queuePrefix, queueName) }
    const queue = life.open('queue', new Queue(queueName, options), (q) => q.close())
    // The worker hears of an epoch that this benchmark begins: it reads nothing anew meanwhile.
    const epoch = Date.now()
    await redis.hset(feedKey(prefix), 'epoch', epoch, 'applied', 0, 'latest', 0, 'movedAt', epoch)
    const applied: Comparison[] = []
    for (const entitlements of [fewEntitlements, features.length])
      applied.push(
        ...(await compareWrites({
          queue,
          redis,
          state: { ...state, entitlements: state.entitlements.slice(0, entitlements) },
          epoch,
          seconds: seconds / 3,
          note,
        })),
      )
    const { serverKey } = stack
    return [
      ...applied,
      ...(await measureChecks({
        h2load: program('h2load'),
        folder,
        env: { ...cacheServer, SERVER_API_KEY: serverKey, API_URL: web.url },
        redis,
        seconds: seconds / 3,
        life,
        note,
      })),
    ]
  },
}

interface WritesPlan extends Pick<BenchmarkContext, 'seconds' | 'note'> {
  queue: Queue
  redis: Redis
  state: EntitlementState
  epoch: EpochMs
}

/** Numbers of the epoch, over all that is measured. */
let sequence = 0

async function compareWrites({ queue, redis, state, epoch, seconds, note }: WritesPlan): Promise<Comparison[]> {
  const count = state.entitlements.length
  let version = state.version
  const statesOf = () => {
    version += 1
    return Array.from({ length: customers }, (_, n) => ({ ...state, customerId: customerOf(count, n), version, accessVersion: version }))
  }
  const subject = async (): Promise<Sample<'rate'>> => {
    await queue.pause()
    const messages = statesOf().map((one) => ({ ...entitlementsMessage(one), id: newId(), epoch, sequence: ++sequence }))
    const opts = { removeOnComplete: true, attempts: 3 }
    for (let at = 0; at < messages.length; at += 500)
      await queue.addBulk(messages.slice(at, at + 500).map((data) => ({ name: 'change', data, opts })))
    const beganAt = performance.now()
    await queue.resume()
    while (Number(await redis.hget(feedKey(prefix), 'applied')) !== sequence) {
      if (performance.now() - beganAt > neverMs) throw wrong(`Of ${customers} states not all were applied in ${neverMs / 1_000} s`)
      await sleep(5)
    }
    return { rate: customers / ((performance.now() - beganAt) / 1_000) }
  }
  await subject()
  const written = await readWritten(redis, count)
  note(
    `${customers} states of ${count} entitlements: ${written.length} keys, ${Math.round(written.reduce((sum, [, value]) => sum + value.length, 0) / customers)} bytes a customer`,
  )
  const keysPerBatch = Math.ceil((written.length / customers) * batchSize)
  const reference = async (): Promise<Sample<'rate'>> => {
    const beganAt = performance.now()
    for (let at = 0; at < written.length; at += keysPerBatch) {
      const pipeline = redis.pipeline()
      for (const [key, value] of written.slice(at, at + keysPerBatch)) pipeline.set(key, value, 'EX', 604_800)
      await pipeline.exec()
    }
    return { rate: customers / ((performance.now() - beganAt) / 1_000) }
  }
  await reference()
  return compare<'rate'>({
    subject,
    reference,
    measures: { rate: { name: `cache-applied-${count}`, unit: 'customers/s' } },
    rounds: 12,
    seconds,
    onRound: (round, { rate }, { rate: bare }) => note(`round ${round}: ${Math.round(rate)} and ${Math.round(bare)} customers/s`),
  })
}

const customerOf = (entitlements: number, n: number | string) => `customer-${entitlements}-${n}`

/** Every key that the worker has written of the customers, with what is in it. */
async function readWritten(redis: Redis, count: number): Promise<Written[]> {
  const keys = await redis.keys(`${prefix}:c_${customerOf(count, '*')}`)
  const written: Written[] = []
  for (let at = 0; at < keys.length; at += 1_000) {
    const some = keys.slice(at, at + 1_000)
    const values = await redis.mget(some)
    for (const [index, key] of some.entries()) written.push([key, values[index]!])
  }
  // In the order of customers, as they are written.
  return written.sort(([one], [other]) => (one < other ? -1 : 1))
}

interface ChecksPlan extends Pick<BenchmarkContext, 'seconds' | 'life' | 'note'> {
  h2load: Program
  folder: string
  env: Record<string, string>
  redis: Redis
}

async function measureChecks({ h2load, folder, env, redis, seconds, life, note }: ChecksPlan): Promise<Comparison[]> {
  const started = await ServerProcess.start('sidecar', new URL('../../src/sidecar/main.js', import.meta.url), {
    env: { ...env, REDIS_ENVIRONMENT_PREFIX: prefix, BIND_ADDRESS: '127.0.0.1', PORT: '0', SIDECAR_HTTP_PORT: '0', LOG_LEVEL: 'info' },
  })
  const sidecar = life.open('sidecar', started, (server) => server.stop())
  const call: BenchmarkedCall = {
    method: 'GetMeteredEntitlement',
    request: { customer_id: customerOf(features.length, 1), feature_id: featureId, options: { requested_usage: 1 } },
  }
  const answer = await callOnce(sidecar, call)
  const definition = definitionOf(call)
  const requestFile = join(folder, 'request.bin')
  await writeFile(requestFile, frame(definition.requestSerialize(call.request)))
  const target = { url: `http://127.0.0.1:${sidecar.ports.grpcPort}${definition.path}`, requestFile, answerBytes: frame(answer).length }
  const round = () => loadAtOnce(h2load, target, { calls: callsPerRound, inFlight }, folder)
  await round()
  const before = { exchanges: await readExchanges(redis), hits: await countedHits(sidecar) }
  const p50s: number[] = []
  const p99s: number[] = []
  const endsAt = performance.now() + seconds * 1_000
  while (performance.now() < endsAt) {
    const { p50, p99 } = await round()
    p50s.push(p50 / 1_000)
    p99s.push(p99 / 1_000)
  }
  const made = p50s.length * callsPerRound
  const hits = (await countedHits(sidecar)) - before.hits
  if (hits !== made) throw wrong(`${made} calls were made, but the sidecar answered ${hits} from the external cache`)
  const exchanges = ((await readExchanges(redis)) - before.exchanges) / made
  note(`${exchanges.toFixed(2)} commands to Redis a check, ${made} checks`)
  const against = (name: string, values: number[], reference: number): Comparison => {
    const subject = quantile(values, 0.5)
    return { name, subject, reference, ratio: subject / reference, unit: 'ms', spread: 0 }
  }
  return [
    against('cache-check-p50', p50s, targetMs),
    against('cache-check-p99', p99s, targetMs),
    against('cache-check-commands', [exchanges], 1),
  ]
}

/** Commands that read several keys at once. */
async function readExchanges(redis: Redis): Promise<number> {
  const stats = await redis.info('commandstats')
  return [...stats.matchAll(/^cmdstat_(?:mget|get|evalsha|fcall_ro):calls=(\d+)/gm)].reduce((sum, [, calls]) => sum + Number(calls), 0)
}
