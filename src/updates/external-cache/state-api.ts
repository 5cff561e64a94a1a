import { Pool } from 'undici'
import { denialReasons } from '../../entitlement/denial.js'
import type { FeatureType, MeterType, StateDenialReason } from '../../entitlement/state.js'
import type { EpochMs } from '../../kernel/clock.js'
import * as decimal from '../../kernel/decimal.js'
import { Problem, unavailable } from '../../kernel/problem.js'
import type { ResetPeriod, ResetRule } from '../../metering/usage-period.js'
import type { Secret } from '../../platform/config.js'
import type { EntityId } from './keys.js'
import type { WritableEntitlement, WritableState } from './value.js'

const query = `query EntitlementsState($query: FetchEntitlementsQuery!) {
  entitlementsState(query: $query) {
    accessDeniedReason
    entitlements {
      isGranted accessDeniedReason usageLimit hasUnlimitedUsage hasSoftLimit enumValues currentUsage validUntil
      resetPeriod usagePeriodAnchor usagePeriodStart usagePeriodEnd entitlementUpdatedAt usageUpdatedAt
      resetPeriodConfiguration {
        ... on MonthlyResetPeriodConfig { monthlyAccordingTo }
        ... on WeeklyResetPeriodConfig { weeklyAccordingTo }
        ... on YearlyResetPeriodConfig { yearlyAccordingTo }
      }
      feature { refId featureType meterType featureUnits featureUnitsPlural }
    }
  }
}`

interface StateJson {
  accessDeniedReason: string | null
  entitlements: EntitlementJson[] | null
}

interface EntitlementJson {
  isGranted: boolean
  accessDeniedReason: string | null
  usageLimit: number | null
  hasUnlimitedUsage: boolean
  hasSoftLimit: boolean | null
  enumValues: string[] | null
  currentUsage: number | null
  /** Epoch milliseconds; the other times are ISO 8601. */
  validUntil: number | null
  resetPeriod: ResetPeriod | null
  resetPeriodConfiguration: { monthlyAccordingTo?: ResetRule; weeklyAccordingTo?: ResetRule; yearlyAccordingTo?: ResetRule } | null
  usagePeriodAnchor: string | null
  usagePeriodStart: string | null
  usagePeriodEnd: string | null
  entitlementUpdatedAt: string | null
  usageUpdatedAt: string | null
  feature: {
    refId: string
    featureType: FeatureType
    meterType: MeterType | null
    featureUnits: string | null
    featureUnitsPlural: string | null
  } | null
}

interface Answer {
  data?: { entitlementsState: StateJson } | null
  errors?: { message: string; extensions?: { code?: string } }[]
}

/** Longest wait for a connection, for an answer to begin, and between two parts of it. */
const timeoutMs = 10_000
/** Messages that miss their state are few; one slow answer must not hold up the others. */
const mostConnections = 4

/** Reads states from the platform's GraphQL API. */
export class StateApi {
  readonly #pool: Pool
  readonly #path: string
  readonly #apiKey: Secret

  /** `url`: without `/graphql`. */
  constructor({ url, apiKey }: { url: string; apiKey: Secret }) {
    const { origin, pathname } = new URL(url)
    this.#path = `${pathname.replace(/\/$/, '')}/graphql`
    this.#apiKey = apiKey
    this.#pool = new Pool(origin, {
      connections: mostConnections,
      connect: { timeout: timeoutMs },
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
    })
  }

  /**
   * The state of a customer or resource, an unknown one included, as of a version not below `version`. Fails with UNAVAILABLE when the API is away or refuses
   * the key (someone will mend it), and with INVALID_ARGUMENT when it does not take the identifiers.
   */
  async fetch(id: EntityId, version: EpochMs, signal: AbortSignal): Promise<WritableState> {
    const { statusCode, text } = await this.#post(JSON.stringify({ query, variables: { query: id } }), signal)
    const { data, errors } = parseAnswer(text)
    if (data) return toState(id, version, data.entitlementsState)
    const [error] = errors ?? []
    if (error?.extensions?.code === 'BadUserInput') throw new Problem('INVALID_ARGUMENT', 'BAD_USER_INPUT', error.message)
    throw unavailable(`The API did not answer with a state: ${error?.message ?? `HTTP ${statusCode}`}`)
  }

  close(): Promise<void> {
    return this.#pool.destroy()
  }

  async #post(body: string, signal: AbortSignal): Promise<{ statusCode: number; text: string }> {
    try {
      const headers = { 'content-type': 'application/json', accept: 'application/json', 'x-api-key': this.#apiKey.reveal() }
      const response = await this.#pool.request({ method: 'POST', path: this.#path, headers, body, signal })
      return { statusCode: response.statusCode, text: await response.body.text() }
    } catch (error) {
      throw unavailable('The API cannot be reached', error)
    }
  }
}

/** Empty when it is not a GraphQL answer, such as a proxy's error page. */
function parseAnswer(text: string): Answer {
  try {
    return (JSON.parse(text) as Answer | null) ?? {}
  } catch {
    return {}
  }
}

function toState({ customerId, resourceId }: EntityId, version: EpochMs, json: StateJson): WritableState {
  const held = json.entitlements ?? []
  const versions = held.flatMap(({ entitlementUpdatedAt }) => fromTime(entitlementUpdatedAt) ?? [])
  return {
    customerId,
    resourceId,
    // Without entitlements the answer tells no version, but it was read after the change with this one.
    accessVersion: versions.length > 0 ? Math.max(...versions) : version,
    deniedReason:
      json.accessDeniedReason === null ? null : (stateReasons.find((known) => known === json.accessDeniedReason) ?? 'NoActiveSubscription'),
    entitlements: held.flatMap((entitlement) => toEntitlement(entitlement) ?? []),
  }
}

/** Null for what is not a feature (credits). */
function toEntitlement(json: EntitlementJson): WritableEntitlement | null {
  const { feature, resetPeriod, resetPeriodConfiguration: configuration } = json
  if (feature === null) return null
  const meterType = feature.meterType ?? 'None'
  const anchor = fromTime(json.usagePeriodAnchor)
  const rule =
    configuration?.monthlyAccordingTo ?? configuration?.weeklyAccordingTo ?? configuration?.yearlyAccordingTo ?? 'SubscriptionStart'
  return {
    feature: {
      refId: feature.refId,
      featureType: feature.featureType,
      meterType,
      units: feature.featureUnits,
      unitsPlural: feature.featureUnitsPlural,
    },
    usageLimit: json.usageLimit === null ? null : decimal.fromNumber(json.usageLimit),
    hasUnlimitedUsage: json.hasUnlimitedUsage,
    hasSoftLimit: json.hasSoftLimit ?? false,
    enumValues: json.enumValues ?? [],
    reset: resetPeriod !== null && anchor !== null ? { period: resetPeriod, rule, anchor } : null,
    usage:
      meterType === 'None'
        ? null
        : {
            currentUsage: decimal.fromNumber(json.currentUsage ?? 0),
            periodStart: fromTime(json.usagePeriodStart),
            periodEnd: fromTime(json.usagePeriodEnd),
            updatedAt: fromTime(json.usageUpdatedAt) ?? 0,
          },
    deniedReason: json.isGranted ? null : toDenialReason(json.accessDeniedReason),
    validUntil: json.validUntil,
  }
}

const fromTime = (iso: string | null): EpochMs | null => (iso === null ? null : Date.parse(iso))

const stateReasons: readonly StateDenialReason[] = [
  'CustomerNotFound',
  'CustomerIsArchived',
  'CustomerResourceNotFound',
  'NoActiveSubscription',
]

/** What depends on the request is decided by the reader at each check. */
function toDenialReason(reason: string | null) {
  if (reason === 'RequestedUsageExceedingLimit' || reason === 'RequestedValuesMismatch') return null
  return denialReasons.find((known) => known === reason) ?? 'Unknown'
}
