import { Client, credentials } from '@grpc/grpc-js'
import { loadSync, type ServiceDefinition } from '@grpc/proto-loader'
import { expect } from 'chai'
import { protoPath } from 'grpc-health-check'
import { FakeApi, holding, metered } from '../../contract/grpc/fake-api.js'
import { type RunningSidecar, runSidecar, until } from '../../contract/grpc/harness.js'
import { type FrontDoor, openFrontDoor } from '../web/front-door.js'

const readiness = async (sidecar: RunningSidecar) => {
  const answer = await fetch(`http://127.0.0.1:${sidecar.httpPort}/readyz`)
  return { http: answer.status, body: await answer.json() }
}
const isUp = { http: 200, body: { status: 'UP' } }
const isDown = { http: 503, body: { status: 'DOWN' } }

const { Check } = loadSync(protoPath, { keepCase: true, enums: String })['grpc.health.v1.Health'] as ServiceDefinition
async function health({ grpcPort }: RunningSidecar): Promise<unknown> {
  const client = new Client(`127.0.0.1:${grpcPort}`, credentials.createInsecure())
  try {
    return await new Promise((resolve, reject) =>
      client.makeUnaryRequest(Check!.path, Check!.requestSerialize, Check!.responseDeserialize, { service: '' }, (error, value) =>
        error ? reject(error) : resolve((value as { status: unknown }).status),
      ),
    )
  } finally {
    client.close()
  }
}

describe('the key of a sidecar', () => {
  let api: FakeApi
  const sidecars: RunningSidecar[] = []
  const start = async (env: Record<string, string> = {}) => {
    const sidecar = await runSidecar({ SERVER_API_KEY: api.acceptedKey, API_URL: api.url, WS_ENABLED: 'FALSE', ...env })
    sidecars.push(sidecar)
    return sidecar
  }
  beforeEach(async () => {
    api = await FakeApi.start()
    api.states.set('acme', holding(metered('api-calls')))
  })
  afterEach(async () => {
    for (const sidecar of sidecars.splice(0)) await sidecar.stop()
    await api.stop()
  })
  const check = (sidecar: RunningSidecar, customer_id = 'acme') =>
    sidecar.call('GetMeteredEntitlement', { customer_id, feature_id: 'api-calls' })

  it('is asked about before the sidecar is ready, and nothing is told but that it is', async () => {
    const sidecar = await start()
    expect(await readiness(sidecar)).to.deep.equal(isUp)
    expect(await health(sidecar)).to.equal('SERVING')
    expect(await sidecar.metric('tollgate_api_key_refused')).to.equal(0)
  })

  it('keeps the sidecar from being ready while it is refused, and not a moment longer', async () => {
    const key = api.acceptedKey
    api.acceptedKey = 'server-another-key'
    const sidecar = await start({ SERVER_API_KEY: key })
    expect(await readiness(sidecar)).to.deep.equal(isDown)
    expect(await health(sidecar)).to.equal('NOT_SERVING')
    expect(await sidecar.metric('tollgate_api_key_refused')).to.equal(1)
    // Checks go on to be answered.
    expect(await check(sidecar)).to.include({ is_fallback: true })
    api.acceptedKey = key
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    expect(await check(sidecar, 'other')).to.include({ is_fallback: false })
    await until(async () => (await readiness(sidecar)).http === 200, 'the key is taken')
    expect(await health(sidecar)).to.equal('SERVING')
  }).timeout(5_000)

  for (const [what, env] of [
    ['a call', {}],
    ['the real-time connection', { WS_ENABLED: 'TRUE' }],
  ] as [string, Record<string, string>][])
    it(`that is revoked is told by the metric as soon as ${what} finds out, and what is cached is answered`, async () => {
      const sidecar = await start(env)
      expect(await readiness(sidecar)).to.deep.equal(isUp)
      expect(await check(sidecar)).to.include({ has_access: true, is_fallback: false })
      if (env.WS_ENABLED) await until(async () => (await sidecar.metric('sidecar_real_time_connected')) === 1, 'the connection is there')
      await new Promise((resolve) => setTimeout(resolve, 1_000))
      api.acceptedKey = 'server-another-key'
      if (env.WS_ENABLED) api.dropConnections()
      else await check(sidecar, 'other')
      await until(async () => (await sidecar.metric('tollgate_api_key_refused')) === 1, 'the refusal is told', 5_000)
      expect(await readiness(sidecar)).to.deep.equal(isUp)
      expect(await check(sidecar)).to.include({ has_access: true, is_fallback: false })
    }).timeout(20_000)

  it('is not asked about offline, and an API that is away does not keep the sidecar from being ready', async () => {
    expect(await readiness(await start({ OFFLINE: 'TRUE' }))).to.deep.equal(isUp)
    expect(api.connections).to.equal(0)
    expect(await readiness(await start({ API_URL: 'http://127.0.0.1:9' }))).to.deep.equal(isUp)
    api.behaviour = { status: 503 }
    expect(await readiness(await start())).to.deep.equal(isUp)
  })
})

describe('the key of a sidecar, as the front door takes it', () => {
  let door: FrontDoor
  before(async function () {
    this.timeout(20_000)
    door = await openFrontDoor()
  })
  after(async () => expect(await door.close()).to.deep.equal([]))

  const queue = (environmentId: string) => ({ QUEUE_REDIS_URL: `redis://127.0.0.1:1/0?environment=${environmentId}` })
  const table: [string, (door: FrontDoor) => Record<string, string>, object][] = [
    ['a server key', ({ serverKey }) => ({ SERVER_API_KEY: serverKey }), isUp],
    ['a client key', ({ clientKey }) => ({ SERVER_API_KEY: clientKey }), isDown],
    ['an unknown key', () => ({ SERVER_API_KEY: 'server-00000000000000000000000000000000' }), isDown],
    ['nonsense', () => ({ SERVER_API_KEY: 'x' }), isDown],
    ['a queue of the environment', ({ serverKey, environmentId }) => ({ SERVER_API_KEY: serverKey, ...queue(environmentId) }), isUp],
    ['a queue of another environment', ({ serverKey }) => ({ SERVER_API_KEY: serverKey, ...queue('another "one') }), isDown],
  ]
  for (const [what, env, expected] of table)
    it(`${what} makes it ${expected === isUp ? 'ready' : 'not ready'}`, async () => {
      const sidecar = await runSidecar({ API_URL: door.url, WS_ENABLED: 'FALSE', ...env(door) })
      try {
        expect(await readiness(sidecar)).to.deep.equal(expected)
      } finally {
        await sidecar.stop()
      }
    })
})
