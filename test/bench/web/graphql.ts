import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'undici'
import { Problem } from '../../../src/kernel/problem.js'
import type { Program } from '../../../src/local/programs/debian-package.js'
import { type Comparison, compare, type Sample } from '../figures/compare.js'
import { median, significant } from '../figures/statistics.js'
import type { Benchmark, BenchmarkContext } from '../harness/benchmark.js'
import { type HttpTarget, loadHttp } from '../load/http-load.js'
import { ServerProcess } from '../stack/server-process.js'
import { addCustomers, type Stack, startStack } from '../stack/stack.js'
import type { StackProcess } from '../stack/stack-process.js'
import { entitlementQuery, webCatalog } from './content.js'
import { measureProvisioning, measureRefusals } from './mutations.js'

const customerId = 'customer-1'
const rounds = 8
/** Of the time: for each of the three comparisons; the rest is for provisioning and refusals. */
const comparedShare = 0.28

type Measure = 'rate' | 'cpu'

/** Warm answers of the web process against the barest servers that answer the same. */
export const graphql: Benchmark = {
  name: 'graphql',
  about: 'the entitlement query and the edge, warm; reference: bare Koa, with graphql-http and memoised documents, answering a constant',
  needs: ['h2load'],
  async run({ seconds, program, life, note }) {
    const stack = await startStack(life, webCatalog)
    await addCustomers(stack, 10, 'big')
    const web = await stack.start('web', { RATE_LIMIT_PER_KEY: '1000000' })
    const folder = life.open('folder', await mkdtemp(join(tmpdir(), 'tollgate-bench-')), (path) => rm(path, { recursive: true }))
    const bodyFile = join(folder, 'request.json')
    const request = JSON.stringify({ query: entitlementQuery, variables: { query: { customerId, featureId: 'feature-10' } } })
    await writeFile(bodyFile, request)
    const headers = { 'x-api-key': stack.serverKey }
    const post = { ...headers, 'content-type': 'application/json' }

    const answer = await fetchText(`${web.url}/graphql`, { method: 'POST', headers: post, body: request })
    const entitlement = (JSON.parse(answer) as { data?: { entitlement: { isGranted: boolean } } }).data?.entitlement
    if (!entitlement?.isGranted) throw wrong(`The web process answers ${answer}`)
    const edgePath = `/v1/c/${customerId}/entitlements.json`
    const edge = await fetchText(`${web.url}${edgePath}`, { headers })
    // A check that is to be counted is executed each time; others are answered from what was answered before.
    const executedFile = join(folder, 'executed.json')
    const variables = { query: { customerId, featureId: 'feature-10', options: { shouldTrack: true } } }
    await writeFile(executedFile, JSON.stringify({ query: entitlementQuery, variables }))
    const args = [JSON.stringify(entitlement), edge]
    const reference = life.open(
      'reference',
      await ServerProcess.start('reference', new URL('./reference.js', import.meta.url), { args }),
      (server) => server.stop(),
    )
    const referenceUrl = `http://127.0.0.1:${reference.ports.httpPort}`
    const constant = await fetchText(`${referenceUrl}/graphql`, { method: 'POST', headers: post, body: request })
    if (constant !== answer) throw wrong(`The reference answers ${constant}\nand the web process ${answer}`)
    note(`entitlement: ${answer.length} bytes; edge: ${edge.length} bytes`)

    const common = { h2load: program('h2load'), seconds: seconds * comparedShare, note, web, reference }
    return [
      ...(await compareTargets({
        ...common,
        name: 'graphql',
        subject: { url: `${web.url}/graphql`, headers: post, bodyFile },
        constant: { url: `${referenceUrl}/graphql`, headers: post, bodyFile },
      })),
      ...(await compareTargets({
        ...common,
        name: 'graphql-executed',
        subject: { url: `${web.url}/graphql`, headers: post, bodyFile: executedFile },
        constant: { url: `${referenceUrl}/graphql`, headers: post, bodyFile: executedFile },
      })),
      ...(await compareTargets({
        ...common,
        name: 'edge',
        subject: { url: `${web.url}${edgePath}`, headers },
        constant: { url: `${referenceUrl}/edge`, headers },
      })),
      await checkReads(web),
      ...(await measureProvisioning({ stack, web, note })),
      ...(await measureRefusals({ web, serverKey: stack.serverKey, note })),
    ].filter((comparison) => comparison !== null)
  },
}

interface Targets {
  h2load: Program
  name: string
  subject: HttpTarget
  constant: HttpTarget
  web: StackProcess
  reference: ServerProcess
  seconds: number
  note: BenchmarkContext['note']
}

async function compareTargets({ h2load, name, subject, constant, web, reference, seconds, note }: Targets): Promise<Comparison[]> {
  const sideSeconds = seconds / rounds / 2
  const warmUp = async (target: HttpTarget) =>
    Math.ceil((await loadHttp(h2load, target, Math.ceil((await loadHttp(h2load, target, 2_000)) / 2))) * sideSeconds)
  const requests = { subject: await warmUp(subject), constant: await warmUp(constant) }
  const side = (target: HttpTarget, server: StackProcess | ServerProcess, count: number) => async (): Promise<Sample<Measure>> => {
    const before = await server.cpuMicroseconds()
    const rate = await loadHttp(h2load, target, count)
    return { rate, cpu: ((await server.cpuMicroseconds()) - before) / count }
  }
  return compare({
    subject: side(subject, web, requests.subject),
    reference: side(constant, reference, requests.constant),
    measures: { rate: { name, unit: 'requests/s' }, cpu: { name: `${name}-cpu`, unit: 'µs of CPU/request' } },
    rounds,
    seconds,
    onRound: (round, { rate }, { rate: bare }) => note(`${name} round ${round}: ${Math.round(rate)} and ${Math.round(bare)} requests/s`),
  })
}

/** Fails when what was measured was not answered from memory. */
async function checkReads(web: StackProcess): Promise<null> {
  const metrics = await fetchText(`${web.healthUrl}/metrics`)
  const count = (source: string) =>
    Number(new RegExp(`^tollgate_state_reads_total\\{.*source="${source}".*\\} (\\d+)`, 'm').exec(metrics)?.[1] ?? 0)
  if (count('PostgreSQL') + count('Redis') > count('memory') / 100) throw wrong('The states were not answered from memory')
  return null
}

/** Mixed work for as long as it is given, and what it does to the memory of the web process. */
export const graphqlMemory: Benchmark = {
  name: 'graphql-memory',
  about: 'memory of the web process under mixed load; reference: what it was after the first third (use --seconds 600)',
  async run({ seconds, life, note }) {
    const stack = await startStack(life, webCatalog)
    const customers = 500
    await addCustomers(stack, customers, 'big')
    const web = await stack.start('web', { RATE_LIMIT_PER_KEY: '1000000' })
    await stack.start('cache-invalidation')
    const samples: { at: number; resident: number; heap: number }[] = []
    const began = performance.now()
    const elapsed = () => (performance.now() - began) / 1000
    let requests = 0
    const callers = Array.from({ length: 8 }, async () => {
      const own = new Client(web.url)
      while (elapsed() < seconds) {
        await mixedRequest(own, stack, requests++, customers)
        // Long rather than hard: what is kept by mistake shows after many requests, not after fast ones.
        await sleep(2)
      }
      await own.close()
    })
    const sampling = (async () => {
      while (elapsed() < seconds) {
        await sleep(Math.min(5_000, seconds * 50))
        const text = await fetchText(`${web.healthUrl}/metrics`)
        const value = (name: string) => Number(new RegExp(`^${name}\\{[^}]*\\} ([\\d.e+]+)`, 'm').exec(text)?.[1] ?? 0) / 1024 / 1024
        const sample = { at: elapsed(), resident: value('process_resident_memory_bytes'), heap: value('nodejs_heap_size_used_bytes') }
        samples.push(sample)
        if (samples.length % 6 === 0)
          note(
            `after ${Math.round(sample.at)} s and ${requests} requests: ${Math.round(sample.resident)} MiB resident, heap ${Math.round(sample.heap)} MiB, ` +
              `outside of it ${Math.round(value('nodejs_external_memory_bytes'))} MiB`,
          )
      }
    })()
    await Promise.all([...callers, sampling])
    note(`${requests} requests in ${Math.round(elapsed())} s`)
    const part = (from: number, to: number, of: 'resident' | 'heap') =>
      samples.filter(({ at }) => at >= from * seconds && at <= to * seconds).map((sample) => sample[of])
    // The heap is what it is after a collection; in between it grows by what is garbage already.
    const measures = { resident: median, heap: (values: number[]) => Math.min(...values) }
    return (['resident', 'heap'] as const).map((of) => {
      const [reference, subject] = [measures[of](part(0.25, 0.45, of)), measures[of](part(0.8, 1, of))]
      return {
        name: `memory-${of}`,
        subject: significant(subject),
        reference: significant(reference),
        ratio: significant(subject / reference),
        unit: 'MiB',
        spread: 0,
      }
    })
  },
}

/** Mostly checks, some lists, some mutations, some that are refused. */
async function mixedRequest(client: Client, { serverKey }: Stack, n: number, customers: number): Promise<void> {
  const customer = `customer-${(n * 7919) % customers}`
  const headers = { 'content-type': 'application/json', 'x-api-key': serverKey }
  const send = async (query: string, variables: object) =>
    (await client.request({ path: '/graphql', method: 'POST', headers, body: JSON.stringify({ query, variables }) })).body.dump()
  if (n % 10 === 0) await (await client.request({ path: `/v1/c/${customer}/entitlements.json`, method: 'GET', headers })).body.dump()
  else if (n % 50 === 1)
    await send('mutation($input: ProvisionCustomerInput!) { provisionCustomer(input: $input) { customer { id } } }', {
      input: { customerId: `new-${n}` },
    })
  else if (n % 50 === 2) await send(`{ unknown${n} }`, {})
  else if (n % 50 === 3)
    await send('query($input: GetCustomerByRefIdInput!) { getCustomerByRefId(input: $input) { id name subscriptions { id status } } }', {
      input: { customerId: customer },
    })
  else await send(entitlementQuery, { query: { customerId: customer, featureId: `feature-${n % 20}` } })
}

async function fetchText(url: string, init?: RequestInit): Promise<string> {
  return (await fetch(url, init)).text()
}

const wrong = (message: string) => new Problem('ABORTED', 'WRONG_ANSWERS', message)
