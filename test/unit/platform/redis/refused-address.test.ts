import { expect } from 'chai'
import { clusterProblems, readConfig, redisVariables } from '../../../../src/platform/config.js'
import { hostAlone, parseRedisAddress } from '../../../../src/platform/redis/address.js'
import { checkOptions } from '../../../../src/sdk/server/options.js'
import { sidecarDefinition } from '../../../../src/sidecar/config/config.js'
import { queueConsumptionDefinition } from '../../../../src/updates/external-cache/config.js'

const [suchAs, encoded] = ['must be a URL such as redis://host:port/db, redis+cluster://', 'percent-encoded, such as %40 for @']
const several = 'must begin with redis+cluster:// or redis+sentinel://'
const nameless = 'must name what the sentinels call the primary, as in redis+sentinel://host:port,host:port/name'
const passwordless = 'must have a password beside the user, as in redis://user:password@host:port'
const hosts = 'must name hosts with commas between, each as host:port'

/** What is wrong, and what its error tells to do. Passwords, and pieces of them, are in capitals. */
const addresses: readonly (readonly [url: string, message: string])[] = [
  // no scheme, or an unknown one
  ['cache:6379', suchAs],
  ['cache', suchAs],
  ['user:SECRET@cache:6379', encoded],
  [':SECRET@cache:6379', encoded],
  ['http://user:SECRET@cache', 'does not begin with http://'],
  ['valkey://:SECRET@cache:6379', 'does not begin with valkey://'],
  ['redis-sentinel://:SECRET@s1:26379/main', 'does not begin with redis-sentinel://'],
  ['redis+clusters://:SECRET@a:7000', suchAs],
  ['redis+cluster+tls://:SECRET@a:7000,b:7000', suchAs],
  ['redis+cluster:/a:7000', suchAs],
  // one server
  ['redis:///0', 'must name a host'],
  ['redis://a:SECRET', suchAs],
  ['redis://:SECRET@a:6379/first', 'the number of a database'],
  ['redis://a:6379/0/1', 'the number of a database'],
  ['redis://a:6379/0#x', 'the number of a database'],
  ['redis://me@a:6379', passwordless],
  ['redis://me:@a:6379', passwordless],
  ['redis://a:6379?sentinel_password=SECRET', 'must begin with redis+sentinel://'],
  // several hosts
  ['redis://a:6379,b:6379', several],
  ['rediss://me:SECRET@a,b:6379/0', several],
  ['redis+cluster:///0', hosts],
  ['redis+cluster://a:7000,,b:7000', hosts],
  ['redis+cluster://a:7000,', hosts],
  ['redis+cluster://a:seven', hosts],
  ['redis+cluster://:SECRET@a b:7000', hosts],
  ['redis+cluster://a:7000,redis://b:7000', hosts],
  ['redis+cluster://[::1:7000', hosts],
  ['redis+cluster://a:70000', 'must name ports from 1 to 65535'],
  ['redis+cluster://a:0', 'must name ports from 1 to 65535'],
  ['redis+cluster://me:SECRET@a:7000,me:SECRET@b:7000', encoded],
  ['redis+cluster://me:12@a:7000,me:12@b:7000', encoded],
  ['redis+cluster://me@a:7000', passwordless],
  // what one of them has, and the other has not
  ['redis+cluster://:SECRET@a:7000/1', 'must name no database: a cluster has one only'],
  ['redis+cluster://a:7000/main/0', 'must name no database: a cluster has one only'],
  ['redis+cluster://a:7000?sentinel_password=SECRET', 'must have no parameters: a cluster takes none'],
  ['redis+cluster://a:7000?SECRET', 'must have no parameters'],
  ['redis+sentinel://:SECRET@a:26379', nameless],
  ['redis+sentinel://a:26379/', nameless],
  ['redis+sentinel://a:26379//0', nameless],
  ['redis+sentinel://a:26379/main/x', nameless],
  ['redis+sentinel://a:26379/main/1/2', nameless],
  ['redis+sentinel://a:26379/main?password=SECRET', 'must have no parameters but sentinel_username and sentinel_password'],
  ['redis+sentinel://a:26379/main?sentinel_username=me', 'must have a sentinel_password beside sentinel_username'],
  // passwords that are not encoded
  ['redis://me:SEC/RET@a:6379', encoded],
  ['redis://me:12/RET@a:6379/0', encoded],
  ['redis://me:12?RET@a:6379', encoded],
  ['redis://me:12#RET@a:6379', encoded],
  ['redis+cluster://me:100%SECRET@a:7000', 'percent-encoded'],
  ['redis+cluster://me:SEC@RET@a:7000', encoded],
  ['redis+cluster://me:12/RET@a:7000', encoded],
  ['redis+sentinel://me:12/RET@a:26379', encoded],
  ['redis+sentinel://me:12?RET@a:26379/main', encoded],
]

/** What is `REDIS_HOST` to processes and `redis.host` to the SDK: beside it are others for user, password, encryption and database. */
const hostsAlone: readonly (readonly [host: string, message: string])[] = [
  ['redis://cache', 'must be the name or address of a host and nothing else'],
  ['redis://:SECRET@cache:6379', 'must be the name or address of a host and nothing else'],
  ['me:SECRET@cache', 'must be the name or address of a host and nothing else'],
  ['cache:6379', 'must be the name or address of a host and nothing else'],
  ['a,b', 'or redis+cluster://host:port,host:port, or redis+sentinel://host:port,host:port/name'],
  ['redis+cluster://me:SECRET@a:7000', 'without user, password and encryption: those are set by themselves'],
  ['rediss+cluster://a:7000', 'without user, password and encryption: those are set by themselves'],
  ['redis+sentinel://a/main?sentinel_password=SECRET', 'without user, password and encryption: those are set by themselves'],
  ['redis+sentinel://a/main/3', 'must name no database: that is set by itself'],
  ['redis+sentinel://a', nameless],
  ['redis+cluster://a:7000/2', 'must name no database: a cluster has one only'],
]

const problemsOf = (read: () => unknown): string => {
  try {
    read()
  } catch (error) {
    return (error as Error).message
  }
  return expect.fail('was not refused')
}

/** Neither as a whole nor in pieces. */
function expectRefused(problem: string, { message, input }: { message: string; input: string }): void {
  expect(problem).to.include(message)
  expect(problem).not.to.match(/SEC|RET/)
  expect(problem).not.to.include(input)
}

describe('the address of a Redis that is wrong', () => {
  for (const [url, message] of addresses)
    it(`is refused with what to do, and not repeated: ${url}`, () => {
      const parameters = url.includes('?') ? '' : url.includes('#') ? '' : '?queue=q'
      const doors: [name: string, read: () => unknown][] = [
        ['the URL', () => parseRedisAddress(url)],
        ['REDIS_URL', () => readConfig(redisVariables, { REDIS_URL: url })],
      ]
      for (const [, read] of doors) expectRefused(problemsOf(read), { message, input: url })
      // Whose own parameters stand behind it: that it is refused is all that is sure, and that nothing of it is shown.
      const behind = [
        () => readConfig(queueConsumptionDefinition.spec, { QUEUE_URL: `${url}${parameters}`, SERVER_API_KEY: 'k', REDIS_HOST: 'cache' }),
        () =>
          readConfig(sidecarDefinition.spec, { QUEUE_REDIS_URL: `${url}${parameters.replace('queue', 'environment')}`, OFFLINE: 'TRUE' }),
      ]
      for (const read of behind) expect(problemsOf(read)).not.to.match(/SEC|RET/)
    })

  for (const [host, message] of hostsAlone)
    it(`is refused as a host alone: ${host}`, () => {
      for (const read of [
        () => hostAlone(host),
        () => readConfig(queueConsumptionDefinition.spec, { QUEUE_URL: 'redis://q/0?queue=q', SERVER_API_KEY: 'k', REDIS_HOST: host }),
        () => readConfig(sidecarDefinition.spec, { OFFLINE: 'TRUE', REDIS_HOST: host }),
        () => checkOptions({ apiKey: 'k', redis: { host, environmentPrefix: '{production}' } }),
      ])
        expectRefused(problemsOf(read), { message, input: host.length > 3 ? host : '\0' })
    })

  it('is not mixed with what it has no place for', () => {
    const sidecar = (env: Record<string, string>) => () =>
      readConfig(sidecarDefinition.spec, { OFFLINE: 'TRUE', REDIS_ENVIRONMENT_PREFIX: '{production}', ...env }, sidecarDefinition.check)
    const consumption = (env: Record<string, string>) => () =>
      readConfig(
        queueConsumptionDefinition.spec,
        { QUEUE_URL: 'redis://q/0?queue=q', SERVER_API_KEY: 'k', REDIS_HOST: 'cache', ...env },
        queueConsumptionDefinition.check,
      )
    const [cluster, sentinels] = ['redis+cluster://a:7000,b:7000', 'redis+sentinel://a,b/main']
    for (const [read, message] of [
      [sidecar({ REDIS_HOST: cluster, REDIS_DB: '1' }), 'REDIS_DB is 1: a Redis Cluster has database 0 only'],
      [sidecar({ REDIS_HOST: cluster, REDIS_ENVIRONMENT_PREFIX: 'production' }), 'must be in braces, as in {production}'],
      [sidecar({ REDIS_HOST: cluster, REDIS_SENTINEL_PASSWORD: 'SECRET' }), 'REDIS_HOST is not of sentinels, as in redis+sentinel://'],
      [sidecar({ REDIS_SENTINEL_PASSWORD: 'SECRET' }), 'REDIS_HOST is not of sentinels, as in redis+sentinel://'],
      [sidecar({ REDIS_HOST: sentinels, REDIS_SENTINEL_USERNAME: 'me' }), 'without REDIS_SENTINEL_PASSWORD: set both or none'],
      [
        consumption({ REDIS_HOST: cluster, ENVIRONMENT_PREFIX: '{p}', REDIS_DB: '1' }),
        'REDIS_DB is 1: a Redis Cluster has database 0 only',
      ],
      [consumption({ REDIS_HOST: cluster }), 'ENVIRONMENT_PREFIX (production) must be in braces, as in {production}'],
      [consumption({ REDIS_SENTINEL_PASSWORD: 'SECRET' }), 'REDIS_HOST is not of sentinels, as in redis+sentinel://'],
      [consumption({ REDIS_HOST: sentinels, REDIS_SENTINEL_USERNAME: 'me' }), 'without REDIS_SENTINEL_PASSWORD: set both or none'],
      [consumption({ QUEUE_URL: `${cluster}?queue=q&prefix=tollgate` }), 'must have a prefix in braces, as in prefix={tollgate}'],
      [sidecar({ QUEUE_REDIS_URL: `${cluster}?environment=e&prefix=t` }), 'must have a prefix in braces, as in prefix={tollgate}'],
      [
        () => readConfig(redisVariables, { REDIS_URL: 'redis+cluster://:SECRET@a:7000', QUEUE_PREFIX: 'tollgate' }, clusterProblems),
        'QUEUE_PREFIX (tollgate) must be in braces, as in {tollgate}',
      ],
    ] as const)
      expectRefused(problemsOf(read), { message, input: '\0' })
    for (const [redis, message] of [
      [{ host: cluster, db: 1 }, 'redis.db must be 0'],
      [{ host: cluster, environmentPrefix: 'production' }, 'redis.environmentPrefix must be in braces, as in {production}'],
      [{ host: cluster, sentinelPassword: 'SECRET' }, 'redis.sentinelPassword is for a redis.host of sentinels'],
      [{ host: sentinels, sentinelUsername: 'me' }, 'redis.sentinelPassword is missing beside redis.sentinelUsername'],
      [{ username: 'me' }, 'redis.password is missing beside redis.username'],
    ] as const)
      expectRefused(
        problemsOf(() => checkOptions({ apiKey: 'k', redis: { environmentPrefix: '{production}', ...redis } })),
        {
          message,
          input: '\0',
        },
      )
  })

  it('is right with what sentinels ask for', () => {
    const config = readConfig(
      queueConsumptionDefinition.spec,
      {
        QUEUE_URL: 'redis+sentinel://me:SECRET@a,b/main/0?sentinel_password=OTHER&queue=q',
        SERVER_API_KEY: 'k',
        REDIS_HOST: 'redis+sentinel://a,b/main',
        REDIS_SENTINEL_PASSWORD: 'OTHER',
      },
      queueConsumptionDefinition.check,
    )
    expect(JSON.stringify(config)).not.to.match(/SECRET|OTHER/)
  })
})
