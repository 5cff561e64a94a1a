import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { Redis } from 'ioredis'
import { startSidecar } from '../../../src/sdk/sidecar/index.js'
import { packageRoot } from '../../../src/web/pages/package-files.js'
import { type Behaviour, FakeApi, holding, metered } from '../../contract/grpc/fake-api.js'
import { type RunningSidecar, runSidecar, until } from '../../contract/grpc/harness.js'
import { testRedisPrefix, testRedisUrl } from '../../support/redis.js'

/** One row of the documentation's table of outages: what happens, and how it is told to go for cached customers, others and reports. */
interface Row {
  what: string
  cached: string
  others: string
  reports: string
}

function documentedRows(): Row[] {
  const lines = readFileSync(`${packageRoot}/src/web/docs/sidecar.md`, 'utf8').split('\n')
  const begin = lines.findIndex((line) => line.startsWith('| what happens ')) + 2
  const end = lines.findIndex((line, index) => index > begin && !line.startsWith('|'))
  return lines.slice(begin, end).map((line) => {
    const [what = '', cached = '', others = '', reports = ''] = line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim())
    return { what: what.replaceAll('`', ''), cached, others, reports }
  })
}

interface Check {
  hasAccess: boolean
  isFallback: boolean
}

/** What a scenario answers; `others` is asked for a customer that was never asked for before. */
interface Doors {
  check: (customerId: string, deadlineMs: number) => Promise<Check>
  report: () => Promise<unknown>
}

interface Scenario {
  env?: Record<string, string>
  /** Makes the outage happen; answers other doors than those of the sidecar, if need be. */
  happen: (parts: { api: FakeApi; sidecar: RunningSidecar; prefix: string }) => unknown
  doors?: (sidecar: RunningSidecar) => Promise<Doors & { close: () => Promise<void> }>
}

const behave = (behaviour: Behaviour): Scenario => ({
  happen: ({ api }) => {
    api.behaviour = behaviour
  },
})
const { hostname, port, pathname } = new URL(process.env.TEST_REDIS_URL ?? 'redis://127.0.0.1')
const external = (prefix: string) => ({
  REDIS_ENVIRONMENT_PREFIX: prefix,
  REDIS_HOST: hostname,
  REDIS_PORT: port,
  REDIS_DB: pathname.slice(1) || '0',
})
const externalPrefix = testRedisPrefix()

const scenarios: Record<string, Scenario> = {
  'the API refuses connections': { happen: ({ api }) => api.stop() },
  'the API accepts and never answers': behave('hangs'),
  'the API never answers, for more than five reads': {
    happen: async ({ api, sidecar }) => {
      api.behaviour = 'hangs'
      const read = (n: number) => sidecar.call('GetBooleanEntitlement', { customer_id: `unknown-${n}`, feature_id: 'f' })
      await Promise.all([1, 2, 3, 4, 5].map(read))
    },
  },
  'the API answers HTTP 503': behave({ status: 503 }),
  'the API refuses the key': behave({ code: 'Unauthenticated' }),
  'the API answers no more requests for a while': behave({ code: 'RateLimitExceeded' }),
  'only the edge API is away': {
    env: { EDGE_ENABLED: 'TRUE' },
    happen: ({ api }) => {
      api.edgeBehaviour = 'breaks'
    },
  },
  'the real-time connection is lost': {
    env: { WS_ENABLED: 'TRUE' },
    happen: async ({ api, sidecar }) => {
      await until(async () => (await sidecar.metric('sidecar_real_time_connected')) === 1, 'the connection is there')
      api.acceptsSockets = false
      api.dropConnections()
      await until(async () => (await sidecar.metric('sidecar_real_time_connected')) === 0, 'the break is noticed')
    },
  },
  'everything is away for longer than MAX_STALENESS_SECS': {
    env: { REFRESH_AFTER_SECS: '1', MAX_STALENESS_SECS: '1' },
    happen: async ({ api }) => {
      await api.stop()
      await new Promise((resolve) => setTimeout(resolve, 1_100))
    },
  },
  'the external cache is away': {
    // Nobody listens there.
    env: { ...external(externalPrefix), REDIS_HOST: '127.0.0.1', REDIS_PORT: '9' },
    happen: () => {},
  },
  'the external cache is there, the API is not': {
    env: external(externalPrefix),
    happen: async ({ api }) => {
      const redis = new Redis(testRedisUrl())
      await until(async () => (await redis.exists(`${externalPrefix}:c_cached`)) === 1, 'the answer is in the cache')
      redis.disconnect()
      await api.stop()
    },
  },
  'offline mode': { env: { OFFLINE: 'TRUE' }, happen: () => {} },
  'the sidecar itself is gone (SDK)': {
    happen: () => {},
    doors: async (sidecar) => {
      const remote = { remoteSidecarHost: '127.0.0.1', remoteSidecarPort: sidecar.grpcPort }
      const sdk = await startSidecar({ apiConfig: { apiKey: 'k' }, ...remote, entitlementsFallback: { 'api-calls': { hasAccess: true } } })
      await sdk.getMeteredEntitlement({ customerId: 'cached', featureId: 'api-calls' })
      await sidecar.stop()
      return {
        check: (customerId) => sdk.getMeteredEntitlement({ customerId, featureId: 'api-calls' }),
        report: () => sdk.reportUsage({ customerId: 'cached', featureId: 'api-calls', value: 1 }),
        close: () => sdk.close(),
      }
    },
  },
}

const statusNames: Record<number, string> = {
  2: 'UNKNOWN',
  4: 'DEADLINE_EXCEEDED',
  8: 'RESOURCE_EXHAUSTED',
  14: 'UNAVAILABLE',
  16: 'UNAUTHENTICATED',
}
const deadlineMs = 300

describe('outages, as the documentation tells them', () => {
  it('are all checked here', () => {
    expect(documentedRows().map(({ what }) => what)).to.have.members(Object.keys(scenarios))
  })

  for (const row of documentedRows()) {
    it(row.what, async () => {
      const { env = {}, happen, doors } = scenarios[row.what]!
      const api = await FakeApi.start()
      for (const customer of ['cached', 'other']) api.states.set(customer, holding(metered('api-calls')))
      const sidecar = await runSidecar({
        SERVER_API_KEY: api.acceptedKey,
        API_URL: api.url,
        WS_ENABLED: 'FALSE',
        REQUEST_TIMEOUT_MS: String(deadlineMs),
        ENTITLEMENTS_FALLBACK: '{"api-calls": {"hasAccess": true}}',
        ...env,
      })
      const own: Doors = {
        check: async (customerId, withinMs) => {
          const answer = await sidecar.call('GetMeteredEntitlement', { customer_id: customerId, feature_id: 'api-calls' }, withinMs)
          return { hasAccess: answer.has_access, isFallback: answer.is_fallback }
        },
        report: () => sidecar.call('ReportUsage', { customer_id: 'cached', feature_id: 'api-calls', value: 1 }, deadlineMs),
      }
      let other: Awaited<ReturnType<NonNullable<Scenario['doors']>>> | undefined
      try {
        await own.check('cached', 2_000)
        await happen({ api, sidecar, prefix: externalPrefix })
        other = await doors?.(sidecar)
        const { check, report } = other ?? own
        expect(await outcomeOf(() => check('cached', 2_000)), 'cached customers').to.equal(row.cached)
        expect(await outcomeOf(() => check('other', 2_000), true), 'other customers').to.equal(row.others)
        expect(await reported(report, api), 'reports').to.equal(row.reports)
      } finally {
        await other?.close()
        if (!doors) await sidecar.stop()
        await api.stop().catch(() => undefined)
      }
    }).timeout(20_000)
  }

  after(async () => {
    const redis = new Redis(testRedisUrl())
    const keys = await redis.keys(`${externalPrefix}:*`)
    if (keys.length > 0) await redis.del(keys)
    redis.disconnect()
  })

  async function outcomeOf(check: () => Promise<Check>, tellsWhen = false): Promise<string> {
    const began = performance.now()
    const { hasAccess, isFallback } = await check()
    expect(hasAccess).to.equal(true)
    if (!isFallback) return 'answered'
    if (!tellsWhen) return 'fallback'
    return performance.now() - began < deadlineMs / 2 ? 'fallback at once' : 'fallback at the deadline'
  }

  async function reported(report: () => Promise<unknown>, api: FakeApi): Promise<string> {
    const sent = api.count('reportUsage')
    try {
      await report()
      return api.count('reportUsage') > sent ? 'accepted' : 'not sent'
    } catch (error) {
      const { code } = error as { code: number | string }
      return typeof code === 'number' ? (statusNames[code] ?? String(code)) : code
    }
  }
})
