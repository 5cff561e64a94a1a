import { makeValidator } from 'envalid'
import { type Config, type ConfigSpec, flag, port, positive, processVariables, secret, str } from '../platform/config.js'
import { type GlobalFallbacks, parseGlobalFallbacks } from './fallback.js'

const globalFallbacks = makeValidator<GlobalFallbacks>(parseGlobalFallbacks)

/** The validators of the platform keep URLs secret, for their passwords; these have none, and are worth reading in the logs. */
const urlOf = (...schemes: string[]) =>
  makeValidator<string>((input) => {
    const url = URL.parse(input)
    if (url === null || !schemes.includes(url.protocol))
      throw new Error(`must be a URL that begins with ${schemes.map((s) => `${s}//`).join(' or ')}`)
    if (url.username !== '' || url.password !== '') throw new Error('must not carry a user or password: the key is SERVER_API_KEY')
    return input
  })

const path = makeValidator<string>((input) => {
  const trimmed = input.replace(/^\//, '')
  if (!/^[\w.~/-]+$/.test(trimmed)) throw new Error(`must be a path such as livez, not "${input}"`)
  return trimmed
})

const spec = {
  SERVER_API_KEY: secret({
    default: undefined,
    requiredWhen: ({ OFFLINE }) => OFFLINE !== true,
    desc: "The environment's Server API key; required unless OFFLINE",
  }),
  API_URL: urlOf('http:', 'https:')({ default: 'http://localhost:4000', desc: 'API address, without /graphql' }),
  WS_ENABLED: flag({ default: true, desc: 'Real-time updates over WebSocket' }),
  WS_URL: urlOf(
    'ws:',
    'wss:',
  )({ default: undefined, desc: 'WebSocket address; default: that of API_URL with /graphql', example: 'ws://localhost:4000/graphql' }),
  ENTITLEMENTS_FALLBACK: globalFallbacks({
    default: undefined,
    desc: 'Answers when nothing is known: JSON object from feature identifier to {hasAccess, usageLimit, isUnlimited}',
    example: '{"sso": {"hasAccess": true}, "api-calls": {"hasAccess": true, "usageLimit": 100}}',
  }),
  PORT: port({ default: 8443, desc: 'gRPC port' }),
  SIDECAR_HTTP_PORT: port({ default: 8080, desc: 'HTTP port of health and metrics' }),
  CACHE_MAX_SIZE_BYTES: positive({
    default: undefined,
    desc: 'Size of the in-memory cache; default: the smaller of 50 % of available memory and 60 % of the heap limit',
  }),
  REQUEST_TIMEOUT_MS: positive({
    default: 10_000,
    desc: 'Longest that a call takes when its caller sets no deadline, and longest request to the API',
  }),
  REFRESH_AFTER_SECS: positive({ default: 30, desc: 'Age after which an entry is refreshed when no real-time connection vouches for it' }),
  MAX_STALENESS_SECS: positive({
    default: undefined,
    desc: 'Age after which an entry that cannot be refreshed is not answered any more; default: 7 days',
  }),
  HEALTH_ENDPOINT_URL: path({ default: 'livez', desc: 'Path of the health endpoint' }),
  READY_ENDPOINT_URL: path({ default: 'readyz', desc: 'Path of the readiness endpoint' }),
  OFFLINE: flag({ default: false, desc: 'No network calls: every check is answered by its fallback' }),
  ...processVariables,
  LOG_LEVEL: str({ choices: ['error', 'warn', 'info', 'debug'], default: 'warn', desc: processVariables.LOG_LEVEL.desc }),
} as const satisfies ConfigSpec

export type SidecarConfig = Config<typeof spec>

export const sidecarDefinition = { name: 'sidecar', spec, check: contradictions }

function contradictions(config: SidecarConfig): string[] {
  const { PORT, SIDECAR_HTTP_PORT, HEALTH_ENDPOINT_URL, READY_ENDPOINT_URL, REFRESH_AFTER_SECS, MAX_STALENESS_SECS } = config
  const problems: string[] = []
  if (PORT !== 0 && PORT === SIDECAR_HTTP_PORT) problems.push(`PORT and SIDECAR_HTTP_PORT are both ${PORT}: choose two ports`)
  if (new Set([HEALTH_ENDPOINT_URL, READY_ENDPOINT_URL, 'metrics']).size < 3)
    problems.push('HEALTH_ENDPOINT_URL, READY_ENDPOINT_URL and metrics must be three paths')
  if (MAX_STALENESS_SECS !== undefined && MAX_STALENESS_SECS < REFRESH_AFTER_SECS) {
    problems.push(`MAX_STALENESS_SECS (${MAX_STALENESS_SECS}) must not be below REFRESH_AFTER_SECS (${REFRESH_AFTER_SECS})`)
  }
  return problems
}
