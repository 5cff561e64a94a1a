import { expect } from 'chai'
import { ConfigError, readConfig } from '../../../../src/platform/config.js'
import { externalCacheUrl, sidecarDefinition } from '../../../../src/sidecar/config/config.js'
import { cacheRedisUrl, queueConsumptionDefinition } from '../../../../src/updates/external-cache/config.js'

const read = (env: Record<string, string>) => readConfig(sidecarDefinition.spec, env, sidecarDefinition.check)

describe('sidecar configuration', () => {
  it('needs nothing but a key', () => {
    expect(read({ SERVER_API_KEY: 'server-1' })).to.include({
      PORT: 8443,
      SIDECAR_HTTP_PORT: 8080,
      LOG_LEVEL: 'warn',
      WS_ENABLED: true,
      OFFLINE: false,
    })
  })

  it('needs nothing at all offline', () => {
    expect(read({ OFFLINE: 'TRUE' }).OFFLINE).to.equal(true)
  })

  it('reads flags and log levels in any case', () => {
    for (const yes of ['TRUE', 'true', 'True', '1'])
      expect(read({ OFFLINE: yes, WS_ENABLED: 'False' })).to.include({ OFFLINE: true, WS_ENABLED: false })
    for (const level of ['Info', 'INFO', 'info']) expect(read({ OFFLINE: '1', LOG_LEVEL: level }).LOG_LEVEL).to.equal('info')
    expect(() => read({ OFFLINE: '1', LOG_LEVEL: 'loud' })).to.throw('LOG_LEVEL')
  })

  it('does not show its key, its passwords or the address of its queue', () => {
    const secrets = { SERVER_API_KEY: 'server-secret-1234', REDIS_PASSWORD: 'secret-password-1', REDIS_ENVIRONMENT_PREFIX: 'p' }
    const QUEUE_REDIS_URL = 'redis://user:secret-password@host:6379/0?environment=e'
    expect(JSON.stringify(read({ ...secrets, QUEUE_REDIS_URL }))).to.not.include('secret')
  })

  it('reads the same external cache as the persistent-cache-service writes, encrypted or not', () => {
    const cache = { REDIS_HOST: 'fe80::1', REDIS_PORT: '6380', REDIS_DB: '4', REDIS_PASSWORD: 'a/b' }
    const service = { QUEUE_URL: 'redis://queue:6379/0?queue=q', SERVER_API_KEY: 'server-1' }
    for (const [tls, scheme] of [
      ['TRUE', 'rediss'],
      ['FALSE', 'redis'],
      [undefined, 'redis'],
    ] as const) {
      const env = { ...cache, ...(tls && { REDIS_TLS: tls }) }
      const url = externalCacheUrl(read({ SERVER_API_KEY: 'server-1', REDIS_ENVIRONMENT_PREFIX: 'p', ...env }))
      expect(url).to.equal(`${scheme}://:a%2Fb@[fe80::1]:6380/4`)
      expect(cacheRedisUrl(readConfig(queueConsumptionDefinition.spec, { ...service, ...env }))).to.equal(url)
    }
  })

  it('takes apart where usage is enqueued', () => {
    const { QUEUE_REDIS_URL } = read({ OFFLINE: 'TRUE', QUEUE_REDIS_URL: 'redis://user:secret@host:6379/2?environment=e&prefix={p}' })
    expect(QUEUE_REDIS_URL).to.include({ environmentId: 'e', prefix: '{p}' })
    expect(QUEUE_REDIS_URL?.redisUrl.reveal()).to.equal('redis://user:secret@host:6379/2')
  })

  it('takes the paths with and without a slash', () => {
    expect(read({ OFFLINE: '1', HEALTH_ENDPOINT_URL: '/a/b', READY_ENDPOINT_URL: 'c' })).to.include({
      HEALTH_ENDPOINT_URL: 'a/b',
      READY_ENDPOINT_URL: 'c',
    })
  })

  const invalid: Array<{ title: string; env: Record<string, string>; problems: RegExp[] }> = [
    { title: 'a missing key', env: {}, problems: [/SERVER_API_KEY is not set/] },
    {
      title: 'everything at once',
      env: {
        LOG_LEVEL: 'loud',
        ENTITLEMENTS_FALLBACK: '{',
        OFFLINE: 'maybe',
        PORT: '70000',
        API_URL: 'ftp://x',
        CACHE_MAX_SIZE_BYTES: '-1',
      },
      problems: [/SERVER_API_KEY/, /LOG_LEVEL/, /ENTITLEMENTS_FALLBACK/, /OFFLINE/, /PORT/, /API_URL/, /CACHE_MAX_SIZE_BYTES/],
    },
    { title: 'one port for two servers', env: { OFFLINE: 'TRUE', PORT: '8080' }, problems: [/PORT and SIDECAR_HTTP_PORT/] },
    { title: 'one path for two purposes', env: { OFFLINE: 'TRUE', HEALTH_ENDPOINT_URL: 'metrics' }, problems: [/three paths/] },
    { title: 'a staleness below the refresh', env: { OFFLINE: 'TRUE', MAX_STALENESS_SECS: '10' }, problems: [/MAX_STALENESS_SECS/] },
    {
      title: 'a certificate without its key',
      env: { OFFLINE: 'TRUE', TLS_CERT_FILE: 'cert.pem' },
      problems: [/TLS_CERT_FILE and TLS_KEY_FILE/],
    },
    {
      title: 'an authority for clients without a certificate',
      env: { OFFLINE: 'TRUE', TLS_CLIENT_CA_FILE: 'ca.pem' },
      problems: [/TLS_CLIENT_CA_FILE is set without/],
    },
    {
      title: 'a user of the external cache without a password',
      env: { OFFLINE: 'TRUE', REDIS_ENVIRONMENT_PREFIX: 'p', REDIS_USERNAME: 'u' },
      problems: [/REDIS_USERNAME/],
    },
    {
      title: 'a password of an external cache that is not turned on',
      env: { OFFLINE: 'TRUE', REDIS_PASSWORD: 'x' },
      problems: [/REDIS_ENVIRONMENT_PREFIX, which turns/],
    },
    {
      title: 'keys that live for no time',
      env: { OFFLINE: 'TRUE', REDIS_KEYS_TTL_IN_SECS: '0' },
      problems: [/REDIS_KEYS_TTL_IN_SECS is 0/],
    },
    { title: 'a database that is none', env: { OFFLINE: 'TRUE', REDIS_DB: 'first' }, problems: [/REDIS_DB/] },
    {
      title: 'a cache that is larger than the heap',
      env: { OFFLINE: 'TRUE', CACHE_MAX_SIZE_BYTES: '1000000000000' },
      problems: [/CACHE_MAX_SIZE_BYTES .* of the heap limit/],
    },
    {
      title: 'names that are no names of services',
      env: { OFFLINE: 'TRUE', GRPC_SERVICE_ALIASES: 'a.b.Service, not a name' },
      problems: [/GRPC_SERVICE_ALIASES must be names/],
    },
    {
      title: 'a queue without its environment',
      env: { OFFLINE: 'TRUE', QUEUE_REDIS_URL: 'redis://user:secret@host:6379/0' },
      problems: [/QUEUE_REDIS_URL must name the environment/],
    },
    {
      title: 'a queue with a misspelt parameter',
      env: { OFFLINE: 'TRUE', QUEUE_REDIS_URL: 'redis://host/0?environment=e&prefx=p' },
      problems: [/unknown parameter: only environment and prefix are known/],
    },
    {
      title: 'a WebSocket address that is none',
      env: { OFFLINE: 'TRUE', WS_URL: 'http://x' },
      problems: [/WS_URL must be a URL that begins with ws:/],
    },
  ]
  for (const { title, env, problems } of invalid) {
    it(`refuses ${title}`, () => {
      try {
        read(env)
      } catch (error) {
        expect(error).to.be.instanceOf(ConfigError)
        for (const problem of problems) expect((error as ConfigError).message).to.match(problem)
        expect((error as ConfigError).problems).to.have.length(problems.length)
        return
      }
      throw new Error('expected a refusal')
    })
  }
})
