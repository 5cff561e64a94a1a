/** The load of the `ingest` benchmarks: events of many customers through all processes, until they are counted and told. */
import { setTimeout as sleep } from 'node:timers/promises'
import { Problem } from '../../../src/kernel/problem.js'
import type { Life } from '../../../src/platform/process.js'
import { HttpConnection } from '../load/http-connection.js'
import { addCustomers, type Stack, startStack } from '../stack/stack.js'
import { EventCall, eventsPerCall, sendUntilAcknowledged } from './event-calls.js'

export const customers = 10_000
const callers = 4
/** As many different calls as name about half of the users of all customers. */
const callsPerCaller = 100
/** Looking costs what is measured some of its time: a hundredth of a second is 2 µs an event. */
const pollMs = 40
/** More than the door lets wait. */
const longestBacklogMs = 20 * 60_000

const feature = (refId: string, aggregation: string, field: string) => ({
  refId,
  displayName: refId,
  type: 'NUMBER',
  meter: 'Incremental',
  units: 'unit',
  unitsPlural: 'units',
  events: { aggregation, field, filters: [[{ field: 'eventName', operation: 'EQUALS', value: 'request' }]] },
})
const catalog = {
  features: [feature('tokens', 'SUM', 'tokens'), feature('users', 'UNIQUE', 'user')],
  products: [{ refId: 'cloud', displayName: 'Cloud' }],
  plans: [
    {
      refId: 'free',
      product: 'cloud',
      displayName: 'Free',
      pricingType: 'FREE',
      entitlements: ['tokens', 'users'].map((name) => ({ feature: name, limit: 1_000_000_000, resetPeriod: 'MONTH' })),
    },
  ],
}

/** Events a second, from the first call until the last event is … */
interface Rates {
  /** acknowledged, which is committed, */
  committed: number
  /** counted by both meters, */
  counted: number
  /** and its usage told to all who hold a state. */
  pushed: number
}

/** All processes that events go through, one each. */
export class EventLoad {
  /** Acknowledged until now. */
  events = 0
  refusals = 0
  #tokens = 0

  private constructor(
    readonly stack: Stack,
    private readonly lanes: { connection: HttpConnection; calls: EventCall[]; next: number }[],
  ) {}

  static async start(life: Life): Promise<EventLoad> {
    const stack = await startStack(life, catalog)
    await addCustomers(stack, customers, 'free')
    const web = await stack.start('web', { RATE_LIMIT_PER_KEY: '1000000' })
    for (const name of ['usage-ingestion', 'event-aggregation', 'cache-invalidation'] as const) await stack.start(name)
    const open = () => ({
      connection: life.open('connection', new HttpConnection(web.url), (c) => c.close()),
      calls: Array.from({ length: callsPerCaller }, () => new EventCall(stack.serverKey, customers)),
      next: 0,
    })
    return new EventLoad(stack, Array.from({ length: callers }, open))
  }

  /** Makes calls as fast as they are answered while `isWanted` says so of the number of those that were begun; ends when all usage is told. */
  async run(isWanted: (calls: number) => boolean): Promise<Rates & { events: number }> {
    const [began, before] = [performance.now(), this.events]
    let begun = 0
    const work = async (lane: (typeof this.lanes)[number]) => {
      while (isWanted(begun)) {
        begun += 1
        const call = lane.calls[lane.next++ % callsPerCaller]!
        call.renewKeys()
        this.refusals += await sendUntilAcknowledged(lane.connection, call.request)
        this.events += eventsPerCall
        this.#tokens += call.tokens
      }
    }
    await Promise.all(this.lanes.map(work))
    const events = this.events - before
    const rate = () => (events / (performance.now() - began)) * 1_000
    const committed = rate()
    await untilNone(this.stack, 'pending_batch')
    const counted = rate()
    await untilNone(this.stack, 'outbox_message')
    return { committed, counted, pushed: rate(), events }
  }

  /** Fails unless the usage of all customers together is what was acknowledged. */
  async check(): Promise<void> {
    const { rows } = await this.stack.pool.query<{ sum: string }>(`
      SELECT sum(counter.usage) AS sum FROM usage_counter AS counter
      JOIN usage_series AS series ON series.environment_id = counter.environment_id AND series.id = counter.series_id
      JOIN feature ON feature.environment_id = series.environment_id AND feature.id = series.feature_id AND feature.ref_id = 'tokens'`)
    if (Number(rows[0]!.sum) !== this.#tokens)
      throw new Problem('ABORTED', 'WRONG_ANSWERS', `${rows[0]!.sum} tokens were counted, ${this.#tokens} acknowledged`)
  }
}

/** Waits until all of it is worked off. */
export async function untilNone({ pool }: Stack, table: 'pending_batch' | 'outbox_message'): Promise<void> {
  const end = performance.now() + longestBacklogMs
  for (;;) {
    const { rows } = await pool.query(`SELECT FROM ${table} LIMIT 1`)
    if (rows.length === 0) return
    if (performance.now() > end)
      throw new Problem('ABORTED', 'WRONG_ANSWERS', `${table} is not worked off in ${longestBacklogMs / 60_000} minutes`)
    await sleep(pollMs)
  }
}
