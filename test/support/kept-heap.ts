/**
 * Fills one of the caches and prints what it says that it takes, and what the heap has grown by: `node --expose-gc kept-heap.js documents`. In a process
 * of its own, as the heap of another moves by more.
 */
import { buildSchema } from 'graphql'
import type { EntitlementState } from '../../src/entitlement/rules/state.js'
import { fromText } from '../../src/kernel/decimal.js'
import { Door } from '../../src/metering/intake/door.js'
import { MemoryCache } from '../../src/reader/cache/memory.js'
import { toEntry } from '../../src/reader/states/cached-state.js'
import { packUsages, RightsPool } from '../../src/reader/states/rights.js'
import { StateMemory } from '../../src/updates/held/state-memory.js'
import { Documents } from '../../src/web/graphql/door/documents.js'
import { KeptAnswers } from '../../src/web/graphql/door/kept-answers.js'
import { KnownQuestions } from '../../src/web/graphql/door/known-questions.js'

/** Fills, and answers what is kept with what it says that it takes. */
type Fill = () => { kept: unknown; bytes: () => number }

const environmentId = '6f1f3a52-95f3-4dc5-8a51-3f6a4c1f3a52'
const maxBytes = 200 * 2 ** 20
/** As it arrives from Redis or a socket: nothing of it is shared. */
const fresh = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T

const featureOf = (n: number) => ({
  id: `0b5e4b1e-0000-4000-8000-${String(n).padStart(12, '0')}`,
  refId: `feature-number-${n}`,
  displayName: `Feature number ${n}`,
  description: n % 3 === 0 ? 'What it is that one may do with it, in a sentence' : null,
  featureType: 'NUMBER' as const,
  meterType: n % 2 === 0 ? ('Incremental' as const) : ('None' as const),
  units: 'call',
  unitsPlural: 'calls',
  unitTransformation: null,
})

const entitlementOf = (feature: ReturnType<typeof featureOf>, n: number): EntitlementState['entitlements'][number] => ({
  feature,
  usageLimit: fromText('100000'),
  hasUnlimitedUsage: false,
  hasSoftLimit: false,
  enumValues: n % 5 === 0 ? ['one value of several', 'another value of them'].map(fresh) : [],
  reset: {
    period: 'MONTH',
    rule: { period: 'MONTH', accordingTo: 'SubscriptionStart' } as never,
    anchor: 1_790_000_000_000 + n,
    timeZone: 'Etc/UTC',
  },
  usage: {
    currentUsage: fromText('12345'),
    periodStart: 1_790_000_000_000 + n,
    periodEnd: 1_792_000_000_000 + n,
    updatedAt: 1_791_000_000_000 + n,
  },
  usageRestartsAt: null,
  deniedReason: null,
  validUntil: null,
})

const stateOf = (customerId: string, resourceId: string | null, features: readonly ReturnType<typeof featureOf>[]): EntitlementState => ({
  environmentId,
  customerId,
  resourceId,
  version: 1_791_000_000_000,
  accessVersion: 1_790_500_000_000,
  deniedReason: null,
  entitlements: features.map(entitlementOf),
  validUntil: null,
  next: null,
  basis: { catalogVersion: 17, clock: 'real' },
})

const features = (count: number) => Array.from({ length: count }, (_, n) => featureOf(n))

/** States as they are read from Redis. */
function readStates(
  memory: StateMemory,
  { customers, resources, entitlements }: { customers: number; resources: number; entitlements: number },
) {
  const text = JSON.stringify(stateOf('customer', null, features(entitlements)))
  for (let n = 0; n < customers; n++)
    for (let r = 0; r <= resources; r++)
      memory.hold({
        ...(JSON.parse(text) as EntitlementState),
        customerId: fresh(`customer-${n}`),
        resourceId: r === 0 ? null : fresh(`resource-${r}`),
      })
}

const documentsOf =
  (textOf: (n: number) => string): Fill =>
  () => {
    const documents = new Documents(buildSchema('type Query { a(x: [Int], y: String): Query b: String }'))
    for (let n = 0; documents.bytes < 20 * 2 ** 20; n++) {
      documents.prepare(textOf(n))
      const prepared = documents.prepare(fresh(textOf(n)))
      if (!('document' in prepared)) throw prepared[0]!
    }
    return { kept: documents, bytes: () => documents.bytes }
  }

const statesOf =
  (of: { customers: number; resources: number; entitlements: number }): Fill =>
  () => {
    const memory = new StateMemory(maxBytes)
    readStates(memory, of)
    return { kept: memory, bytes: () => memory.bytes }
  }

const fills: Record<string, Fill> = {
  'documents of a few fields': documentsOf(
    (n) => `query Q${n}($x: [Int]) { first: a(x: $x) { b a { b } } second: a(y: "text ${n}") { b } }`,
  ),
  'documents of many aliases': documentsOf((n) => `{ ${Array.from({ length: 90 }, (_, k) => `alias${k}n${n}: b`).join(' ')} }`),
  'documents of many values': documentsOf((n) => `{ a(x: [${n} ${'1 2 3 '.repeat(300)}]) { b } }`),
  'documents of long texts': documentsOf((n) => `# ${n} ${'long '.repeat(8_000)}\n{ a { b } }`),
  'states of twenty entitlements': statesOf({ customers: 1_500, resources: 0, entitlements: 20 }),
  'states of one entitlement': statesOf({ customers: 15_000, resources: 0, entitlements: 1 }),
  'states of resources': statesOf({ customers: 100, resources: 30, entitlements: 5 }),
  'states of one catalog': () => {
    const memory = new StateMemory(maxBytes)
    const shared = features(20)
    for (let n = 0; n < 2_000; n++) memory.hold(stateOf(fresh(`customer-${n}`), null, shared))
    return { kept: memory, bytes: () => memory.bytes }
  },
  'unknown resources': () => {
    const memory = new StateMemory(maxBytes)
    for (let n = 0; n < 2_000; n++) {
      memory.hold(stateOf(fresh(`customer-${n}`), null, []))
      for (let r = 0; r < 20; r++)
        memory.hold(
          fresh({ ...stateOf(`customer-${n}`, `resource ${r} ${'x'.repeat(200)}`, []), deniedReason: 'CustomerResourceNotFound' as const }),
        )
    }
    return { kept: memory, bytes: () => memory.bytes }
  },
  'unknown customers': () => {
    const memory = new StateMemory(maxBytes)
    for (let n = 0; n < 10_000; n++)
      memory.hold(fresh({ ...stateOf(`customer-${n}-${'x'.repeat(200)}`, null, []), deniedReason: 'CustomerNotFound' as const }))
    return { kept: memory, bytes: () => memory.unknownBytes }
  },
  'kept answers': () => {
    const memory = new StateMemory(maxBytes)
    const answers = new KeptAnswers(memory.grow.bind(memory))
    for (let n = 0; n < 100; n++) {
      const state = fresh(stateOf(`customer-${n}`, null, features(3)))
      memory.hold(state)
      for (let k = 0; k < 30; k++)
        answers.keep(state, fresh(`question ${k} ${'x'.repeat(500)}`), JSON.stringify({ k, answer: `${n}`.padEnd(4_000, '-') }))
    }
    return { kept: { memory, answers }, bytes: () => memory.bytes }
  },
  'known questions': () => {
    const questions = new KnownQuestions()
    const query = 'query Entitlement($query: FetchEntitlementQuery!) { entitlement(query: $query) { isGranted } }'
    for (let n = 0; questions.bytes < 10 * 2 ** 20; n++) {
      const holder = { customerId: fresh(`customer-number-${n}`), resourceId: n % 2 === 0 ? null : fresh(`resource-number-${n}`) }
      questions.remember(fresh(JSON.stringify({ query: query.padEnd(n % 600), variables: { query: holder } })), {
        holder,
        field: 'entitlement',
      })
    }
    return { kept: questions, bytes: () => questions.bytes }
  },
  'the cache of a sidecar': () => {
    const cache = new MemoryCache(maxBytes)
    const pool = new RightsPool()
    for (let n = 0; n < 20_000; n++) {
      const wanted = features(20).map((feature, k) => ({
        feature,
        usageLimit: fresh(`${100 + (n % 7)}` as never),
        hasUnlimitedUsage: false,
        hasSoftLimit: false,
        enumValues: [],
        deniedReason: null,
        resetPeriod: k % 2 === 0 ? ('MONTH' as const) : null,
      }))
      const usages = Array.from({ length: 10 }, () => ({
        currentUsage: '5' as never,
        periodStart: 1_790_000_000_000,
        periodEnd: 1_792_000_000_000,
        updatedAt: 1_791_000_000_000,
        anchor: 1_790_000_000_000,
      }))
      const customerId = fresh(`customer-${n}`)
      const state = {
        customerId,
        resourceId: null,
        version: 1_791_000_000_000 + n,
        accessVersion: 1_791_000_000_000,
        deniedReason: null,
        rights: pool.list(wanted),
        usages: packUsages(usages),
        validUntil: null,
      }
      cache.set(`${customerId.length}:${customerId}`, toEntry(state, 1, 1_791_000_000_000 + n))
    }
    return { kept: { cache, pool }, bytes: () => cache.sizeBytes }
  },
  'usage without an answer': () => {
    const door = new Door({
      queues: [{ add: () => new Promise(() => undefined) }],
      replies: { door: 'door', expect: () => undefined, forget: () => undefined },
      clock: { now: () => 1_791_000_000_000 },
      kind: 'events',
      maxItems: 1_000,
    })
    for (let n = 0; n < 5_000; n++) {
      const event = {
        customerId: `customer-${n}`,
        resourceId: null,
        eventName: 'call',
        idempotencyKey: `the key of event ${n}`,
        timestamp: null,
        dimensions: { region: `somewhere ${n}`, bytes: 12_345 + n, note: 'x'.repeat(n % 4_000) },
      }
      door.send(environmentId, [fresh(event)]).catch(() => undefined)
    }
    return { kept: door, bytes: () => door.waitingBytes }
  },
}

function heapInUse(): number {
  for (let times = 0; times < 4; times++) gc!()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

export const fillNames = Object.keys(fills)

const asked = process.argv[2]
if (asked !== undefined && fills[asked]) {
  const before = heapInUse()
  const filled = fills[asked]()
  await new Promise((resolve) => setImmediate(resolve))
  const grown = heapInUse() - before
  process.stdout.write(JSON.stringify({ grown, weighed: filled.bytes() }), () => process.exit(filled.kept ? 0 : 1))
}
