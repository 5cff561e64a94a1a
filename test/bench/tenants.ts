import { fork } from 'node:child_process'
import { setPriority } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { compare, type Sample } from './figures/compare.js'
import { quantile } from './figures/statistics.js'
import type { Benchmark } from './harness/benchmark.js'
import { HttpConnection, postRequest } from './load/http-connection.js'
import { wrong } from './sidecar-calls.js'
import { CpuMeter } from './stack/cpu-meter.js'
import { addCustomers, startStack } from './stack/stack.js'

/** Calls of each kind that the quiet tenant makes in a second. */
const callsPerSecond = 30
const roundMs = 8_000
/** What the loud one has begun is still being worked off when it becomes quiet. */
const settleMs = 2_000
const lowestPriority = 19

const catalog = {
  features: [
    { refId: 'calls', type: 'NUMBER', meter: 'Incremental', units: 'call', unitsPlural: 'calls' },
    {
      refId: 'tokens',
      type: 'NUMBER',
      meter: 'Incremental',
      units: 'token',
      unitsPlural: 'tokens',
      events: { aggregation: 'SUM', field: 'tokens' },
    },
  ],
  products: [{ refId: 'cloud' }],
  plans: [
    {
      refId: 'free',
      product: 'cloud',
      pricingType: 'FREE',
      entitlements: ['calls', 'tokens'].map((feature) => ({ feature, limit: 1_000_000_000, resetPeriod: 'MONTH' })),
    },
  ],
}

type Kind = 'check' | 'report' | 'event'

/** What a loud tenant costs a quiet one of the same platform. */
export const tenants: Benchmark = {
  name: 'tenants',
  about: `p99 of ${callsPerSecond} checks, reports and events a second of one tenant, beside another as loud as it can be; reference: the same alone`,
  async run({ seconds, life, note }) {
    const stack = await startStack(life, catalog)
    await addCustomers(stack, 1, 'free')
    const { environments, catalog: catalogs, customers } = stack.app
    const { environment } = await environments.create({ refId: 'quiet' })
    await catalogs.apply(environment.id, catalog, { dryRun: false, archiveMissing: false })
    const { key } = await environments.createKey({ environment: 'quiet', kind: 'SERVER', name: 'quiet', expiresAt: null })
    await customers.provision(environment.id, { refId: 'customer-0', subscription: { planRefId: 'free' } })
    const web = await stack.start('web')
    for (const name of ['usage-ingestion', 'event-aggregation', 'cache-invalidation'] as const) await stack.start(name)

    const loud = life.open(
      'loud tenant',
      fork(fileURLToPath(new URL('./loud-tenant.js', import.meta.url)), {
        stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
        env: { PATH: process.env.PATH },
      }),
      (child) => child.kill('SIGKILL'),
    )
    // Clients have machines of their own.
    setPriority(loud.pid!, lowestPriority)
    const tell = (isLoud: boolean) => loud.send({ url: web.url, serverKey: stack.serverKey, isLoud })

    const quiet = quietTenant(web.url, key, life)
    const cpu = new CpuMeter(stack)
    const measure = async (isLoud: boolean): Promise<Sample<Kind>> => {
      tell(isLoud)
      await sleep(settleMs)
      cpu.lap()
      const beganAt = performance.now()
      const sample = await quiet()
      const ms = performance.now() - beganAt
      const shares = [...cpu.lap()].map(([name, used]) => `${name} ${Math.round(used / 10 / ms)} %`)
      const steps = await Promise.all(stack.processes.map(async (one) => `${one.name} ${Math.round(await one.longestStepMs())} ms`))
      note(`${isLoud ? 'loud' : 'alone'}: CPU ${shares.join(', ')}; longest steps ${steps.join(', ')}`)
      return sample
    }
    await measure(false)
    return compare<Kind>({
      subject: () => measure(true),
      reference: () => measure(false),
      measures: {
        report: { name: 'tenants-report-p99', unit: 'ms' },
        check: { name: 'tenants-check-p99', unit: 'ms' },
        event: { name: 'tenants-event-p99', unit: 'ms' },
      },
      rounds: 12,
      seconds,
      onRound: (round, beside, alone) =>
        note(
          `round ${round}: ${(['report', 'check', 'event'] as const).map((kind) => `${kind} ${beside[kind].toFixed(1)} and ${alone[kind].toFixed(1)} ms`).join(', ')}`,
        ),
    })
  },
}

/** Calls at a steady pace, whether or not those before are answered. Answers the p99 of each kind in ms; fails when one is refused. */
function quietTenant(url: string, key: string, life: { open<T>(label: string, value: T, close: (value: T) => unknown): T }) {
  const free: HttpConnection[] = []
  const headers = { 'x-api-key': key }
  const post = (query: string, variables: object) => postRequest('/graphql', headers, JSON.stringify({ query, variables }))
  const holder = { customerId: 'customer-0', featureId: 'calls' }
  let serial = 0
  const requests: Record<Kind, () => Buffer> = {
    report: () =>
      post('mutation ($input: ReportUsageInput!) { reportUsage(input: $input) { currentUsage } }', { input: { ...holder, value: 1 } }),
    check: () => post('query ($query: FetchEntitlementQuery!) { entitlement(query: $query) { isGranted } }', { query: holder }),
    event: () =>
      post('mutation ($events: UsageEventsReportInput!) { reportEvent(events: $events) }', {
        events: {
          usageEvents: [{ customerId: 'customer-0', eventName: 'used', idempotencyKey: `quiet-${serial++}`, dimensions: { tokens: 1 } }],
        },
      }),
  }
  const call = async (request: Buffer): Promise<number> => {
    const connection = free.pop() ?? life.open('connection', new HttpConnection(url), (c) => c.close())
    const beganAt = performance.now()
    const answer = await connection.send(request)
    const ms = performance.now() - beganAt
    free.push(connection)
    if (answer.includes('"errors"')) throw wrong(`The quiet tenant was answered ${answer.slice(0, 300)}`)
    return ms
  }
  return async (): Promise<Sample<Kind>> => {
    const times: Record<Kind, Promise<number>[]> = { check: [], report: [], event: [] }
    const beganAt = performance.now()
    for (let n = 0; n * (1_000 / callsPerSecond) < roundMs; n++) {
      await sleep(Math.max(0, beganAt + n * (1_000 / callsPerSecond) - performance.now()))
      for (const kind of Object.keys(times) as Kind[]) times[kind].push(call(requests[kind]()))
    }
    const p99 = async (kind: Kind) => quantile(await Promise.all(times[kind]), 0.99)
    return { report: await p99('report'), check: await p99('check'), event: await p99('event') }
  }
}
