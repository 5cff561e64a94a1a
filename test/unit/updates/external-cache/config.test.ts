import { expect } from 'chai'
import { ConfigError, readConfig } from '../../../../src/platform/config.js'
import {
  cacheRedisUrl,
  queueConsumptionDefinition,
  queueRedisUrl,
  type RedisQueueAddress,
  type SqsQueueAddress,
  sqsQueue,
} from '../../../../src/updates/external-cache/config.js'

const { spec, check } = queueConsumptionDefinition
const valid = { QUEUE_URL: 'redis://queue:6379/2?queue=environment-1', SERVER_API_KEY: 'server-key', REDIS_HOST: 'cache' }

const sqs = {
  QUEUE_URL: 'https://sqs.eu-west-1.amazonaws.com/123456789012/changes',
  CLOUD_REGION: 'eu-west-1',
  CLOUD_ACCESS_KEY_ID: 'AKIA',
  CLOUD_SECRET_ACCESS_KEY: 'secret-of-sqs',
}

const read = (env: Record<string, string>) => readConfig(spec, env, check)

/** Of a queue in Redis. */
const queueUrlOf = (config: ReturnType<typeof read>) => queueRedisUrl(config.QUEUE_URL as RedisQueueAddress, config)

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
    expect([queueUrlOf(config), cacheRedisUrl(config)]).to.deep.equal(['redis://queue:6379/2', 'redis://cache:6379/0'])
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
    expect(config.QUEUE_URL).to.include({ prefix: '{other}' })
    expect(queueUrlOf(config)).to.equal('rediss://a%3Ab:p%40ss%2F%25@queue:6379/2')
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
    expect(queueUrlOf(read(encrypted))).to.equal('redis://queue:6379/2')
    expect(cacheRedisUrl(read({ ...valid, REDIS_TLS: '0', REDIS_HOST: '::1' }))).to.equal('redis://[::1]:6379/0')
    expect(problems({ ...valid, REDIS_TLS: 'maybe' })).to.have.length(1)
  })

  it('keeps the queue’s password out of what is printed', () => {
    const config = read({ ...valid, QUEUE_URL: 'redis://:hunter2secret@queue:6379?queue=q' })
    expect(JSON.stringify(config.QUEUE_URL)).not.to.include('hunter2')
    expect(queueUrlOf(config)).to.include('hunter2secret')
  })

  it('tells everything that is missing at once', () => {
    expect(problems({}).map((problem) => problem.split(' ')[0])).to.have.members(['QUEUE_URL', 'SERVER_API_KEY', 'REDIS_HOST'])
  })

  const refused: [title: string, env: Record<string, string>, problem: string][] = [
    ['a queue of SQS with a password', { ...sqs, QUEUE_URL: 'https://u:p@sqs.eu-west-1.amazonaws.com/1/q' }, 'must not carry a user'],
    ['an https address of no queue', { ...sqs, QUEUE_URL: 'https://sqs.eu-west-1.amazonaws.com/' }, 'as SQS tells it'],
    ['parameters of a queue of SQS', { ...sqs, QUEUE_URL: `${sqs.QUEUE_URL}?queue=q` }, 'as SQS tells it'],
    ['a queue of SQS without region', { ...sqs, CLOUD_REGION: '' }, 'CLOUD_REGION is not set (Region of the queue; required with a queue'],
    ['a queue of SQS without user', { ...sqs, CLOUD_ACCESS_KEY_ID: '' }, 'CLOUD_ACCESS_KEY_ID is not set'],
    ['a queue of SQS without password', { ...sqs, CLOUD_SECRET_ACCESS_KEY: '' }, 'CLOUD_SECRET_ACCESS_KEY is not set'],
    ['a queue of SQS in another region', { ...sqs, CLOUD_REGION: 'us-east-1' }, 'is us-east-1, and the queue of QUEUE_URL is in eu-west-1'],
    ['a place of SQS that is none', { ...sqs, AWS_ENDPOINT_URL_SQS: 'localhost:4566' }, 'must be a URL that begins with http'],
    ['an error tracker without key', { ERRTRACK_DSN: 'https://errors.example.com/1' }, 'must be an address such as https://<key>@host'],
    [
      'a key of an error tracker that is none',
      { ERRTRACK_DSN: 'https://a-b@errors.example.com/1' },
      'must be an address such as https://<key>@host',
    ],
    [
      'an error tracker without project',
      { ERRTRACK_DSN: 'https://k@errors.example.com/' },
      'must be an address such as https://<key>@host',
    ],
    ['a half switch of error tracking', { DISABLE_ERRTRACK: 'perhaps' }, 'must be TRUE or FALSE'],
    ['an address of something else', { QUEUE_URL: 'amqp://queue' }, 'must be an address such as redis://'],
    ['no address', { QUEUE_URL: 'queue' }, 'must be an address such as redis://'],
    ['an address without a queue', { QUEUE_URL: 'redis://queue:6379/0' }, 'must name the queue'],
    [
      'an unknown parameter of the address',
      { QUEUE_URL: 'redis://queue:6379/0?queue=q&group=g' },
      'unknown parameter: only queue and prefix are known',
    ],
    ['a user of the queue without password', { CLOUD_ACCESS_KEY_ID: 'me' }, 'CLOUD_ACCESS_KEY_ID is set without'],
    ['two passwords of the queue', { QUEUE_URL: 'redis://:a@q?queue=q', CLOUD_SECRET_ACCESS_KEY: 'b' }, 'choose one'],
    ['a user of the cache without password', { REDIS_USER: 'me' }, 'REDIS_USER is set without'],
    ['a URL for a host', { REDIS_HOST: 'redis://cache' }, 'must be the name or address of a host'],
    ['a host with its port', { REDIS_HOST: 'cache:6379' }, 'must be the name or address of a host'],
    ['a negative database', { REDIS_DB: '-1' }, 'must be the number of a Redis database'],
    ['a life of nothing', { KEYS_TTL_IN_SECS: '0' }, 'KEYS_TTL_IN_SECS is 0'],
    ['no message at a time', { BATCH_SIZE: '0' }, 'must be a whole number above 0'],
    ['an API address with a password', { EDGE_API_URL: 'http://u:p@api' }, 'must not carry a user or password'],
  ]
  for (const [title, env, problem] of refused) {
    it(`refuses ${title}`, () => {
      expect(problems({ ...valid, ...env })).to.have.length(1)
      expect(problems({ ...valid, ...env })[0]).to.include(problem)
    })
  }

  it('takes a queue of SQS, at its own address or where the client of SQS is told', () => {
    const config = read({ ...valid, ...sqs })
    const queue = sqsQueue(config.QUEUE_URL as SqsQueueAddress, config)
    expect(queue).to.deep.include({ url: sqs.QUEUE_URL, region: 'eu-west-1', accessKeyId: 'AKIA', endpoint: undefined })
    expect(queue.secretAccessKey.reveal()).to.equal('secret-of-sqs')
    expect(config.QUEUE_URL.queue).to.equal('changes')
    const elsewhere = read({
      ...valid,
      ...sqs,
      QUEUE_URL: 'https://queues.internal/1/q.fifo',
      AWS_ENDPOINT_URL_SQS: 'http://127.0.0.1:4566',
    })
    expect(sqsQueue(elsewhere.QUEUE_URL as SqsQueueAddress, elsewhere).endpoint).to.equal('http://127.0.0.1:4566')
  })

  it('tells errors to nobody unless asked to', () => {
    const { ERRTRACK_DSN, DISABLE_ERRTRACK } = read(valid)
    expect([ERRTRACK_DSN, DISABLE_ERRTRACK]).to.deep.equal([undefined, false])
    const config = read({ ...valid, ERRTRACK_DSN: 'https://publickey@errors.example.com/42', DISABLE_ERRTRACK: '1' })
    expect(config.DISABLE_ERRTRACK).to.equal(true)
    expect(JSON.stringify(config)).not.to.include('publickey')
  })

  it('has no use for a region with a queue in Redis, and takes it', () => {
    expect(problems({ ...valid, CLOUD_REGION: 'eu-west-1' })).to.deep.equal([])
  })

  it('takes a negative life: keys stay', () => {
    expect(read({ ...valid, KEYS_TTL_IN_SECS: '-1' }).KEYS_TTL_IN_SECS).to.equal(-1)
  })
})
