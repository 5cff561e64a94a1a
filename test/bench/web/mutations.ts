import { Client } from 'undici'
import { Problem } from '../../../src/kernel/problem.js'
import { maxBodyBytes } from '../../../src/web/http/body.js'
import type { Comparison } from '../figures/compare.js'
import { quantile, significant } from '../figures/statistics.js'
import type { BenchmarkContext } from '../harness/benchmark.js'
import type { Stack } from '../stack/stack.js'
import type { StackProcess } from '../stack/stack-process.js'

const provisions = 300
const mutation =
  'mutation($input: ProvisionCustomerInput!) { provisionCustomer(input: $input) { subscription { subscriptionId status } subscriptionDecisionStrategy } }'

/** A new customer with its subscription, one after the other; reference: a transaction of three statements that do nothing. */
export async function measureProvisioning({
  stack,
  web,
  note,
}: {
  stack: Stack
  web: StackProcess
  note: BenchmarkContext['note']
}): Promise<Comparison[]> {
  const client = new Client(web.url)
  const headers = { 'content-type': 'application/json', 'x-api-key': stack.serverKey }
  const provision = async (n: number) => {
    const input = { customerId: `provisioned-${n}`, subscriptionParams: { planId: 'big' } }
    const { body } = await client.request({
      path: '/graphql',
      method: 'POST',
      headers,
      body: JSON.stringify({ query: mutation, variables: { input } }),
    })
    const text = await body.text()
    if (!text.includes('"ACTIVE"')) throw new Problem('ABORTED', 'WRONG_ANSWERS', text)
  }
  const bare = async () => {
    const db = await stack.pool.connect()
    for (const text of ['BEGIN', 'SELECT 1', 'SELECT 2', 'SELECT 3', 'COMMIT']) await db.query(text)
    db.release()
  }
  const [subjects, references]: [number[], number[]] = [[], []]
  for (let n = 0; n < provisions; n++) {
    const [provisioned, transacted] = [await timed(() => provision(n)), await timed(bare)]
    if (n < provisions / 10) continue
    subjects.push(provisioned)
    references.push(transacted)
  }
  await client.close()
  note(`${subjects.length} customers provisioned`)
  return [0.5, 0.99].map((q) => {
    const [subject, reference] = [quantile(subjects, q), quantile(references, q)]
    return {
      name: `provision-p${q * 100}`,
      subject: significant(subject),
      reference: significant(reference),
      ratio: significant(subject / reference),
      unit: 'ms',
      spread: 0,
    }
  })
}

const many = (count: number, item: (n: number) => string) => Array.from({ length: count }, (_, n) => item(n)).join(' ')

/** Bodies that are to be refused before anything is executed. */
const hostile: Readonly<Record<string, () => string>> = {
  'a body over the size limit': () => ' '.repeat(maxBodyBytes + 1),
  '10,000 aliases of one field': () => query(`{ ${many(10_000, (n) => `a${n}: __typename`)} }`),
  '10,000 repeated directives': () => query(`{ __typename ${many(10_000, () => '@include(if: true)')} }`),
  'a query nested 50 deep': () => query(`{ __schema { types { ${'ofType { '.repeat(50)} name ${'}'.repeat(50)} } } }`),
  'fragments that spread each other in a circle': () => query('{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }'),
  'a field 50 times in 30 fragments': () =>
    query(`{ ${many(30, (n) => `...F${n}`)} } ${many(30, (n) => `fragment F${n} on Query { ${'__typename '.repeat(50)} }`)}`),
  'an array of 26 operations': () => JSON.stringify(Array(26).fill({ query: '{ __typename }' })),
  'an array of 25 expensive operations': () =>
    JSON.stringify(Array.from({ length: 25 }, (_, n) => ({ query: `{ x${n} ${'sdkConfiguration { nope } '.repeat(40)} }` }))),
}

const query = (text: string) => JSON.stringify({ query: text })

/** What refusing costs, worst first; reference: the smallest query that is answered. The delay is the longest that anybody else had to wait. */
export async function measureRefusals({
  web,
  serverKey,
  note,
}: {
  web: StackProcess
  serverKey: string
  note: BenchmarkContext['note']
}): Promise<Comparison[]> {
  const headers = { 'content-type': 'application/json', 'x-api-key': serverKey }
  const send = async (body: string) => {
    const response = await fetch(`${web.url}/graphql`, { method: 'POST', headers, body }).catch(() => null)
    return (await response?.text().catch(() => '')) ?? ''
  }
  const measure = async (body: string): Promise<{ ms: number; delayMs: number }> => {
    await longestDelayMs(web)
    const times: number[] = []
    for (let n = 0; n < 15; n++) times.push(await timed(() => send(body)))
    return { ms: quantile(times, 0.5), delayMs: await longestDelayMs(web) }
  }
  const usual = await measure(query('{ __typename }'))
  const refused: { name: string; ms: number; delayMs: number }[] = []
  for (const [name, make] of Object.entries(hostile)) {
    const body = make()
    const answer = await send(body)
    if (answer.includes('"data":{')) throw new Problem('ABORTED', 'WRONG_ANSWERS', `${name} is answered: ${answer.slice(0, 200)}`)
    const cost = await measure(body)
    refused.push({ name, ...cost })
    note(`refused in ${cost.ms.toFixed(1)} ms, longest delay of the event loop ${cost.delayMs.toFixed(1)} ms: ${name}`)
  }
  const worst = (of: 'ms' | 'delayMs') => Math.max(...refused.map((each) => each[of]))
  const comparison = (name: string, of: 'ms' | 'delayMs'): Comparison => ({
    name,
    subject: significant(worst(of)),
    reference: significant(usual[of]),
    ratio: significant(worst(of) / usual[of]),
    unit: 'ms',
    spread: 0,
  })
  return [comparison('refusal', 'ms'), comparison('refusal-delay', 'delayMs')]
}

/** Since it was asked last. */
async function longestDelayMs(web: StackProcess): Promise<number> {
  const metrics = await (await fetch(`${web.healthUrl}/metrics`)).text()
  return Number(/^nodejs_eventloop_lag_max_seconds\S* ([\d.e-]+)/m.exec(metrics)?.[1] ?? Number.NaN) * 1000
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}
