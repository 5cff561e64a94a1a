import { type ClientHttp2Session, connect } from 'node:http2'
import { FakeApi } from '../contract/grpc/fake-api.js'
import { compare, type Sample } from './figures/compare.js'
import type { Benchmark } from './harness/benchmark.js'
import { connections, streams } from './load/grpc-load.js'
import { countedHits, definitionOf, entitlementsOf, frame, metricOf, startSidecar, wrong } from './sidecar-calls.js'
import type { ServerProcess } from './stack/server-process.js'

const many = 100_000
const few = 100
const rounds = 12
const callsPerSide = 20_000
const call = { method: 'GetMeteredEntitlement', request: {} } as const
const definition = definitionOf(call)

type Measure = 'cpu' | 'rate'

/**
 * Whether a large cache is as fast as a small one. Each call is about a customer chosen at random, which h2load can't do; the calls are made from
 * here, over bare HTTP/2, and the server's CPU per call is what counts.
 */
export const sidecarMany: Benchmark = {
  name: 'sidecar-many',
  about: `GetMeteredEntitlement for ${many.toLocaleString('en')} customers with 20 entitlements each; reference: the same with ${few} customers`,
  async run({ seconds, life, note }) {
    const api = life.open('API', await FakeApi.start(), (a) => a.stop())
    const nodeArgs = ['--expose-gc']
    const subject = await startSidecar(life, api, { nodeArgs, env: { CACHE_MAX_SIZE_BYTES: String(512 * 1024 * 1024) } })
    const reference = await startSidecar(life, api, { nodeArgs })
    const heapBefore = await subject.heapBytes()
    for (const [server, customers] of [
      [subject, many],
      [reference, few],
    ] as const) {
      const beganAt = performance.now()
      await fill(server, api, customers)
      const cached = await metricOf(server, 'sidecar_cache_entries')
      if (cached !== customers) throw wrong(`${cached} of ${customers} customers are cached`)
      note(`${customers.toLocaleString('en')} customers cached in ${Math.round((performance.now() - beganAt) / 1_000)} s`)
    }
    const bytes = Math.round(((await subject.heapBytes()) - heapBefore) / many)
    const counted = Math.round((await metricOf(subject, 'sidecar_cache_bytes')) / many)
    note(`${bytes} bytes of heap per customer, counted as ${counted}; ${subject.residentMegabytes()} MB resident`)

    const customersOf = (server: ServerProcess) => (server === subject ? many : few)
    const side = (server: ServerProcess, calls: number) => async (): Promise<Sample<Measure>> => {
      const [cpuBefore, hitsBefore] = [await server.cpuMicroseconds(), await countedHits(server)]
      const beganAt = performance.now()
      await load(server, calls, () => questionAbout(Math.floor(Math.random() * customersOf(server))))
      const rate = (calls / (performance.now() - beganAt)) * 1_000
      const cpu = ((await server.cpuMicroseconds()) - cpuBefore) / calls
      if ((await countedHits(server)) - hitsBefore !== calls) throw wrong('Not all calls were answered from the cache')
      return { cpu, rate }
    }
    for (const server of [subject, reference]) await side(server, callsPerSide)()
    const comparisons = await compare({
      subject: side(subject, callsPerSide),
      reference: side(reference, callsPerSide),
      measures: { cpu: { name: 'sidecar-many-cpu', unit: 'µs of CPU/call' }, rate: { name: 'sidecar-many', unit: 'calls/s' } },
      rounds,
      seconds,
      onRound: (round, { cpu }, { cpu: ofFew }) => note(`round ${round}: ${cpu.toFixed(1)} and ${ofFew.toFixed(1)} µs`),
    })
    const memory = {
      name: 'sidecar-many-memory',
      subject: bytes,
      reference: 2_048,
      ratio: bytes / 2_048,
      unit: 'bytes/customer',
      spread: 0,
    }
    return [...comparisons, memory]
  },
}

const idOf = (index: number) => `customer-${index}`
const questionAbout = (index: number) =>
  frame(definition.requestSerialize({ customer_id: idOf(index), feature_id: 'feature-10', options: { requested_usage: 1 } }))

/** Asks for each customer once: the sidecar reads it from the API. Half of them have one plan, half another. */
async function fill(server: ServerProcess, api: FakeApi, customers: number): Promise<void> {
  let next = 0
  await load(server, customers, () => {
    const index = next++
    api.states.set(idOf(index), entitlementsOf(1 + (index % 2), index % 900))
    return questionAbout(index)
  })
  api.states.clear()
}

/** Makes so many calls, each with a question of its own; fails when one gets another status than OK. */
async function load({ ports }: ServerProcess, calls: number, question: () => Buffer): Promise<void> {
  const sessions = Array.from({ length: connections }, () => connect(`http://127.0.0.1:${ports.grpcPort}`))
  let left = calls
  const loop = async (session: ClientHttp2Session) => {
    while (left-- > 0) await ask(session, question())
  }
  try {
    await Promise.all(sessions.flatMap((session) => Array.from({ length: streams }, () => loop(session))))
  } finally {
    for (const session of sessions) session.close()
  }
}

function ask(session: ClientHttp2Session, question: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    const stream = session.request({
      ':method': 'POST',
      ':path': definition.path,
      'content-type': 'application/grpc',
      te: 'trailers',
    })
    let status: unknown
    let bytes = 0
    stream.on('trailers', (trailers) => {
      status = trailers['grpc-status']
    })
    stream.on('data', (chunk: Buffer) => {
      bytes += chunk.length
    })
    stream.on('error', reject)
    stream.on('close', () => (status === '0' && bytes > 5 ? resolve() : reject(wrong(`a call ended with the status ${String(status)}`))))
    stream.end(question)
  })
}
