import { expect } from 'chai'
import { ConfigError, readConfig } from '../../../../src/platform/config.js'
import { cacheRedisUrl, queueConsumptionDefinition, queueRedisUrl } from '../../../../src/updates/external-cache/config.js'

const { spec, check } = queueConsumptionDefinition
const valid = { QUEUE_URL: 'redis://queue:6379/2?queue=environment-1', SERVER_API_KEY: 'server-key', REDIS_HOST: 'cache' }

const read = (env: Record<string, string>) => readConfig(spec, env, check)

function problems(env: Record<string, string>): string[] {
  try {
    read(env)
    return []
  } catch (error) {
    return (error as ConfigError).problems
  }
}

describe('configuration of queue-consumption', () => {
  it('has the defaults that the documentation tells', () => {
    const config = read(valid)
    expect(config).to.deep.include({
      ENVIRONMENT_PREFIX: 'production',
      REDIS_PORT: 6379,
      REDIS_DB: 0,
      BATCH_SIZE: 1,
      KEYS_TTL_IN_SECS: 604_800,
      PORT: 4000,
    })
    expect(config.QUEUE_URL).to.deep.include({ queue: 'environment-1', prefix: '{tollgate}' })
    expect([queueRedisUrl(config), cacheRedisUrl(config)]).to.deep.equal(['redis://queue:6379/2', 'redis://cache:6379/0'])
  })

  it('takes queue, prefix, users and passwords of any characters', () => {
    const config = read({
      ...valid,
      QUEUE_URL: 'rediss://queue:6379/2?queue=environment-1&prefix={other}',
      CLOUD_ACCESS_KEY_ID: 'a:b',
      CLOUD_SECRET_ACCESS_KEY: 'p@ss/%',
      REDIS_HOST: '::1',
      REDIS_DB: '3',
      REDIS_PASSWORD: '#1',
    })
    expect(config.QUEUE_URL.prefix).to.equal('{other}')
    expect(queueRedisUrl(config)).to.equal('rediss://a%3Ab:p%40ss%2F%25@queue:6379/2')
    expect(cacheRedisUrl(config)).to.equal('redis://:%231@[::1]:6379/3')
  })

  for (const host of ['cache', 'Cache.internal', '10.0.0.1', '[::1]']) {
    it(`takes the host ${host}`, () => {
      expect(cacheRedisUrl(read({ ...valid, REDIS_HOST: host }))).to.match(/^redis:\/\/[^@]+:6379\/0$/)
    })
  }

  it('encrypts the connection to the cache where that is asked for, whatever that of the queue is', () => {
    const encrypted = { ...valid, REDIS_TLS: 'TRUE', REDIS_USER: 'me', REDIS_PASSWORD: 'x', REDIS_PORT: '6380', REDIS_DB: '2' }
    expect(cacheRedisUrl(read(encrypted))).to.equal('rediss://me:x@cache:6380/2')
    expect(queueRedisUrl(read(encrypted))).to.equal('redis://queue:6379/2')
    expect(cacheRedisUrl(read({ ...valid, REDIS_TLS: '0', REDIS_HOST: '::1' }))).to.equal('redis://[::1]:6379/0')
    expect(problems({ ...valid, REDIS_TLS: 'maybe' })).to.have.length(1)
  })

  it('keeps the queue’s password out of what is printed', () => {
    const config = read({ ...valid, QUEUE_URL: 'redis://:hunter2secret@queue:6379?queue=q' })
    expect(JSON.stringify(config.QUEUE_URL)).not.to.include('hunter2')
    expect(queueRedisUrl(config)).to.include('hunter2secret')
  })

  it('tells everything that is missing at once', () => {
    expect(problems({}).map((problem) => problem.split(' ')[0])).to.have.members(['QUEUE_URL', 'SERVER_API_KEY', 'REDIS_HOST'])
  })

  const refused: [title: string, env: Record<string, string>, problem: string][] = [
    ['an SQS address', { QUEUE_URL: 'https://sqs.eu-west-1.example.com/1/q' }, 'SQS are not supported yet'],
    ['an address of something else', { QUEUE_URL: 'amqp://queue' }, 'must be an address such as redis://'],
    ['no address', { QUEUE_URL: 'queue' }, 'must be an address such as redis://'],
    ['an address without a queue', { QUEUE_URL: 'redis://queue:6379/0' }, 'must name the queue'],
    ['an unknown parameter of the address', { QUEUE_URL: 'redis://queue:6379/0?queue=q&group=g' }, 'unknown parameter group'],
    ['a user of the queue without password', { CLOUD_ACCESS_KEY_ID: 'me' }, 'CLOUD_ACCESS_KEY_ID is set without'],
    ['two passwords of the queue', { QUEUE_URL: 'redis://:a@q?queue=q', CLOUD_SECRET_ACCESS_KEY: 'b' }, 'choose one'],
    ['a user of the cache without password', { REDIS_USER: 'me' }, 'REDIS_USER is set without'],
    ['a URL for a host', { REDIS_HOST: 'redis://cache' }, 'must be the name or address of a host'],
    ['a host with its port', { REDIS_HOST: 'cache:6379' }, 'must be the name or address of a host'],
    ['a negative database', { REDIS_DB: '-1' }, 'must be the number of a Redis database'],
    ['a life of nothing', { KEYS_TTL_IN_SECS: '0' }, 'KEYS_TTL_IN_SECS is 0'],
    ['no message at a time', { BATCH_SIZE: '0' }, 'must be a whole number above 0'],
    ['an API address with a password', { API_URL: 'http://u:p@api' }, 'must not carry a user or password'],
  ]
  for (const [title, env, problem] of refused) {
    it(`refuses ${title}`, () => {
      expect(problems({ ...valid, ...env })).to.have.length(1)
      expect(problems({ ...valid, ...env })[0]).to.include(problem)
    })
  }

  it('takes a negative life: keys stay', () => {
    expect(read({ ...valid, KEYS_TTL_IN_SECS: '-1' }).KEYS_TTL_IN_SECS).to.equal(-1)
  })
})
