import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { StateJson } from '../../src/reader/api/messages.js'
import { createClient, type TollgateClient } from '../../src/sdk/server/index.js'
import { FakeApi } from '../contract/grpc/fake-api.js'
import { type Comparison, compare, type Sample } from './figures/compare.js'
import type { BenchmarkContext } from './harness/benchmark.js'
import { entitlementsOf, wrong } from './sidecar-calls.js'

const customers = 10_000
const callsPerSide = 400_000
const rounds = 24
/** Read at a time, to fill the cache. */
const readsAtATime = 32
const mostBytesPerCustomer = 1_200

/** One limit of what a bare map holds. */
interface BareLimit {
  usageLimit: number | null
  isUnlimited: boolean
  currentUsage: number
}

type Measure = 'rate' | 'cpu'

const idOf = (index: number) => `customer-${index}`
const stateOf = (index: number) => entitlementsOf(1 + (index % 2), index % 900)

/** Checks in this process against bare maps that hold the same, and what a customer takes. */
export async function compareChecks({ seconds, life, note }: Pick<BenchmarkContext, 'seconds' | 'life' | 'note'>): Promise<Comparison[]> {
  const api = life.open('API', await FakeApi.start(), (a) => a.stop())
  // Nothing changes here, and nobody vouches for what is cached: it has to stay fresh by itself.
  const options = { apiKey: api.acceptedKey, apiUrl: api.url, edgeEnabled: false, wsEnabled: false, refreshAfterMs: 86_400_000 }
  const client = life.open('client', await createClient(options), (c) => c.close())
  const ids = Array.from({ length: customers }, (_, index) => idOf(index))
  await client.getEntitlements({ customerId: idOf(customers) }).catch(() => undefined)
  const collect = collector()
  const before = collect()
  await fill(client, api, ids)
  const bytes = Math.round((collect() - before) / customers)
  const { cacheEntries, cacheBytes } = client.figures()
  note(`${bytes} bytes of heap per customer, counted as ${Math.round(cacheBytes / cacheEntries)}`)

  const bare = new Map(ids.map((id, index) => [id, bareState(stateOf(index))]))
  const features = ['feature-0', 'feature-1', 'feature-2', 'feature-5', 'feature-10', 'feature-18']
  // As a caller has them: strings that are not those of the cache.
  const asked = Array.from({ length: 4_096 }, (_, n) => ({
    customerId: `customer-${Math.floor(((n * 2_654_435_761) % 4_294_967_296) / (4_294_967_296 / customers))}`,
    featureId: features[n % features.length]!,
  }))
  for (const { customerId, featureId } of asked) {
    if ((await ask(client, customerId, featureId)).hasAccess !== askBare(bare, customerId, featureId))
      throw wrong(`They differ about ${customerId} and ${featureId}`)
  }
  const subject = async (): Promise<Sample<Measure>> => {
    const before = client.figures().lookups.hit
    const figure = meter()
    let granted = 0
    for (let n = 0; n < callsPerSide; n++) {
      const { customerId, featureId } = asked[n & 4_095]!
      if ((await ask(client, customerId, featureId)).hasAccess) granted++
    }
    const sample = figure()
    if (granted === 0 || client.figures().lookups.hit - before !== callsPerSide) throw wrong('Not all checks were answered from the cache')
    return sample
  }
  const reference = async (): Promise<Sample<Measure>> => {
    const figure = meter()
    let granted = 0
    for (let n = 0; n < callsPerSide; n++) {
      const { customerId, featureId } = asked[n & 4_095]!
      if (askBare(bare, customerId, featureId)) granted++
    }
    if (granted === 0) throw wrong('Nothing is granted')
    return figure()
  }
  for (let n = 0; n < 2; n++) {
    await subject()
    await reference()
  }
  const comparisons = await compare({
    subject,
    reference,
    measures: { rate: { name: 'sdk', unit: 'checks/s' }, cpu: { name: 'sdk-cpu', unit: 'ns of CPU/check' } },
    rounds,
    seconds,
    onRound: (round, { rate, cpu }, { rate: bareRate, cpu: bareCpu }) =>
      note(
        `round ${round}: ${Math.round(rate)} and ${Math.round(bareRate)} checks/s, ${Math.round(cpu)} and ${Math.round(bareCpu)} ns of CPU`,
      ),
  })
  const memory = { name: 'sdk-memory', subject: bytes, reference: mostBytesPerCustomer, unit: 'bytes/customer', spread: 0 }
  return [...comparisons, { ...memory, ratio: bytes / mostBytesPerCustomer }]
}

/** From now on. CPU: user and system time of this process, all its threads. */
function meter(): () => Sample<Measure> {
  const [cpuBefore, beganAt] = [process.cpuUsage(), performance.now()]
  return () => {
    const ms = performance.now() - beganAt
    const { user, system } = process.cpuUsage(cpuBefore)
    return { rate: (callsPerSide / ms) * 1_000, cpu: ((user + system) * 1_000) / callsPerSide }
  }
}

const isBoolean = (featureId: string) => featureId === 'feature-1' || featureId === 'feature-5'

const ask = (client: TollgateClient, customerId: string, featureId: string): Promise<{ hasAccess: boolean }> =>
  isBoolean(featureId)
    ? client.getBooleanEntitlement({ customerId, featureId })
    : client.getMeteredEntitlement({ customerId, featureId, requestedUsage: 200 })

function askBare(bare: ReadonlyMap<string, ReadonlyMap<string, BareLimit>>, customerId: string, featureId: string): boolean {
  const held = bare.get(customerId)?.get(featureId)
  if (held === undefined) return false
  return isBoolean(featureId) || held.isUnlimited || held.currentUsage + 200 <= (held.usageLimit ?? 0)
}

const bareState = ({ entitlements }: StateJson) =>
  new Map(
    entitlements!.map(({ feature, usageLimit, hasUnlimitedUsage, currentUsage }): [string, BareLimit] => [
      feature!.refId,
      { usageLimit, isUnlimited: hasUnlimitedUsage, currentUsage: currentUsage ?? 0 },
    ]),
  )

/** Asks for each customer once: the client reads it from the API. Half of them have one plan, half another. */
async function fill(client: TollgateClient, api: FakeApi, ids: readonly string[]): Promise<void> {
  const rest = ids.entries()
  const loop = async () => {
    for (const [index, customerId] of rest) {
      api.states.set(customerId, stateOf(index))
      await client.getEntitlements({ customerId })
      api.states.delete(customerId)
    }
  }
  await Promise.all(Array.from({ length: readsAtATime }, loop))
  api.operations.length = 0
  if (client.figures().cacheEntries < ids.length) throw wrong(`${client.figures().cacheEntries} of ${ids.length} customers are cached`)
}

/** Answers the bytes of the heap that are in use, without garbage. */
function collector(): () => number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  return () => {
    collect()
    return process.memoryUsage().heapUsed
  }
}
