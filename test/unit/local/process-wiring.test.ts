import { expect } from 'chai'
import { healthUrl, processEnvironment, stageOf, type Wiring } from '../../../src/local/process-wiring.js'

const wiring: Wiring = {
  databaseUrl: 'postgresql://postgres@127.0.0.1:5001/tollgate',
  redisUrl: 'redis://127.0.0.1:5002',
  environmentId: 'e1',
  serverApiKey: 'server-key',
  operatorKey: 'operator-key',
  secretsKey: 'secrets-key',
  ports: { web: 4000, sidecar: 8443, 'usage-ingestion': 4101, 'queue-consumption': 4105, 'webhook-delivery': 4107 },
  sidecarHttpPort: 8080,
  webMetricsPort: 4100,
  bindAddress: '127.0.0.1',
}

describe('local/process-wiring', () => {
  it('gives the web process its stores, its keys and a query editor', () => {
    expect(processEnvironment('web', wiring, {})).to.deep.equal({
      LOG_LEVEL: 'info',
      BIND_ADDRESS: '127.0.0.1',
      PORT: '4000',
      GRAPHIQL: 'true',
      GRAPHIQL_KEY: 'server-key',
      SIDECAR_ADDRESS: '127.0.0.1:8443',
      DATABASE_URL: wiring.databaseUrl,
      REDIS_URL: wiring.redisUrl,
      OPERATOR_KEY: 'operator-key',
      SECRETS_KEY: 'secrets-key',
      WEBHOOK_TARGETS: 'loopback',
      METRICS_PORT: '4100',
    })
  })

  it('leads the sidecar to the web process', () => {
    expect(processEnvironment('sidecar', wiring, {})).to.include({
      PORT: '8443',
      SIDECAR_HTTP_PORT: '8080',
      API_URL: 'http://127.0.0.1:4000',
      WS_URL: 'ws://127.0.0.1:4000/graphql',
      WS_ENABLED: 'TRUE',
      SERVER_API_KEY: 'server-key',
    })
  })

  it('leads queue consumption to the queue of the environment and to an external cache apart from it', () => {
    expect(processEnvironment('queue-consumption', wiring, {})).to.include({
      QUEUE_URL: 'redis://127.0.0.1:5002/0?queue=environment-e1&prefix={tollgate}',
      EDGE_API_URL: 'http://127.0.0.1:4000',
      REDIS_HOST: '127.0.0.1',
      REDIS_PORT: '5002',
      REDIS_DB: '1',
    })
  })

  it('keeps the credentials, the database and the encryption of a Redis that was given', () => {
    const given = { ...wiring, redisUrl: 'rediss://user:p%40ss@redis.example:6380/3' }
    expect(processEnvironment('queue-consumption', given, {})).to.include({
      QUEUE_URL: 'rediss://user:p%40ss@redis.example:6380/3?queue=environment-e1&prefix={tollgate}',
      REDIS_HOST: 'redis.example',
      REDIS_PORT: '6380',
      REDIS_USER: 'user',
      REDIS_PASSWORD: 'p@ss',
      REDIS_TLS: 'true',
    })
  })

  it('keeps what sentinels ask for', () => {
    const redisUrl = 'rediss+sentinel://user:p%40ss@s1:26379,s2:26379/main?sentinel_password=w%26x'
    for (const [url, database] of [
      [redisUrl, '0'],
      [redisUrl.replace('/main', '/main/2'), '2'],
    ] as const)
      expect(processEnvironment('queue-consumption', { ...wiring, redisUrl: url }, {})).to.include({
        QUEUE_URL: `rediss+sentinel://user:p%40ss@s1:26379,s2:26379/main/${database}?sentinel_password=w%26x&queue=environment-e1&prefix={tollgate}`,
        REDIS_HOST: 'redis+sentinel://s1:26379,s2:26379/main',
        REDIS_SENTINEL_PASSWORD: 'w&x',
        REDIS_TLS: 'true',
      })
  })

  it('lets the user choose preferences, but not what makes the processes find each other', () => {
    const user = {
      LOG_LEVEL: 'debug',
      GRAPHIQL: 'false',
      PORT: '9999',
      DATABASE_URL: 'postgresql://elsewhere/x',
      API_URL: 'http://elsewhere',
    }
    expect(processEnvironment('web', wiring, user)).to.include({
      LOG_LEVEL: 'debug',
      GRAPHIQL: 'false',
      PORT: '4000',
      DATABASE_URL: wiring.databaseUrl,
    })
    expect(processEnvironment('sidecar', wiring, user)).to.include({ API_URL: 'http://127.0.0.1:4000' })
  })

  it('gives a process type it does not know the stores and a port', () => {
    const later = { ...wiring, ports: { ...wiring.ports, 'webhook-delivery': 4106 } }
    expect(processEnvironment('webhook-delivery', later, {})).to.include({
      PORT: '4106',
      DATABASE_URL: wiring.databaseUrl,
      REDIS_URL: wiring.redisUrl,
    })
  })

  it('asks the sidecar for its health beside its gRPC port, and everyone at an address that exists', () => {
    expect(healthUrl('sidecar', wiring)).to.equal('http://127.0.0.1:8080')
    expect(healthUrl('web', { ...wiring, bindAddress: '0.0.0.0' })).to.equal('http://127.0.0.1:4000')
    expect(healthUrl('web', { ...wiring, bindAddress: '10.0.0.7' })).to.equal('http://10.0.0.7:4000')
  })

  it('stops doors before workers', () => {
    expect(['web', 'sidecar', 'usage-ingestion', 'queue-consumption'].map(stageOf)).to.deep.equal(['door', 'door', 'worker', 'worker'])
  })
})
