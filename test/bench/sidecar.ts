import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, credentials, Metadata } from '@grpc/grpc-js'
import type { ServiceDefinition } from '@grpc/proto-loader'
import { Problem } from '../../src/kernel/problem.js'
import { serviceName, sidecarPackage } from '../../src/sidecar/proto.js'
import { boolean, enumerated, FakeApi, holding, metered, numeric } from '../contract/grpc/fake-api.js'
import type { Benchmark, BenchmarkContext } from './benchmark.js'
import { compare, type Sample } from './compare.js'
import { connections, type GrpcTarget, loadFully, loadPaced, requireH2load, streams } from './h2load.js'
import { ServerProcess } from './server-process.js'

const definition = (sidecarPackage[serviceName] as ServiceDefinition).GetMeteredEntitlement!
const customerId = 'customer-1'
const featureId = 'feature-10'
const request = { customer_id: customerId, feature_id: featureId, options: { requested_usage: 1 } }

/** Twenty of all types; the one that is asked for is in the middle. */
const entitlements = holding(
  ...Array.from({ length: 20 }, (_, index) => {
    const id = `feature-${index}`
    if (index % 4 === 1) return boolean(id)
    if (index % 4 === 3) return index % 8 === 3 ? numeric(id, 25) : enumerated(id, ['small', 'large'])
    return metered(id, { usageLimit: 1_000, currentUsage: 120 })
  }),
)

/** Short ones: the sooner the other side runs, the likelier under the same conditions. */
const rounds = 16
/** Of a side's time in a round, what goes to calls as fast as they are answered; the rest is for paced ones. */
const fullShare = 0.7
/** Of the whole time, for warming up. */
const warmUpShare = 0.1
/** Calls per second and connection that h2load makes of a script with one per millisecond: its timer adds to each. */
const pacedPerConnection = 700

type Measure = 'rate' | 'cpu' | 'p50' | 'p99'

/** A warm check of the real sidecar process against the barest server that answers the same. */
export const sidecar: Benchmark = {
  name: 'sidecar',
  about: `GetMeteredEntitlement from the sidecar's cache; reference: a bare @grpc/grpc-js server with the same messages`,
  async run({ seconds, life, note }) {
    await requireH2load()
    const folder = life.open('folder', await mkdtemp(join(tmpdir(), 'tollgate-bench-')), (path) => rm(path, { recursive: true }))
    const requestFile = join(folder, 'request.bin')
    await writeFile(requestFile, frame(definition.requestSerialize(request)))

    const subject = await startSidecar(life)
    const answer = await callOnce(subject)
    const reference = await startReference(life, answer)
    if (!answer.equals(await callOnce(reference))) throw wrong('The reference answers other bytes than the sidecar')

    const target = ({ ports }: ServerProcess): GrpcTarget => ({
      url: `http://127.0.0.1:${ports.grpcPort}${definition.path}`,
      requestFile,
      answerBytes: frame(answer).length,
    })
    const hitsBefore = await countedHits(subject)
    let sent = 0
    const full = (server: ServerProcess, calls: number) => {
      if (server === subject) sent += calls
      return loadFully(target(server), calls)
    }
    const sideSeconds = (seconds * (1 - warmUpShare)) / rounds / 2
    const pacedCalls = Math.ceil(sideSeconds * (1 - fullShare) * pacedPerConnection)
    const paced = (server: ServerProcess) => {
      if (server === subject) sent += pacedCalls * connections
      return loadPaced(target(server), pacedCalls, folder)
    }

    /** Answers what the server does in the time of a round. */
    const warmUp = async (server: ServerProcess): Promise<number> => {
      const first = await full(server, 2_000)
      const warm = await full(server, Math.ceil(first * seconds * (warmUpShare / 2)))
      return Math.ceil(warm * sideSeconds * fullShare)
    }
    const side = (server: ServerProcess, calls: number) => async (): Promise<Sample<Measure>> => {
      const cpuBefore = await server.cpuMicroseconds()
      const rate = await full(server, calls)
      const cpu = ((await server.cpuMicroseconds()) - cpuBefore) / calls
      return { rate, cpu, ...(await paced(server)) }
    }
    const calls = { subject: await warmUp(subject), reference: await warmUp(reference) }
    note(`${connections} connections x ${streams} streams; answers of ${answer.length} bytes; up to ${rounds} rounds`)

    const comparisons = await compare({
      subject: side(subject, calls.subject),
      reference: side(reference, calls.reference),
      measures: {
        rate: { name: 'sidecar', unit: 'calls/s' },
        cpu: { name: 'sidecar-cpu', unit: 'µs of CPU/call' },
        p50: { name: 'sidecar-p50', unit: 'µs' },
        p99: { name: 'sidecar-p99', unit: 'µs' },
      },
      rounds,
      seconds: seconds * (1 - warmUpShare),
      onRound: (round, { rate }, { rate: bare }) => note(`round ${round}: ${Math.round(rate)} and ${Math.round(bare)} calls/s`),
    })
    const hits = (await countedHits(subject)) - hitsBefore
    if (hits !== sent) throw wrong(`${sent} calls were made, but the sidecar answered ${hits} from its cache`)
    return comparisons
  },
}

async function startSidecar(life: BenchmarkContext['life']): Promise<ServerProcess> {
  const api = life.open('API', await FakeApi.start(), (a) => a.stop())
  api.states.set(customerId, entitlements)
  const env = {
    SERVER_API_KEY: api.acceptedKey,
    API_URL: api.url,
    // Nothing changes here, and nobody vouches for the entry: it has to stay fresh by itself.
    WS_ENABLED: 'FALSE',
    REFRESH_AFTER_SECS: '86400',
    BIND_ADDRESS: '127.0.0.1',
    PORT: '0',
    SIDECAR_HTTP_PORT: '0',
    // For the line that tells the ports.
    LOG_LEVEL: 'info',
  }
  return life.open('sidecar', await ServerProcess.start('sidecar', '../../src/sidecar/main.js', { env }), (server) => server.stop())
}

async function startReference(life: BenchmarkContext['life'], answer: Buffer): Promise<ServerProcess> {
  const args = [answer.toString('base64')]
  return life.open('reference', await ServerProcess.start('reference', './sidecar-reference.js', { args }), (server) => server.stop())
}

/** Makes the call as a client does and answers the message's bytes, after a look at what they say. */
async function callOnce({ name, ports }: ServerProcess): Promise<Buffer> {
  const client = new Client(`127.0.0.1:${ports.grpcPort}`, credentials.createInsecure())
  try {
    const bytes = await new Promise<Buffer>((resolve, reject) => {
      const asBytes = (message: Buffer) => message
      const options = { deadline: Date.now() + 5_000 }
      client.makeUnaryRequest(definition.path, definition.requestSerialize, asBytes, request, new Metadata(), options, (error, message) => {
        if (message === undefined) reject(error)
        else resolve(message)
      })
    })
    const answer = definition.responseDeserialize(bytes) as { has_access: boolean; is_fallback: boolean; entitlement?: object }
    if (!answer.has_access || answer.is_fallback || !answer.entitlement) throw wrong(`The ${name} answers ${JSON.stringify(answer)}`)
    return bytes
  } finally {
    client.close()
  }
}

/** Checks that the sidecar answered from its cache, fresh. */
async function countedHits({ ports }: ServerProcess): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${ports.httpPort}/metrics`)).text()
  const value = /^sidecar_cache_lookups_total\{.*outcome="hit".*\} (\d+)$/m.exec(text)?.[1]
  if (value === undefined) throw wrong('The sidecar does not count its cache look-ups')
  return Number(value)
}

/** A message as it goes over the wire: not compressed, and its length. */
function frame(message: Buffer): Buffer {
  const head = Buffer.alloc(5)
  head.writeUInt32BE(message.length, 1)
  return Buffer.concat([head, message])
}

const wrong = (message: string) => new Problem('ABORTED', 'WRONG_ANSWERS', message)
