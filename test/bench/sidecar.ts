import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Program } from '../../src/local/programs/debian-package.js'
import { FakeApi } from '../contract/grpc/fake-api.js'
import { type Comparison, compare, type Sample } from './figures/compare.js'
import type { Benchmark, BenchmarkContext } from './harness/benchmark.js'
import { connections, type GrpcTarget, loadFully, loadPaced, streams } from './load/grpc-load.js'
import {
  type BenchmarkedCall,
  callOnce,
  calls,
  countedHits,
  customerId,
  definitionOf,
  entitlementsOf,
  frame,
  startReference,
  startSidecar,
  wrong,
} from './sidecar-calls.js'
import type { ServerProcess } from './stack/server-process.js'

/** Short ones: the sooner the other side runs, the likelier under the same conditions. */
const rounds = 16
/** Of a side's time in a round, what goes to calls as fast as they are answered; the rest is for paced ones. */
const fullShare = 0.7
/** Of the whole time, for warming up. */
const warmUpShare = 0.1
/** Calls per second and connection that h2load makes of a script with one per millisecond: its timer adds to each. */
const pacedPerConnection = 700
/** A process that was just started is still collecting its garbage. */
const settleMs = 2_000

type Measure = 'rate' | 'cpu' | 'p50' | 'p99'

/** Warm checks of the real sidecar process against the barest server that answers the same. */
export const sidecar: Benchmark = {
  name: 'sidecar',
  about: `warm checks from the sidecar's cache; reference: a bare @grpc/grpc-js server with the same messages`,
  needs: ['h2load'],
  async run({ seconds, program, life, note }) {
    const api = life.open('API', await FakeApi.start(), (a) => a.stop())
    api.states.set(customerId, entitlementsOf(1, 120))
    const folder = life.open('folder', await mkdtemp(join(tmpdir(), 'tollgate-bench-')), (path) => rm(path, { recursive: true }))
    const subject = await startSidecar(life, api)
    const idle = startReference(life, {})
    await new Promise((resolve) => setTimeout(resolve, settleMs))
    const start = startComparisons(subject, await idle)

    const answers: Record<string, Buffer> = {}
    for (const call of calls) answers[call.method] = await callOnce(subject, call)
    const reference = await startReference(life, answers)
    const comparisons: Comparison[] = []
    for (const call of calls) {
      if (!answers[call.method]!.equals(await callOnce(reference, call))) throw wrong('The reference answers other bytes than the sidecar')
      comparisons.push(
        ...(await compareCall({ h2load: program('h2load'), call, subject, reference, folder, seconds: seconds / calls.length, note })),
      )
    }
    return [...comparisons, ...start]
  },
}

/** Time to be ready and memory when idle, measured once: a spread would take many starts. */
function startComparisons(subject: ServerProcess, reference: ServerProcess): Comparison[] {
  const once = (name: string, unit: string, of: (server: ServerProcess) => number): Comparison => ({
    name,
    subject: of(subject),
    reference: of(reference),
    ratio: of(subject) / of(reference),
    unit,
    spread: 0,
  })
  return [
    once('sidecar-ready', 'ms', (server) => server.readyMs),
    once('sidecar-idle-memory', 'MB', (server) => server.residentMegabytes()),
  ]
}

interface CallPlan extends Pick<BenchmarkContext, 'seconds' | 'note'> {
  h2load: Program
  call: BenchmarkedCall
  subject: ServerProcess
  reference: ServerProcess
  folder: string
}

async function compareCall({ h2load, call, subject, reference, folder, seconds, note }: CallPlan): Promise<Comparison[]> {
  const definition = definitionOf(call)
  const requestFile = join(folder, `${call.method}.bin`)
  await writeFile(requestFile, frame(definition.requestSerialize(call.request)))
  const answer = await callOnce(reference, call)
  const target = ({ ports }: ServerProcess): GrpcTarget => ({
    url: `http://127.0.0.1:${ports.grpcPort}${definition.path}`,
    requestFile,
    answerBytes: frame(answer).length,
  })
  const hitsBefore = await countedHits(subject)
  let sent = 0
  const full = (server: ServerProcess, count: number) => {
    if (server === subject) sent += count
    return loadFully(h2load, target(server), count)
  }
  const sideSeconds = (seconds * (1 - warmUpShare)) / rounds / 2
  const pacedCalls = Math.ceil(sideSeconds * (1 - fullShare) * pacedPerConnection)
  const paced = (server: ServerProcess) => {
    if (server === subject) sent += pacedCalls * connections
    return loadPaced(h2load, target(server), pacedCalls, folder)
  }

  /** Answers what the server does in the time of a round. */
  const warmUp = async (server: ServerProcess): Promise<number> => {
    const first = await full(server, 2_000)
    const warm = await full(server, Math.ceil(first * seconds * (warmUpShare / 2)))
    return Math.ceil(warm * sideSeconds * fullShare)
  }
  const side = (server: ServerProcess, count: number) => async (): Promise<Sample<Measure>> => {
    const cpuBefore = await server.cpuMicroseconds()
    const rate = await full(server, count)
    const cpu = ((await server.cpuMicroseconds()) - cpuBefore) / count
    return { rate, cpu, ...(await paced(server)) }
  }
  const counts = { subject: await warmUp(subject), reference: await warmUp(reference) }
  note(`${call.method}: ${connections} connections x ${streams} streams; answers of ${answer.length} bytes; up to ${rounds} rounds`)

  const name = call.method === 'GetMeteredEntitlement' ? 'sidecar' : 'sidecar-boolean'
  const comparisons = await compare({
    subject: side(subject, counts.subject),
    reference: side(reference, counts.reference),
    measures: {
      rate: { name, unit: 'calls/s' },
      cpu: { name: `${name}-cpu`, unit: 'µs of CPU/call' },
      p50: { name: `${name}-p50`, unit: 'µs' },
      p99: { name: `${name}-p99`, unit: 'µs' },
    },
    rounds,
    seconds: seconds * (1 - warmUpShare),
    onRound: (round, { rate }, { rate: bare }) => note(`round ${round}: ${Math.round(rate)} and ${Math.round(bare)} calls/s`),
  })
  const hits = (await countedHits(subject)) - hitsBefore
  if (hits !== sent) throw wrong(`${sent} calls were made, but the sidecar answered ${hits} from its cache`)
  return comparisons
}
