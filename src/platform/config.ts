import { type CleanedEnv, cleanEnv, makeValidator, num, str, type ValidatorSpec } from 'envalid'
import { Secret } from '../kernel/secret.js'
import { isOfCluster, parseRedisAddress } from './redis/address.js'
import { isTagged } from './redis/slots.js'

/**
 * A process's configuration: environment variables only, read once, all problems reported together.
 * A spec entry's `desc` and `default` are the README's table of variables (a test compares them).
 */
// biome-ignore lint/suspicious/noExplicitAny: the value types are recovered from each validator by CleanedEnv
export type ConfigSpec = Record<string, ValidatorSpec<any>>
export type Config<Spec extends ConfigSpec> = Readonly<CleanedEnv<Spec>>

/** Says two settings contradict each other; answers one sentence per contradiction. */
export type ConfigCheck<Spec extends ConfigSpec> = (config: Config<Spec>) => string[]

/** Every problem of the environment, one per line. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  constructor(readonly problems: string[]) {
    super(problems.join('\n'))
  }
}

/** Text that is a secret, such as a key or a URL that may carry a password. */
export const secret = makeValidator<Secret>((input) => new Secret(input))

const integer = makeValidator<number>((input) => {
  const value = Number(input)
  if (!Number.isInteger(value)) throw new Error(`must be a whole number, not "${input}"`)
  return value
})

/** A TCP port; 0 lets the system choose one. */
export const port = makeValidator<number>((input) => {
  const value = Number(input)
  if (!Number.isInteger(value) || value < 0 || value > 65_535) throw new Error(`must be a port (0 to 65535), not "${input}"`)
  return value
})

/** A whole number above zero: a count, a size or a time in the unit that the variable's name ends with. */
export const positive = makeValidator<number>((input) => {
  const value = Number(input)
  if (!Number.isInteger(value) || value <= 0) throw new Error(`must be a whole number above 0, not "${input}"`)
  return value
})

/** TRUE or FALSE in any case, 1 or 0. */
export const flag = makeValidator<boolean>((input) => {
  const text = String(input).toLowerCase()
  if (text === 'true' || text === '1') return true
  if (text === 'false' || text === '0') return false
  throw new Error(`must be TRUE or FALSE, not "${input}"`)
})

/** A URL with one of the given schemes. The message never repeats the value: it may carry a password. */
export function urlOf(...schemes: string[]) {
  return makeValidator<Secret>((input) => {
    let scheme: string
    try {
      scheme = new URL(input).protocol.slice(0, -1)
    } catch {
      throw new Error(`must be a URL such as ${schemes[0]}://host:port/path`)
    }
    if (!schemes.includes(scheme)) throw new Error(`must begin with ${schemes.map((s) => `${s}://`).join(' or ')}, not ${scheme}://`)
    return new Secret(input)
  })
}

export { integer, num, str }

/** One of `choices`, in any case. */
const choice = makeValidator<string>((input) => input.toLowerCase())

export const logLevel = (level: 'info' | 'warn') =>
  choice({ choices: ['error', 'warn', 'info', 'debug'], default: level, desc: 'Least severe log line that is written' })

/** What every process understands. */
export const processVariables = {
  BIND_ADDRESS: str({ default: '0.0.0.0', desc: 'Address that the servers of the process listen on' }),
  LOG_LEVEL: logLevel('info'),
  SHUTDOWN_TIMEOUT_MS: positive({ default: 10_000, desc: 'Time for work in flight to finish after a stop signal' }),
  OTEL_EXPORTER_OTLP_ENDPOINT: urlOf(
    'http',
    'https',
  )({
    default: undefined,
    desc: 'Collector of OpenTelemetry that traces are sent to, as OTLP over HTTP; without it there are none and nothing of it is loaded',
    example: 'http://collector:4318',
  }),
} as const satisfies ConfigSpec

const postgresUrl = urlOf('postgresql', 'postgres')

export const databaseVariables = {
  DATABASE_URL: postgresUrl({ desc: 'PostgreSQL 15 or newer', example: 'postgresql://user:password@host:5432/tollgate' }),
  DATABASE_DIRECT_URL: postgresUrl({
    default: undefined,
    desc: 'The PostgreSQL itself, when `DATABASE_URL` is that of a PgBouncer in transaction mode: migrations need a session; the other processes only learn by it that there is a PgBouncer',
  }),
  DATABASE_POOL_SIZE: positive({ default: 10, desc: 'Most PostgreSQL connections that the process opens' }),
} as const satisfies ConfigSpec

/** The message never repeats the value: it may carry a password. */
const redisUrl = makeValidator<Secret>((input) => {
  parseRedisAddress(input)
  return new Secret(input)
})

export const redisVariables = {
  REDIS_URL: redisUrl({
    desc: 'Redis 6.2 or newer (or Valkey) that evicts nothing: queues, push channels, entitlement state; a cluster as `redis+cluster://host:7000,host:7001`, by Sentinel as `redis+sentinel://host:26379,host:26379/name`',
    example: 'redis://host:6379',
  }),
  QUEUE_PREFIX: str({
    default: '{tollgate}',
    desc: 'Prefix of all queue and cache keys; on Redis Cluster in braces, by which keys that belong together are in one slot',
  }),
} as const satisfies ConfigSpec

/** What else has to be right of a Redis Cluster. */
export function clusterProblems({ REDIS_URL, QUEUE_PREFIX }: Pick<Config<typeof redisVariables>, 'REDIS_URL' | 'QUEUE_PREFIX'>): string[] {
  if (!isOfCluster(REDIS_URL.reveal()) || isTagged(QUEUE_PREFIX)) return []
  return [`QUEUE_PREFIX (${QUEUE_PREFIX}) must be in braces, as in {tollgate}: REDIS_URL is of a Redis Cluster`]
}

/** What a process reads, by name, as a table in Markdown. Required is what has no default; an empty default has no effect unless it is set. */
export function variableTable(spec: ConfigSpec): string {
  const rows = Object.entries(spec)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, entry]) => {
      const { desc = '', default: value, choices, example } = entry
      const details = choices ? ` (${choices.join(', ')})` : example ? `, for example \`${example}\`` : ''
      const shown = !('default' in entry) ? 'required' : value === undefined ? '' : `\`${value}\``
      return `| \`${name}\` | ${shown} | ${desc}${details} |`
    })
  return ['| variable | default | meaning |', '|---|---|---|', ...rows].join('\n')
}

/**
 * Reads and checks the environment. An empty variable counts as unset.
 * @throws ConfigError with every problem
 */
export function readConfig<Spec extends ConfigSpec>(spec: Spec, env: NodeJS.ProcessEnv, check?: ConfigCheck<Spec>): Config<Spec> {
  const given = Object.fromEntries(Object.entries(env).filter(([name, value]) => name in spec && value !== undefined && value !== ''))
  const problems: string[] = []
  const reporter = ({ errors }: { errors: Partial<Record<string, Error>> }) => {
    for (const [name, error] of Object.entries(errors)) {
      if (!error) continue
      const entry = spec[name]
      const isMissing = given[name] === undefined
      const message = isMissing
        ? `is not set (${entry?.desc ?? 'required'}${entry?.example ? `; for example ${entry.example}` : ''})`
        : error.message
      problems.push(`${name} ${message}`)
    }
    if (problems.length > 0) throw new ConfigError(problems)
  }
  const config = cleanEnv(given, spec, { reporter: reporter as never }) as Config<Spec>
  const contradictions = check?.(config) ?? []
  if (contradictions.length > 0) throw new ConfigError(contradictions)
  return config
}
