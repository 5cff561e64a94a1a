import { setTimeout as sleep } from 'node:timers/promises'
import { Client, credentials, Metadata } from '@grpc/grpc-js'
import { Queue } from 'bullmq'
import { Redis } from 'ioredis'
import type { EntitlementState } from '../../src/entitlement/rules/state.js'
import { newId } from '../../src/kernel/id.js'
import { queuePrefix } from '../../src/platform/redis/slots.js'
import { entitlementsMessage } from '../../src/updates/deliver/change-messages.js'
import { environmentQueue } from '../../src/updates/deliver/jobs.js'
import { feedKey } from '../../src/updates/external-cache/keys.js'
import { type Comparison, compare, type Sample } from './figures/compare.js'
import { quantile } from './figures/statistics.js'
import type { Benchmark, BenchmarkContext } from './harness/benchmark.js'
import { definitionOf, metricOf, wrong } from './sidecar-calls.js'
import { ServerProcess } from './stack/server-process.js'
import { type Stack, startStack } from './stack/stack.js'

const customers = 5_000
const batchSize = 100
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
  about: `states of 20 entitlements applied to the external cache by one worker; reference: bare pipelined writes of the same keys. And a sidecar's checks through Redis, ${inFlight} in flight; reference: ${targetMs} ms`,
  async run({ seconds, life, note }) {
    const stack = await startStack(life, catalog)
    await stack.app.customers.provision(stack.environmentId, { refId: 'customer-0', subscription: { planRefId: 'free' } })
    const state = await stack.app.entitlements.state(stack.environmentId, 'customer-0', null)
    const web = await stack.start('web')
    const redis = life.open('redis', new Redis(stack.redisUrl), (r) => r.disconnect())
    const place = new URL(stack.redisUrl)
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
    const applied = await compareWrites({ stack, redis, state, queueName, seconds: seconds / 2, life, note })
    const { serverKey } = stack
    return [
      ...applied,
      ...(await measureChecks({
        env: { ...cacheServer, SERVER_API_KEY: serverKey, API_URL: web.url },
        redis,
        seconds: seconds / 2,
        life,
        note,
      })),
    ]
  },
}

interface WritesPlan extends Pick<BenchmarkContext, 'seconds' | 'life' | 'note'> {
  stack: Stack
  redis: Redis
  state: EntitlementState
  queueName: string
}

async function compareWrites({ stack, redis, state, queueName, seconds, life, note }: WritesPlan): Promise<Comparison[]> {
  const options = { connection: redis, prefix: queuePrefix(stack.queuePrefix, queueName) }
  const queue = life.open('queue', new Queue(queueName, options), (q) => q.close())
  const feed = feedKey(prefix)
  // The worker begins an epoch by itself once it finds its cache empty, or not: these messages are of one of their own.
  const epoch = Date.now()
  let sequence = 0
  let version = state.version
  const statesOf = () => {
    version += 1
    return Array.from({ length: customers }, (_, n) => ({ ...state, customerId: `customer-${n}`, version, accessVersion: version }))
  }
  const subject = async (): Promise<Sample<'rate'>> => {
    await queue.pause()
    const messages = statesOf().map((one) => ({ ...entitlementsMessage(one), id: newId(), epoch, sequence: ++sequence }))
    const opts = { removeOnComplete: true, attempts: 3 }
    for (let at = 0; at < messages.length; at += 500)
      await queue.addBulk(messages.slice(at, at + 500).map((data) => ({ name: 'change', data, opts })))
    const beganAt = performance.now()
    await queue.resume()
    while (Number(await redis.hget(feed, 'applied')) !== sequence) {
      if (performance.now() - beganAt > neverMs) throw wrong(`Of ${customers} states not all were applied in ${neverMs / 1_000} s`)
      await sleep(5)
    }
    return { rate: customers / ((performance.now() - beganAt) / 1_000) }
  }
  await redis.hset(feed, 'epoch', epoch, 'applied', 0, 'latest', 0, 'movedAt', epoch)
  await subject()
  const written = await readWritten(redis)
  note(
    `${customers} states of ${features.length} entitlements: ${written.length} keys, ${Math.round(written.reduce((sum, [, value]) => sum + value.length, 0) / customers)} bytes a customer`,
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
    measures: { rate: { name: 'cache-applied', unit: 'customers/s' } },
    rounds: 12,
    seconds,
    onRound: (round, { rate }, { rate: bare }) => note(`round ${round}: ${Math.round(rate)} and ${Math.round(bare)} customers/s`),
  })
}

/** Every key that the worker has written of the customers, with what is in it. */
async function readWritten(redis: Redis): Promise<Written[]> {
  const keys = await redis.keys(`${prefix}:c_*`)
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
  env: Record<string, string>
  redis: Redis
}

async function measureChecks({ env, redis, seconds, life, note }: ChecksPlan): Promise<Comparison[]> {
  const started = await ServerProcess.start('sidecar', new URL('../../src/sidecar/main.js', import.meta.url), {
    env: { ...env, REDIS_ENVIRONMENT_PREFIX: prefix, BIND_ADDRESS: '127.0.0.1', PORT: '0', SIDECAR_HTTP_PORT: '0', LOG_LEVEL: 'info' },
  })
  const sidecar = life.open('sidecar', started, (server) => server.stop())
  const client = life.open('client', new Client(`127.0.0.1:${sidecar.ports.grpcPort}`, credentials.createInsecure()), (c) => c.close())
  const definition = definitionOf({ method: 'GetMeteredEntitlement', request: {} })
  const check = (customerId: string) =>
    new Promise<void>((resolve, reject) => {
      const request = { customer_id: customerId, feature_id: featureId, options: { requested_usage: 1 } }
      const options = { deadline: Date.now() + 5_000 }
      client.makeUnaryRequest(
        definition.path,
        definition.requestSerialize,
        definition.responseDeserialize,
        request,
        new Metadata(),
        options,
        (error, answer) => {
          const { has_access: isGranted, is_fallback: isFallback } = (answer ?? {}) as { has_access?: boolean; is_fallback?: boolean }
          if (isGranted === true && isFallback !== true) resolve()
          else reject(error ?? wrong(`The sidecar answers ${JSON.stringify(answer)}`))
        },
      )
    })
  let next = 0
  const round = async () => {
    const times: number[] = []
    await Promise.all(
      Array.from({ length: inFlight }, async () => {
        while (times.length + inFlight <= callsPerRound) {
          const beganAt = performance.now()
          await check(`customer-${next++ % customers}`)
          times.push(performance.now() - beganAt)
        }
      }),
    )
    return times
  }
  await round()
  const before = { exchanges: await readExchanges(redis), hits: await metricOf(sidecar, 'sidecar_cache_lookups_total', 'outcome="hit"') }
  const p50s: number[] = []
  const p99s: number[] = []
  let made = 0
  const endsAt = performance.now() + seconds * 1_000
  while (performance.now() < endsAt) {
    const times = await round()
    made += times.length
    p50s.push(quantile(times, 0.5))
    p99s.push(quantile(times, 0.99))
  }
  const hits = (await metricOf(sidecar, 'sidecar_cache_lookups_total', 'outcome="hit"')) - before.hits
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
