import { Redis } from 'ioredis'
import type { ClientOptions, TollgateError } from '../../../src/sdk/server/index.js'
import { createClient } from '../../../src/sdk/server/index.js'
import { type SidecarError, startSidecar } from '../../../src/sdk/sidecar/index.js'
import type * as sdk from '../../../src/sdk/types.js'
import { heartbeatKey } from '../../../src/updates/external-cache/keys.js'
import type { TestEnvironment } from '../../integration/web/whole-platform.js'
import { testRedisPrefix, testRedisUrl } from '../../support/redis.js'
import { runSidecar, until } from '../grpc/harness.js'

/** What every way to ask the platform offers, with the words of the SDKs. */
export interface Door {
  getBooleanEntitlement(question: sdk.CheckQuestion): Promise<sdk.Check<sdk.BooleanEntitlement>>
  getNumericEntitlement(question: sdk.CheckQuestion): Promise<sdk.Check<sdk.NumericEntitlement>>
  getMeteredEntitlement(question: sdk.MeteredQuestion): Promise<sdk.Check<sdk.MeteredEntitlement>>
  getEnumEntitlement(question: sdk.EnumQuestion): Promise<sdk.Check<sdk.EnumEntitlement>>
  getEntitlements(owner: sdk.Owner & sdk.Freshness): Promise<sdk.Entitlements>
  reportUsage(report: sdk.UsageReport): Promise<sdk.ReportedUsage>
  reportUsageBulk(reports: readonly sdk.UsageReport[]): Promise<sdk.ReportedUsage[]>
  reportEvents(events: readonly sdk.UsageEvent[]): Promise<void>
  reloadEntitlements(owner: sdk.Owner): Promise<boolean>
  close(): Promise<void>
}

interface Platform {
  url: string
  environment: TestEnvironment
}

/** What an error says, whichever door it came through: the words of GraphQL's codes, in upper case. */
export const codeOf = (error: unknown): string => (error as TollgateError | SidecarError).code

export interface DoorKind {
  name: string
  /** SDKs answer a question that does not fit the feature with a fallback; GraphQL asks about no type. */
  hasFallbacks: boolean
  /** Whether a feature that is not in the catalog is told from one that is not held. */
  knowsCatalog: boolean
  /** It is a process of the platform, which hears of changes before they are answered. */
  isOfPlatform: boolean
  /** `isTold`: of changes, when it is none of the platform. */
  open(platform: Platform, isTold: boolean): Promise<Door>
}

export const doors: readonly DoorKind[] = [
  {
    name: 'GraphQL',
    hasFallbacks: false,
    knowsCatalog: true,
    isOfPlatform: true,
    open: async ({ environment }) => graphqlDoor(environment),
  },
  { name: 'the Sidecar SDK', hasFallbacks: true, knowsCatalog: false, isOfPlatform: false, open: openSidecar },
  { name: 'the server SDK with a cache in memory', hasFallbacks: true, knowsCatalog: false, isOfPlatform: false, open: openServer },
  {
    name: 'the server SDK with an external cache',
    hasFallbacks: true,
    knowsCatalog: false,
    isOfPlatform: false,
    open: async (platform) => {
      const { hostname: host, port, pathname } = new URL(testRedisUrl())
      const db = Number(pathname.slice(1) || '0')
      const environmentPrefix = testRedisPrefix()
      // From then on it is known how old the cache is; no persistent-cache-service runs here.
      const redis = new Redis(testRedisUrl())
      await redis.set(heartbeatKey(environmentPrefix), String(Date.now()))
      await redis.quit()
      return openServer(platform, false, { redis: { environmentPrefix, host, port: Number(port), db, ttl: 600 } })
    },
  },
]

async function openServer({ url, environment }: Platform, isTold: boolean, options: Partial<ClientOptions> = {}): Promise<Door> {
  const client = await createClient({ apiKey: environment.serverKey, apiUrl: url, timeoutMs: 10_000, wsEnabled: isTold, ...options })
  if (isTold) await until(() => client.figures().isRealTime, 'changes are pushed', 10_000)
  return client
}

async function openSidecar({ url, environment }: Platform, isTold: boolean): Promise<Door> {
  const WS_ENABLED = isTold ? 'TRUE' : 'FALSE'
  const running = await runSidecar({ SERVER_API_KEY: environment.serverKey, API_URL: url, EDGE_ENABLED: 'TRUE', WS_ENABLED })
  if (isTold) await until(async () => (await running.metric('sidecar_real_time_connected')) === 1, 'changes are pushed', 10_000)
  const apiConfig = { apiKey: environment.serverKey }
  const remote = { remoteSidecarHost: '127.0.0.1', remoteSidecarPort: running.grpcPort }
  const sidecar = await startSidecar({ apiConfig, ...remote, timeoutMs: 10_000 })
  const close = sidecar.close.bind(sidecar)
  return Object.assign(sidecar, {
    async close() {
      await close()
      await running.stop()
    },
  })
}

const fields = `isGranted accessDeniedReason usageLimit hasUnlimitedUsage hasSoftLimit enumValues currentUsage resetPeriod
  usagePeriodAnchor usagePeriodStart usagePeriodEnd feature { refId featureType meterType featureUnits featureUnitsPlural }`

interface EntitlementAnswer {
  isGranted: boolean
  accessDeniedReason: string | null
  usageLimit: number | null
  hasUnlimitedUsage: boolean
  hasSoftLimit: boolean | null
  enumValues: string[] | null
  currentUsage: number | null
  resetPeriod: sdk.MeteredEntitlement['resetPeriod']
  usagePeriodAnchor: string | null
  usagePeriodStart: string | null
  usagePeriodEnd: string | null
  feature: {
    refId: string
    featureType: sdk.Feature['featureType']
    meterType: string | null
    featureUnits: string | null
    featureUnitsPlural: string | null
  } | null
}

function graphqlDoor({ ask }: TestEnvironment): Door {
  const call = async <Answer>(query: string, variables: object, { consistency, maxStalenessMs }: sdk.Freshness = {}): Promise<Answer> => {
    const { data, errors } = await ask<Record<string, Answer>>(query, variables, {
      ...(consistency === undefined ? {} : { 'x-consistency': consistency }),
      ...(maxStalenessMs === undefined ? {} : { 'x-max-staleness-ms': String(maxStalenessMs) }),
    })
    const [error] = errors ?? []
    if (error) throw Object.assign(new Error(error.message), { code: codes[error.extensions.code] ?? error.extensions.code })
    return Object.values(data!)[0]!
  }
  const check = async ({
    requestedUsage,
    requestedValues,
    consistency,
    maxStalenessMs,
    ...question
  }: sdk.MeteredQuestion & sdk.EnumQuestion) => {
    const options = {
      ...(requestedUsage === undefined ? {} : { requestedUsage }),
      ...(requestedValues === undefined ? {} : { requestedValues }),
    }
    const query = `query ($query: FetchEntitlementQuery!) { entitlement(query: $query) { ${fields} } }`
    const answer = await call<EntitlementAnswer>(query, { query: { ...question, options } }, { consistency, maxStalenessMs })
    const reason = reasonOf(answer.accessDeniedReason)
    const isHeld = answer.isGranted || (reason !== 'NO_FEATURE_ENTITLEMENT_IN_SUBSCRIPTION' && !ofNobody.has(reason!))
    // biome-ignore lint/suspicious/noExplicitAny: each method says of which type it is
    return { hasAccess: answer.isGranted, isFallback: false, accessDeniedReason: reason, entitlement: isHeld ? shown(answer) : null } as any
  }
  return {
    getBooleanEntitlement: check,
    getNumericEntitlement: check,
    getMeteredEntitlement: check,
    getEnumEntitlement: check,
    async getEntitlements({ consistency, maxStalenessMs, ...query }) {
      const state = await call<{ accessDeniedReason: string | null; entitlements: EntitlementAnswer[] }>(
        `query ($query: FetchEntitlementsQuery!) { entitlementsState(query: $query) { accessDeniedReason entitlements { ${fields} } } }`,
        { query },
        { consistency, maxStalenessMs },
      )
      const entitlements = state.entitlements
        .filter(({ isGranted }) => isGranted)
        .map((one) => ({ type: typeOf(one), ...shown(one) }) as sdk.Entitlement)
      return { entitlements, accessDeniedReason: reasonOf(state.accessDeniedReason) }
    },
    async reportUsage({ timestamp, ...report }) {
      const input = { ...report, ...(timestamp ? { createdAt: timestamp.toISOString() } : {}) }
      return toReported(await call(`mutation ($input: ReportUsageInput!) { reportUsage(input: $input) { ${reported} } }`, { input }))
    },
    async reportUsageBulk(usages) {
      const query = `mutation ($input: ReportUsageBulkInput!) { reportUsageBulk(input: $input) { ${reported} } }`
      return (await call<Reported[]>(query, { input: { usages } })).map(toReported)
    },
    async reportEvents(usageEvents) {
      await call('mutation ($events: UsageEventsReportInput!) { reportEvent(events: $events) }', { events: { usageEvents } })
    },
    async reloadEntitlements(owner) {
      const { accessDeniedReason } = await this.getEntitlements(owner)
      return accessDeniedReason !== 'CUSTOMER_NOT_FOUND' && accessDeniedReason !== 'CUSTOMER_RESOURCE_NOT_FOUND'
    },
    close: async () => {},
  }
}

const codes: Readonly<Record<string, string>> = {
  BadUserInput: 'INVALID_ARGUMENT',
  CustomerNotFound: 'NOT_FOUND',
  FeatureNotFound: 'NOT_FOUND',
  DuplicatedEntityNotAllowed: 'ALREADY_EXISTS',
  CannotReportUsageForEntitlementWithMeterError: 'FAILED_PRECONDITION',
  MeteringNotAvailableForFeatureType: 'FAILED_PRECONDITION',
}

const ofNobody = new Set<sdk.AccessDeniedReason>([
  'CUSTOMER_NOT_FOUND',
  'CUSTOMER_IS_ARCHIVED',
  'CUSTOMER_RESOURCE_NOT_FOUND',
  'NO_ACTIVE_SUBSCRIPTION',
  'FEATURE_NOT_FOUND',
])

const reasonOf = (name: string | null) =>
  (name?.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase() ?? null) as sdk.AccessDeniedReason | null

const toDate = (text: string | null) => (text === null ? null : new Date(text))

function typeOf({ feature }: EntitlementAnswer): sdk.Entitlement['type'] {
  if (feature?.featureType === 'BOOLEAN') return 'boolean'
  if (feature?.featureType === 'ENUM') return 'enum'
  return feature?.meterType === 'None' ? 'numeric' : 'metered'
}

function shown(answer: EntitlementAnswer): object {
  const { feature, usageLimit, hasUnlimitedUsage: isUnlimited } = answer
  const { refId: id, featureType, meterType, featureUnits: units, featureUnitsPlural: unitsPlural } = feature!
  const meter = meterType?.toUpperCase() ?? 'NONE'
  const told = { feature: { id, featureType, meterType: meter, isMetered: meter !== 'NONE', units, unitsPlural } }
  const limit = isUnlimited ? null : usageLimit
  const type = typeOf(answer)
  if (type === 'boolean') return told
  if (type === 'enum') return { ...told, enumValues: answer.enumValues }
  if (type === 'numeric') return { ...told, value: limit, isUnlimited }
  const { hasSoftLimit, currentUsage, resetPeriod } = answer
  const [usagePeriodAnchor, usagePeriodStart, usagePeriodEnd] = [
    answer.usagePeriodAnchor,
    answer.usagePeriodStart,
    answer.usagePeriodEnd,
  ].map(toDate)
  return {
    ...told,
    usageLimit: limit,
    isUnlimited,
    hasSoftLimit: hasSoftLimit ?? false,
    currentUsage,
    resetPeriod,
    usagePeriodAnchor,
    usagePeriodStart,
    usagePeriodEnd,
  }
}

const reported = 'id customerId resourceId featureId currentUsage usagePeriodStart usagePeriodEnd'

interface Reported extends Omit<sdk.ReportedUsage, 'measurementId' | 'usagePeriodStart' | 'usagePeriodEnd'> {
  id: string
  usagePeriodStart: string | null
  usagePeriodEnd: string | null
}

const toReported = ({ id, usagePeriodStart, usagePeriodEnd, ...rest }: Reported): sdk.ReportedUsage => ({
  measurementId: id,
  ...rest,
  usagePeriodStart: toDate(usagePeriodStart),
  usagePeriodEnd: toDate(usagePeriodEnd),
})
