/** Steady load on the platform: what each kind of caller does, written down in the ledger. */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Life } from '../../../src/platform/process.js'
import type { Stage } from '../stage/stage.js'
import { type Door, type Outcome, SidecarDoor, untilDone, WebDoor } from './doors.js'
import { type Holder, Ledger, type Role, type SentEvent, type SentReport } from './ledger.js'
import { Neighbours } from './neighbours.js'
import { Pacer } from './pacer.js'

/** How many customers of each kind, and on which plan they begin. */
const casts: readonly [role: Role, count: number, plan: string][] = [
  ['counted', 10, 'basic'],
  ['evented', 5, 'basic'],
  ['limited', 3, 'small'],
  ['changing', 3, 'basic'],
]
/** Together some forty calls a second: two processors that others use too keep up with it beside sixteen processes. */
const everyMs = { report: 80, events: 300, graphqlCheck: 150, sidecarCheck: 100 }
/** What cannot keep up is not called more and more. */
const mostUnderWay = 16
/** Nothing new is reported while so much is unknown: it is repeated, and would only get more. */
const mostUnknown = 24
const eventsPerCall = 3
/** Of the calls that were acknowledged: made once more. */
const repeated = 0.05
/** One call of so many tells what was before. */
const lateEvery = 5
const lateMs = 1_500
const pauseMs = 120
const changeEveryMs = 900
const trialEveryMs = 700
const trialMs = 3_000
const mostRetryMs = 3_000
/** The instant of a transition by time as this machine and the database's have it. */
const instantMs = 25
/** Among so many customers the trial is looked for that is asked about. */
const lastTrials = 4

const provisionCustomer = 'mutation ($input: ProvisionCustomerInput!) { provisionCustomer(input: $input) { customer { customerId } } }'
const provisionPlan =
  'mutation ($input: ProvisionSubscriptionInput!) { provisionSubscriptionV2(input: $input) { subscription { subscriptionId } } }'

export class Load {
  readonly ledger = new Ledger()
  readonly #pacer = new Pacer(mostUnderWay)
  readonly #actors: Promise<unknown>[] = []
  readonly #settling = new Set<Promise<void>>()
  readonly #web: WebDoor[]
  readonly #sidecars: SidecarDoor[]
  readonly #neighbours: Neighbours
  #isOver = false
  /** Until when what is unknown is repeated. */
  #giveUpAt = Number.POSITIVE_INFINITY
  #turn = 0

  constructor(
    stage: Stage,
    life: Life,
    /** Begins the identifiers of its customers. */
    private readonly prefix: string,
  ) {
    this.#web = stage.doors.web.map((url) => new WebDoor(url, stage.tenants.loaded.serverKey))
    this.#sidecars = stage.doors.sidecar.map((address) => life.open('sidecar client', new SidecarDoor(address), (door) => door.close()))
    this.#neighbours = new Neighbours(stage, this.ledger.quiet, prefix)
  }

  /** Makes the customers; the platform must be well. */
  async provision(): Promise<void> {
    await this.#neighbours.provision()
    for (const [role, count, planId] of casts)
      for (let index = 0; index < count; index++) {
        const holder: Holder = { customer: `${this.prefix}-${role}-${index}`, role, steps: [{ plan: planId, begunAt: 0, doneAt: null }] }
        this.ledger.holders.push(holder)
        await untilDone(() => this.#provision(this.#web[0]!, holder.customer, { planId, trialOverrideConfiguration: { isTrial: false } }))
        holder.steps[0]!.doneAt = Date.now()
      }
  }

  #provision(door: WebDoor, customerId: string, subscriptionParams: object): Promise<Outcome<unknown>> {
    return door.call(provisionCustomer, { input: { customerId, subscriptionParams } })
  }

  start(): void {
    this.#neighbours.start()
    this.#pacer.every(everyMs.report, async () => this.#isBehind || this.#report(this.#nextOf('counted'), this.#nextDoor()))
    this.#pacer.every(everyMs.events, async () => this.#isBehind || this.#reportEvents())
    const { holders } = this.ledger
    const checked = holders.filter(({ role }) => role !== 'evented')
    // Of the trials those that began last: they end now.
    const one = () => {
      const turn = this.#next()
      return (turn % 4 === 0 && holders.slice(-lastTrials).find(({ role }) => role === 'trial')) || checked[turn % checked.length]!
    }
    this.#pacer.every(everyMs.graphqlCheck, () => this.#check(one(), this.#web[this.#next() % this.#web.length]!))
    this.#pacer.every(everyMs.sidecarCheck, () => this.#check(one(), this.#sidecars[this.#next() % this.#sidecars.length]!))
    for (const holder of this.ledger.of('limited')) this.#actors.push(this.#keepToTheLimit(holder))
    for (const holder of this.ledger.of('changing')) this.#actors.push(this.#changePlans(holder))
    this.#actors.push(this.#beginTrials())
  }

  /** Begins nothing new, and repeats what is unknown until it is known, for so long at most. */
  async stop(settleMs: number): Promise<void> {
    this.#isOver = true
    this.#giveUpAt = Date.now() + settleMs
    await Promise.all([this.#pacer.stop(), this.#neighbours.stop(), ...this.#actors])
    while (this.#settling.size > 0) await Promise.all(this.#settling)
    for (const sidecar of this.#sidecars) sidecar.close()
  }

  /** Both copies of both, by name. */
  get doors(): Map<string, Door> {
    const doors: Door[] = [...this.#web, ...this.#sidecars]
    return new Map(doors.map((door, index) => [`${door.kind} ${1 + (index % this.#web.length)}`, door]))
  }

  /** Why a door does not take a report and answer a check now; null: it does both. */
  async whyNotServed(door: Door): Promise<string | null> {
    const holder = this.ledger.of('counted')[0]!
    const outcome = await this.#report(holder, door)
    if (outcome.kind !== 'acknowledged') return outcome.why
    return (await this.#check(holder, door)) ? null : 'it answers no check'
  }

  get #isBehind(): boolean {
    return this.#settling.size >= mostUnknown
  }

  #next(): number {
    return this.#turn++
  }

  #nextOf(role: Role): Holder {
    const holders = this.ledger.of(role)
    return holders[this.#next() % holders.length]!
  }

  /** Usually a web process; every third time a sidecar. */
  #nextDoor(): Door {
    const turn = this.#next()
    return turn % 3 === 0 ? this.#sidecars[turn % this.#sidecars.length]! : this.#web[turn % this.#web.length]!
  }

  #otherDoor(door: Door): Door {
    const doors: readonly Door[] = door.kind === 'graphql' ? this.#web : this.#sidecars
    return doors[(doors.indexOf(door) + 1) % doors.length]!
  }

  async #report({ customer }: Holder, door: Door): Promise<Outcome<string>> {
    const report = this.ledger.report(randomUUID(), customer, 1 + (this.#next() % 4) / 2)
    const outcome = await this.#send(report, door)
    if (outcome.kind === 'acknowledged') {
      if (Math.random() < repeated) await this.#send(report, this.#otherDoor(door))
    } else if (outcome.kind === 'refused') Object.assign(report, { fate: 'refused', refusal: `${door.kind}: ${outcome.why}` })
    else this.#settle(() => this.#send(report, this.#otherDoor(door)).then(({ kind }) => kind === 'acknowledged'))
    return outcome
  }

  async #send(report: SentReport, door: Door): Promise<Outcome<string>> {
    const outcome = await door.report(report.customer, report.value, report.key)
    this.ledger.answers[outcome.kind] += 1
    if (outcome.kind === 'acknowledged') {
      report.fate = 'acknowledged'
      report.acknowledgedAt ??= Date.now()
      report.measurementIds.add(outcome.answer)
    }
    return outcome
  }

  /** Beside everything else. A refusal of a repeat says nothing of what was sent before it. */
  #settle(isKnown: () => Promise<boolean>): void {
    const settling = (async () => {
      for (let tries = 1; Date.now() < this.#giveUpAt; tries++) {
        await sleep(Math.min(200 * tries, mostRetryMs))
        if (await isKnown()) return
      }
    })().finally(() => this.#settling.delete(settling))
    this.#settling.add(settling)
  }

  async #reportEvents(): Promise<void> {
    const { customer, steps } = this.#nextOf('evented')
    // What was before the customer had its plan would count for nothing.
    const isLate = this.#next() % lateEvery === 0 && Date.now() - lateMs > steps[0]!.doneAt!
    const fresh = Array.from({ length: eventsPerCall }, () =>
      this.ledger.event(randomUUID(), customer, isLate ? Date.now() - lateMs : null),
    )
    // What was acknowledged may come again at any time, and within a call.
    const known = this.ledger.events.find((event) => event.customer === customer && event.fate === 'acknowledged')
    const sent = [...fresh, fresh[0]!, ...(known && Math.random() < repeated ? [known] : [])]
    const usageEvents = sent.map(toInput)
    const door = this.#web[this.#next() % this.#web.length]!
    const send = async (to: WebDoor) => {
      const outcome = await to.events(usageEvents)
      this.ledger.answers[outcome.kind] += 1
      if (outcome.kind === 'acknowledged') for (const event of fresh) event.fate = 'acknowledged'
      return outcome.kind
    }
    const kind = await send(door)
    if (kind === 'refused') for (const event of fresh) event.fate = 'refused'
    if (kind === 'unknown') this.#settle(async () => (await send(this.#otherDoor(door) as WebDoor)) === 'acknowledged')
  }

  /** Whether there was an answer. */
  async #check({ customer }: Holder, door: Door): Promise<boolean> {
    return (await this.#ask(customer, door)) !== null
  }

  async #ask(customer: string, door: Door) {
    const askedAt = Date.now()
    const answer = await door.check(customer, 1)
    if (answer) this.ledger.checks.push({ customer, door: door.kind, askedAt, answeredAt: Date.now(), requested: 1, ...answer })
    return answer
  }

  /** As an application that keeps to its limit: it asks, and reports when it was granted. */
  async #keepToTheLimit(holder: Holder): Promise<void> {
    for (let turn = 0; !this.#isOver; turn++) {
      const web = this.#web[turn % this.#web.length]!
      const answer = await this.#ask(holder.customer, web)
      if (answer?.isGranted) {
        const report = this.ledger.report(randomUUID(), holder.customer, 1)
        for (let tries = 1; report.fate === 'open' && Date.now() < this.#giveUpAt; tries++) {
          const { kind } = await this.#send(report, web)
          if (kind === 'refused' && tries === 1) report.fate = 'refused'
          if (kind === 'unknown') await sleep(Math.min(100 * tries, mostRetryMs))
        }
      }
      await sleep(pauseMs)
    }
  }

  /** One after the other. Every third is to be paid when it ends; the others end with it. */
  async #beginTrials(): Promise<void> {
    for (let turn = 0; !this.#isOver; turn++) {
      await sleep(trialEveryMs)
      const role = turn % 3 === 0 ? 'converting' : 'trial'
      const customer = `${this.prefix}-${role}-${turn}`
      const endsAt = Date.now() + trialMs
      const trialOverrideConfiguration = {
        isTrial: true,
        trialEndDate: new Date(endsAt).toISOString(),
        trialEndBehavior: role === 'trial' ? 'CANCEL_SUBSCRIPTION' : 'CONVERT_TO_PAID',
      }
      const { kind } = await this.#provision(this.#web[turn % this.#web.length]!, customer, { planId: 'pro', trialOverrideConfiguration })
      this.ledger.answers[kind] += 1
      // One of which nobody knows whether it began is nobody's.
      if (kind !== 'acknowledged') continue
      const end = { plan: role === 'trial' ? 'free' : 'pro', begunAt: endsAt - instantMs, doneAt: endsAt + instantMs, isByTime: true }
      this.ledger.holders.push({ customer, role, steps: [{ plan: 'pro', begunAt: 0, doneAt: Date.now() }, end] })
    }
  }

  async #changePlans({ customer, steps }: Holder): Promise<void> {
    for (let turn = 0; !this.#isOver; turn++) {
      await sleep(changeEveryMs)
      const planId = steps.at(-1)!.plan === 'basic' ? 'pro' : 'basic'
      const step: Holder['steps'][number] = { plan: planId, begunAt: Date.now(), doneAt: null }
      steps.push(step)
      for (let tries = 1; step.doneAt === null && Date.now() < this.#giveUpAt; tries++) {
        const input = { customerId: customer, planId, scheduleStrategy: 'IMMEDIATE', trialOverrideConfiguration: { isTrial: false } }
        const { kind } = await this.#web[(turn + tries) % this.#web.length]!.call(provisionPlan, { input })
        this.ledger.answers[kind] += 1
        if (kind === 'acknowledged') step.doneAt = Date.now()
        else await sleep(Math.min(100 * tries, mostRetryMs))
      }
    }
  }
}

/** The same event each time it is sent. */
const toInput = ({ key, customer, occurredAt }: SentEvent) => ({
  customerId: customer,
  eventName: 'completion',
  idempotencyKey: key,
  dimensions: { tokens: 1 },
  ...(occurredAt !== null && { timestamp: new Date(occurredAt).toISOString() }),
})
