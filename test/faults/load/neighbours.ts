/** Two more tenants: one as loud as it can be with some callers, and a quiet one, whose calls are to be answered all the same. */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Stage } from '../stage/stage.js'
import { untilDone, WebDoor } from './doors.js'
import type { QuietTenant } from './ledger.js'
import { Pacer } from './pacer.js'

const noisyCallers = 2
const noisyEvents = 40
const noisyPauseMs = 250
const quietEveryMs = 300
const mostUnderWay = 6
const provision = 'mutation ($input: ProvisionCustomerInput!) { provisionCustomer(input: $input) { customer { customerId } } }'

export class Neighbours {
  readonly #pacer = new Pacer(mostUnderWay)
  readonly #callers: Promise<void>[] = []
  readonly #noisy: WebDoor[]
  readonly #quiet: WebDoor[]
  #isOver = false

  constructor(
    stage: Stage,
    private readonly figures: QuietTenant,
    private readonly customer: string,
  ) {
    this.#noisy = stage.doors.web.map((url) => new WebDoor(url, stage.tenants.noisy.serverKey))
    this.#quiet = stage.doors.web.map((url) => new WebDoor(url, stage.tenants.quiet.serverKey))
  }

  async provision(): Promise<void> {
    const input = { customerId: this.customer, subscriptionParams: { planId: 'basic', trialOverrideConfiguration: { isTrial: false } } }
    for (const door of [this.#noisy[0]!, this.#quiet[0]!]) await untilDone(() => door.call(provision, { input }))
  }

  start(): void {
    for (let caller = 0; caller < noisyCallers; caller++) this.#callers.push(this.#makeNoise(this.#noisy[caller % this.#noisy.length]!))
    let turn = 0
    this.#pacer.every(quietEveryMs, () => this.#callQuietly(this.#quiet[turn++ % this.#quiet.length]!))
  }

  async stop(): Promise<void> {
    this.#isOver = true
    await Promise.all([this.#pacer.stop(), ...this.#callers])
  }

  async #makeNoise(door: WebDoor): Promise<void> {
    while (!this.#isOver) {
      await door.events(
        Array.from({ length: noisyEvents }, () => ({
          customerId: this.customer,
          eventName: 'completion',
          idempotencyKey: randomUUID(),
          dimensions: { tokens: 1 },
        })),
      )
      await sleep(noisyPauseMs)
    }
  }

  async #callQuietly(door: WebDoor): Promise<void> {
    const startedAt = performance.now()
    const outcome = await door.report(this.customer, 1, randomUUID())
    await door.check(this.customer, 1)
    this.figures.calls += 1
    this.figures.worstMs = Math.max(this.figures.worstMs, Math.round(performance.now() - startedAt))
    if (outcome.kind !== 'acknowledged' && /RateLimitExceeded/.test(outcome.why)) this.figures.refused += 1
  }
}
