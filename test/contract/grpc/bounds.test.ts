import { Client, credentials, type ServiceError } from '@grpc/grpc-js'
import type { ServiceDefinition } from '@grpc/proto-loader'
import { expect } from 'chai'
import { serviceName, sidecarPackage } from '../../../src/sidecar/grpc/proto.js'
import { FakeApi } from './fake-api.js'
import { detailsOf, errorOf, type RunningSidecar, runSidecar } from './harness.js'

const service = sidecarPackage[serviceName] as ServiceDefinition

describe('the bounds of sidecar requests', () => {
  let api: FakeApi
  let sidecar: RunningSidecar
  let client: Client

  before(async () => {
    api = await FakeApi.start()
    sidecar = await runSidecar({ SERVER_API_KEY: api.acceptedKey, API_URL: api.url, WS_ENABLED: 'FALSE' })
    client = new Client(`127.0.0.1:${sidecar.grpcPort}`, credentials.createInsecure())
  })
  after(async () => {
    client.close()
    await sidecar.stop()
    await api.stop()
  })

  /** Sends bytes as they are, and answers the error. */
  const refused = (method: string, bytes: Buffer): Promise<ServiceError> => refusedAt(service[method]!.path, bytes)
  const refusedAt = (path: string, bytes: Buffer): Promise<ServiceError> =>
    errorOf(
      new Promise((resolve, reject) => {
        const options = { deadline: Date.now() + 10_000 }
        client.makeUnaryRequest(
          path,
          (sent: Buffer) => sent,
          (answer) => answer,
          bytes,
          options,
          (error, answer) => (error ? reject(error) : resolve(answer)),
        )
      }),
    )
  /** A field of bytes, its number below 16. */
  const field = (number: number, bytes: Buffer) => Buffer.concat([Buffer.from([(number << 3) | 2, bytes.length]), bytes])
  const text = (number: number, value: string) => field(number, Buffer.from(value))
  const isAlive = () => sidecar.call('GetBooleanEntitlement', { customer_id: 'c', feature_id: 'sso' })

  it('refuse identifiers that are no UTF-8, of which different ones would become one', async () => {
    const asked = api.operations.length
    for (const broken of ['c3', 'ff61', 'eda080', 'f8888080']) {
      const id = Buffer.from(broken, 'hex')
      const error = await refused('GetBooleanEntitlement', Buffer.concat([field(1, id), text(2, 'sso')]))
      expect(error.code, broken).to.equal(3)
      expect(error.details).to.match(/^customer_id contains/)
      expect((await refused('GetBooleanEntitlement', Buffer.concat([text(1, 'c'), field(2, id)]))).code, broken).to.equal(3)
    }
    expect(api.operations.length).to.equal(asked)
  })

  it('refuse identifiers that are too long, in each method', async () => {
    const long = 'x'.repeat(256)
    const requests: Record<string, object> = {
      GetEntitlements: { customer_id: long },
      ReloadEntitlements: { customer_id: 'c', resource_id: long },
      GetEntitlement: { customer_id: 'c', feature_id: long },
      ReportUsage: { customer_id: 'c', feature_id: long, value: 1 },
      ReportUsageBulk: { usages: [{ customer_id: long, feature_id: 'f', value: 1 }] },
    }
    for (const [method, request] of Object.entries(requests))
      expect((await errorOf(sidecar.call(method, request))).code, method).to.equal(3)
    const event = { customer_id: 'c', event_name: 'e', idempotency_key: 'k' }
    for (const name of Object.keys(event)) {
      const error = await errorOf(sidecar.call('ReportEvents', { events: [{ ...event, [name]: long }] }))
      expect(detailsOf(error).violations[0]!.description, name).to.match(new RegExp(`^${name} has .*255`))
    }
  })

  it('refuse lists that are too long without decoding them', async () => {
    const before = process.memoryUsage().heapUsed
    // Two bytes an item: as many as a request may have.
    const empty = Buffer.alloc(4 * 2 ** 20 - 10, Buffer.from([10, 0]))
    for (const [method, list] of [
      ['ReportEvents', 'events'],
      ['ReportUsageBulk', 'usages'],
    ] as const) {
      const error = await refused(method, empty)
      expect([error.code, error.details]).to.deep.equal([3, `${list} has more than 1000 items: send several calls`])
    }
    expect(process.memoryUsage().heapUsed - before).to.be.below(100 * 2 ** 20)
    const values = Array.from({ length: 1_001 }, (_, index) => String(index))
    const many = { customer_id: 'c', feature_id: 'f', options: { requested_values: values } }
    expect((await errorOf(sidecar.call('GetEnumEntitlement', many))).code).to.equal(3)
  })

  it('refuse what has too many fields in it, in each method', async () => {
    // As many empty fields of each number as a request may have.
    for (const method of Object.keys(service))
      for (const number of [1, 6]) {
        const error = await refused(method, Buffer.alloc(4 * 2 ** 20 - 10, Buffer.from([(number << 3) | 2, 0])))
        expect([error.code, error.details], `${method} ${number}`).to.satisfy(
          ([code, details]: [number, string]) => code === 3 && /has more than (3000|256000) fields|has more than 1000 items/.test(details),
        )
      }
    await isAlive()
  }).timeout(60_000)

  it('refuse what is too large for a name of health and reflection', async () => {
    const large = Buffer.alloc(16 * 2 ** 10 + 2, Buffer.from([0x0a, 0]))
    for (const path of ['/grpc.health.v1.Health/Check', '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo'])
      expect((await refusedAt(path, large)).code, path).to.equal(13)
    await isAlive()
  })

  it('take a list that is as long as it may be', async () => {
    const events = Array.from({ length: 1_000 }, (_, index) => ({ customer_id: 'c', event_name: 'e', idempotency_key: `k${index}` }))
    expect(await sidecar.call('ReportEvents', { events })).to.deep.equal({})
  })

  it('refuse a request that is too large', async () => {
    expect((await refused('ReportEvents', Buffer.alloc(4 * 2 ** 20 + 1))).code).to.equal(8)
  })

  it('live on after messages that are none, or nest deeply', async () => {
    const deep = Buffer.alloc(2 ** 20, 0x0b)
    const cut = Buffer.from([10, 0xff, 0xff, 0xff, 0xff, 0x0f])
    for (const method of ['GetBooleanEntitlement', 'ReportEvents', 'ReportUsageBulk', 'ReportUsage'])
      for (const bytes of [deep, cut, Buffer.alloc(1_000, 0xff)]) expect((await refused(method, bytes)).code, method).to.be.oneOf([3, 13])
    await isAlive()
  })
})
