import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants, createServer } from 'node:http2'
import { type AddressInfo, connect as connectSocket, type Socket } from 'node:net'
import { expect } from 'chai'
import { Registry } from '../../../src/platform/metrics.js'
import { Arrivals, mostArrivingBytesOfConnection, mostConnections } from '../../../src/sidecar/grpc/arrivals.js'
import { serviceName } from '../../../src/sidecar/grpc/proto.js'
import { eventually } from '../../support/eventually.js'
import { FakeApi } from './fake-api.js'
import { type RunningSidecar, runSidecar } from './harness.js'

const mebibyte = 1024 * 1024
const headers = (path: string) => ({ ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers' })

describe('requests that do not arrive', () => {
  const sessions: ClientHttp2Session[] = []
  afterEach(() => {
    for (const session of sessions.splice(0)) session.destroy()
  })

  const open = (port: number) => {
    const session = connect(`http://127.0.0.1:${port}`)
    session.on('error', () => undefined)
    sessions.push(session)
    return session
  }
  /** A message of three megabytes of which so much is sent. */
  const begin = (session: ClientHttp2Session, bytes: number, path = `/${serviceName}/ReportEvents`) => {
    const stream = session.request(headers(path))
    stream.on('error', () => undefined)
    const sent = Buffer.alloc(bytes)
    sent.writeUInt32BE(3 * mebibyte, 1)
    stream.write(sent)
    return stream
  }
  const isRefused = (stream: ClientHttp2Stream) => stream.rstCode === constants.NGHTTP2_ENHANCE_YOUR_CALM

  describe('at a sidecar', () => {
    let api: FakeApi
    let sidecar: RunningSidecar

    before(async () => {
      api = await FakeApi.start()
      sidecar = await runSidecar({ SERVER_API_KEY: api.acceptedKey, API_URL: api.url, WS_ENABLED: 'FALSE' })
    })
    after(async () => {
      await sidecar.stop()
      await api.stop()
    })
    const refused = () => sidecar.metric('sidecar_arrivals_refused_total', 'bytes')
    const large = () => ({
      events: Array.from({ length: 1_000 }, (_, n) => ({ customer_id: 'c', event_name: 'e'.repeat(200), idempotency_key: `k${n}` })),
    })

    it('take no more memory than the share of their connection, and nothing from others', async () => {
      const session = open(sidecar.grpcPort)
      const most = mostArrivingBytesOfConnection / (2 * mebibyte)
      const streams = Array.from({ length: most + 4 }, () => begin(session, 2 * mebibyte))
      await eventually('those beyond to be ended', () => streams.filter(isRefused).length >= 4, 20_000)
      expect(streams.filter(isRefused).length).to.be.below(most)
      expect(await refused()).to.equal(streams.filter(isRefused).length)
      // then: others have their calls, large ones too, and so has the connection when it takes back its own
      expect(await sidecar.call('ReportEvents', large(), 20_000)).to.deep.equal({})
      for (const stream of streams) stream.close()
      await sidecar.call('GetBooleanEntitlement', { customer_id: 'c', feature_id: 'sso' }, 20_000)
      const before = await refused()
      const again = begin(session, 2 * mebibyte)
      await sidecar.call('ReportEvents', large(), 20_000)
      expect([isRefused(again), await refused()]).to.deep.equal([false, before])
    })

    it('take no more in all, and who asks for little is answered', async () => {
      const before = await refused()
      const streams = Array.from({ length: 6 }, () => open(sidecar.grpcPort)).flatMap((session) =>
        Array.from({ length: 6 }, () => begin(session, 2 * mebibyte)),
      )
      await eventually('those beyond to be ended', () => streams.filter(isRefused).length >= 4, 30_000)
      expect(await refused()).to.be.above(before)
      await sidecar.call('GetBooleanEntitlement', { customer_id: 'c', feature_id: 'sso' }, 20_000)
    })
  })

  it('come over so many connections, and no more', async () => {
    const metrics = new Registry()
    const arrivals = new Arrivals({ metrics })
    const server = createServer()
    arrivals.watch(server)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const sockets: Socket[] = []
    const reach = () =>
      new Promise<boolean>((resolve) => {
        const socket = connectSocket(port, '127.0.0.1')
        sockets.push(socket)
        socket.on('error', () => resolve(false))
        socket.on('close', () => resolve(false))
        // The server speaks first.
        socket.once('data', () => resolve(true))
      })
    try {
      const reached = await Promise.all(Array.from({ length: mostConnections + 10 }, reach))
      expect(reached.filter(Boolean)).to.have.length(mostConnections)
      expect(await metrics.metrics()).to.match(/sidecar_arrivals_refused_total\{reason="connections"\} 10\n/)
    } finally {
      arrivals.stop()
      for (const socket of sockets) socket.destroy()
      server.close()
    }
  })

  it('are ended after a while, but for what is a conversation', async () => {
    const metrics = new Registry()
    const arrivals = new Arrivals({ metrics, timeoutMs: 300 })
    const server = createServer()
    server.on('stream', (stream) => stream.on('error', () => undefined))
    arrivals.watch(server)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    try {
      const session = open((server.address() as AddressInfo).port)
      const talk = begin(session, 100, '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo')
      const slow = begin(session, 100)
      await eventually('it to be ended', () => slow.rstCode === constants.NGHTTP2_CANCEL)
      expect(talk.closed).to.equal(false)
      expect(await metrics.metrics()).to.match(/sidecar_arrivals_refused_total\{reason="time"\} 1\n/)
    } finally {
      arrivals.stop()
      for (const session of sessions) session.destroy()
      server.close()
    }
  })
})
