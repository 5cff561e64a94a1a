/** Events through several workers while something goes wrong in the middle, and the numbers that must come out all the same. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Life } from '../../../src/platform/process.js'
import { HttpConnection, postRequest } from '../load/http-connection.js'
import { mutation, sendUntilAcknowledged } from '../metering/event-calls.js'
import { untilNone } from '../metering/event-load.js'
import { addCustomers, type Stack, startStack } from '../stack/stack.js'
import { compareUsage, SoakEvents, soakCatalog, type UsageComparison } from './events.js'

const eventsPerCall = 500
/** Enough that each worker has work in hand whenever one is killed. */
const callers = 8
/** As the runner of `npm start` waits before it starts a process again. */
const restartMs = 1_000

/** `workers`: of ingestion and of aggregation one is killed, after a third of the calls and after two thirds. `postgres`: restarted, in order and then at once. */
export type Trouble = 'workers' | 'postgres'

/** One call, with the times at which it was made and acknowledged, refusals and its own repeats between. */
interface MadeCall {
  startedAt: number
  acknowledgedAt: number
  refusals: number
}

export interface SoakResult extends UsageComparison {
  events: number
  seconds: number
  calls: readonly MadeCall[]
  /** When something went wrong, and what; `performance.now`. */
  troubles: { at: number; what: string }[]
}

/** Through four ingestion and two aggregation workers. A call that is refused or times out is made again with the same keys, until it is acknowledged. */
export async function runSoak(options: {
  life: Life
  events: number
  customers: number
  trouble: Trouble
  note: (line: string) => void
}): Promise<SoakResult> {
  const { life, trouble, note } = options
  const stack = await startStack(life, soakCatalog, { isOwn: trouble === 'postgres' })
  await addCustomers(stack, options.customers, 'free')
  // So that late events are after the beginning of what counts.
  await stack.pool.query("UPDATE subscription SET usage_anchor = usage_anchor - interval '3 days'")
  const web = await stack.start('web', { RATE_LIMIT_PER_KEY: '1000000' })
  await Promise.all([1, 2, 3, 4].map(() => stack.start('usage-ingestion')))
  await Promise.all([1, 2].map(() => stack.start('event-aggregation')))
  await stack.start('cache-invalidation')

  const events = new SoakEvents(options.events, options.customers)
  const count = Math.ceil(events.count / eventsPerCall)
  const calls: MadeCall[] = []
  const troubles: SoakResult['troubles'] = []
  const recoveries: Promise<unknown>[] = []
  const makeTrouble = (round: number) => {
    const [what, recovered] = trouble === 'workers' ? killWorkers(stack) : restartPostgres(stack, round)
    note(`${what} after ${calls.length} of ${count} calls`)
    troubles.push({ at: performance.now(), what })
    recoveries.push(recovered)
    // Looked at when all calls are made; until then it is not unhandled.
    recovered.catch(() => undefined)
  }

  const began = performance.now()
  let begun = 0
  const caller = async () => {
    const connection = life.open('connection', new HttpConnection(web.url), (c) => c.close())
    for (let index = begun++; index < count; index = begun++) {
      if (index === Math.floor(count / 3)) makeTrouble(1)
      if (index === Math.floor((count * 2) / 3)) makeTrouble(2)
      const request = requestOf(stack, events, index)
      const startedAt = performance.now()
      const refusals = await sendUntilAcknowledged(connection, request)
      calls.push({ startedAt, acknowledgedAt: performance.now(), refusals })
      if (calls.length % 200 === 0) note(`${calls.length} of ${count} calls`)
    }
  }
  await Promise.all(Array.from({ length: callers }, caller))
  await Promise.all(recoveries)
  await untilNone(stack, 'pending_batch')
  const seconds = (performance.now() - began) / 1_000
  return { events: events.count, seconds, calls, troubles, ...(await compareUsage(stack, events)) }
}

function killWorkers(stack: Stack): [string, Promise<unknown>] {
  const names = ['usage-ingestion', 'event-aggregation'] as const
  for (const victim of names) stack.processes.find(({ name, isRunning }) => name === victim && isRunning)!.kill()
  const restart = async () => {
    await sleep(restartMs)
    await Promise.all(names.map((name) => stack.start(name)))
  }
  return ['two workers are killed', restart()]
}

function restartPostgres(stack: Stack, round: number): [string, Promise<unknown>] {
  const how = round === 1 ? 'fast' : 'immediate'
  return [`PostgreSQL is restarted (${how})`, stack.restartPostgres(how)]
}

function requestOf({ serverKey }: Stack, events: SoakEvents, call: number): Buffer {
  const start = call * eventsPerCall
  const size = Math.min(eventsPerCall, events.count - start)
  const usageEvents = Array.from({ length: size }, (_, index) => events.at(start + index))
  return postRequest('/graphql', { 'x-api-key': serverKey }, JSON.stringify({ query: mutation, variables: { events: { usageEvents } } }))
}
