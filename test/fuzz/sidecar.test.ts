import { once } from 'node:events'
import { connect } from 'node:http2'
import { connect as connectTcp } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ServiceDefinition } from '@grpc/proto-loader'
import { expect } from 'chai'
import fc from 'fast-check'
import { serviceName, sidecarPackage } from '../../src/sidecar/grpc/proto.js'
import { boolean, FakeApi, holding, metered } from '../contract/grpc/fake-api.js'
import { type RunningSidecar, runSidecar } from '../contract/grpc/harness.js'
import { holds, timeoutOf } from './fuzz.js'
import { json, nearlyBytes, text } from './values.js'
import { expectNothingInternal, expectQuiet, soon, watchedLog } from './watch.js'

const methods = Object.values(sidecarPackage[serviceName] as ServiceDefinition)
const ofProtocol = /^(?:Error deserializing request|Received message .*|.*compress.*|.*message.*end.*|.*half-close.*|Invalid .*)$/i
const { INTERNAL, UNKNOWN } = { INTERNAL: '13', UNKNOWN: '2' }

/** A number of Protocol Buffers. */
function varint(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  for (; rest >= 0x80; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80)
  return Buffer.from([...bytes, rest])
}

/** A field of whatever number and kind with whatever in it. */
const field: fc.Arbitrary<Buffer> = fc
  .record({
    number: fc.oneof(
      { arbitrary: fc.integer({ min: 1, max: 12 }), weight: 8 },
      { arbitrary: fc.constantFrom(0, 15, 16, 2_047, 536_870_911), weight: 1 },
    ),
    wire: fc.constantFrom(0, 0, 1, 2, 2, 2, 2, 3, 4, 5, 6, 7),
    value: fc.oneof(fc.nat(), fc.constantFrom(0, 1, 2 ** 31, 2 ** 32, 2 ** 53)),
    bytes: fc.oneof(
      text.map((value) => Buffer.from(value)),
      fc.uint8Array({ maxLength: 20 }).map((value) => Buffer.from(value)),
      json.map((value) => Buffer.from(JSON.stringify(value))),
    ),
  })
  .map(({ number, wire, value, bytes }) => {
    const tag = varint(number * 8 + wire)
    if (wire === 2) return Buffer.concat([tag, varint(bytes.length), bytes])
    if (wire === 0) return Buffer.concat([tag, varint(value)])
    return Buffer.concat([tag, Buffer.alloc(wire === 1 ? 8 : wire === 5 ? 4 : 0, bytes.length === 0 ? 0xff : bytes)])
  })
const fields = fc.array(field, { maxLength: 6 }).map((all) => Buffer.concat(all))
/** Messages within messages, as lists of reports and dimensions are. */
const nestedFields = fc
  .array(fc.record({ number: fc.integer({ min: 1, max: 8 }), inner: fields }), { minLength: 1, maxLength: 4 })
  .map((all) => Buffer.concat(all.map(({ number, inner }) => Buffer.concat([varint(number * 8 + 2), varint(inner.length), inner]))))

const seeds: Record<string, object> = {
  GetEntitlements: { customer_id: 'c' },
  ReportUsage: { customer_id: 'c', feature_id: 'api-calls', value: 1 },
  ReportUsageBulk: { usages: [{ customer_id: 'c', feature_id: 'api-calls', value: 1 }] },
  ReportEvents: { events: [{ customer_id: 'c', event_name: 'e', idempotency_key: 'k', dimensions: {} }] },
}
const good = fc
  .constantFrom(...methods)
  .map(({ path, requestSerialize }) =>
    Buffer.from(requestSerialize(seeds[path.split('/').at(-1)!] ?? { customer_id: 'c', feature_id: 'api-calls' })),
  )

const message = fc.oneof(fields, nestedFields, nearlyBytes(good), fc.uint8Array({ maxLength: 200 }).map(Buffer.from))

/** The five bytes of gRPC's frame, with a flag and a length that need not be right. */
const frame = fc
  .record({
    message,
    flag: fc.oneof({ arbitrary: fc.constant(0), weight: 6 }, { arbitrary: fc.nat({ max: 255 }), weight: 1 }),
    length: fc.oneof(
      { arbitrary: fc.constant(null), weight: 6 },
      { arbitrary: fc.constantFrom(0, 1, 7, 5_000_000, 2 ** 32 - 1), weight: 1 },
    ),
  })
  .map((it) => {
    const head = Buffer.alloc(5)
    head[0] = it.flag
    head.writeUInt32BE(it.length ?? it.message.length, 1)
    return Buffer.concat([head, it.message])
  })
const sent = fc.record({
  path: fc.oneof(
    { arbitrary: fc.constantFrom(...methods.map(({ path }) => path)), weight: 12 },
    {
      arbitrary: fc.constantFrom('/', '/x', '/grpc.health.v1.Health/Check', '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo'),
      weight: 2,
    },
  ),
  frames: fc.oneof(
    { arbitrary: fc.array(frame, { minLength: 1, maxLength: 1 }), weight: 6 },
    { arbitrary: fc.array(frame, { maxLength: 3 }), weight: 1 },
  ),
  cut: fc.oneof({ arbitrary: fc.constant(0), weight: 5 }, { arbitrary: fc.nat({ max: 20 }), weight: 1 }),
  headers: fc.oneof(
    { arbitrary: fc.constant({}), weight: 6 },
    {
      arbitrary: fc.constantFrom<Record<string, string>>(
        { 'grpc-timeout': 'x' },
        { 'grpc-timeout': '99999999H' },
        { 'grpc-timeout': '0n' },
        { 'grpc-encoding': 'gzip' },
        { 'grpc-encoding': 'deflate' },
        { 'grpc-encoding': 'nobody-knows' },
        { 'content-type': 'application/json' },
        { 'x-bin': '!!!' },
      ),
      weight: 1,
    },
  ),
})

describe('calls of a sidecar that nobody should make', () => {
  const { log, lines } = watchedLog()
  let api: FakeApi
  let sidecar: RunningSidecar

  before(async () => {
    api = await FakeApi.start()
    api.states.set('c', holding(metered('api-calls'), boolean('sso')))
    sidecar = await runSidecar({ SERVER_API_KEY: api.acceptedKey, API_URL: api.url }, log)
  })
  afterEach(async () => {
    expect(await sidecar.call('GetMeteredEntitlement', { customer_id: 'c', feature_id: 'api-calls' })).to.deep.include({ has_access: true })
    expectQuiet(lines, 'all of them')
  })
  after(async () => {
    await sidecar.stop()
    await api.stop()
  })

  it('are answered with a status of the caller’s', async () => {
    let session = connect(`http://127.0.0.1:${sidecar.grpcPort}`)
    try {
      await holds(150, sent, async ({ path, frames, cut, headers }) => {
        if (session.closed || session.destroyed) session = connect(`http://127.0.0.1:${sidecar.grpcPort}`)
        if (session.listenerCount('error') === 0) session.on('error', () => undefined)
        const stream = session.request({
          ':method': 'POST',
          ':path': path,
          'content-type': 'application/grpc',
          te: 'trailers',
          ...headers,
        })
        const said: Record<string, unknown> = {}
        const hear = (heard: object) => void Object.assign(said, heard)
        stream
          .on('response', hear)
          .on('trailers', hear)
          .on('error', () => undefined)
          .resume()
        const bytes = Buffer.concat(frames)
        stream.end(bytes.subarray(0, bytes.length - Math.min(cut, bytes.length)))
        const about = `${path} ${bytes.toString('base64')} cut ${cut} ${JSON.stringify(headers)}`
        if (!stream.closed) await soon(about, once(stream, 'close'))
        const detail = decodeURIComponent(String(said['grpc-message'] ?? ''))
        expectNothingInternal(detail.replaceAll(/"(?:[^"\\]|\\.)*"/g, ''), `${about}\n${detail}`)
        // What gRPC itself says of a frame or a message that is none is INTERNAL in every language.
        if (!ofProtocol.test(detail)) expect(said['grpc-status'], `${about}\n${detail}`).to.not.be.oneOf([UNKNOWN, INTERNAL])
        expectQuiet(lines, about)
      })
    } finally {
      session.close()
    }
  }).timeout(timeoutOf(150))

  it('that are no HTTP/2 are hung up on', async () => {
    const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
    const settings = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0])
    const frames = fc
      .array(
        fc.record({
          type: fc.nat({ max: 12 }),
          flags: fc.nat({ max: 255 }),
          stream: fc.constantFrom(0, 1, 2, 3, 2 ** 31 - 1),
          payload: fc.uint8Array({ maxLength: 30 }),
        }),
        { maxLength: 5 },
      )
      .map((all) =>
        Buffer.concat(
          all.map(({ type, flags, stream, payload }) => {
            const head = Buffer.alloc(9)
            head.writeUIntBE(payload.length, 0, 3)
            head[3] = type
            head[4] = flags
            head.writeUInt32BE(stream, 5)
            return Buffer.concat([head, payload])
          }),
        ),
      )
    const streams = fc.oneof(
      fc.uint8Array({ maxLength: 300 }).map(Buffer.from),
      frames.map((all) => Buffer.concat([preface, settings, all])),
      text.map((path) => Buffer.from(`GET /${path} HTTP/1.1\r\nhost: t\r\n\r\n`)),
    )
    await holds(60, streams, async (bytes) => {
      const socket = connectTcp({ port: sidecar.grpcPort, host: '127.0.0.1' })
      socket.on('error', () => undefined).resume()
      const closed = once(socket, 'close')
      socket.write(bytes)
      // What is right so far waits for more, until its client goes.
      await Promise.race([closed, sleep(50)])
      socket.destroy()
      await soon(bytes.toString('base64'), closed)
      expectQuiet(lines, bytes.toString('base64'))
    })
  }).timeout(timeoutOf(60))

  it('to the port of its health are answered or refused', async () => {
    await holds(60, text, async (path) => {
      const socket = connectTcp({ port: sidecar.httpPort, host: '127.0.0.1' })
      let said = ''
      socket.on('error', () => undefined).on('data', (chunk) => (said += chunk))
      socket.end(`GET /${path} HTTP/1.1\r\nhost: t\r\nconnection: close\r\n\r\n`)
      await soon(path, once(socket, 'close'))
      expect(said).to.not.match(/^HTTP\/1.1 5/)
      expectNothingInternal(said.slice(0, 2_000).split('\r\n\r\n')[0]!, path)
    })
  }).timeout(timeoutOf(60))
})
