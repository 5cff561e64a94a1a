import { expect } from 'chai'
import fc from 'fast-check'
import { Problem } from '../../../src/kernel/problem.js'
import { type MeteringBench, openMeteringBench } from '../metering/fixture.js'
import { isPaid, Model, Refused, type Rules } from './model.js'
import { type Action, anyCommand, anyRules, type Command, catalogOf, coupons, limits } from './model-commands.js'
import { type Bill, type MadeEntry, World } from './model-world.js'

const hour = 3_600_000
const begin = Date.UTC(2044, 0, 1)
/** After the last step. */
const restMs = 40 * 24 * hour
/** Fewer in a run of all tests; MODEL_RUNS=1000 for the whole of it. */
const runs = Number(process.env.MODEL_RUNS ?? 6)
/** The few of a run of all tests are the same each time: what is found by chance belongs to who looks for it, with MODEL_RUNS. */
const chosenSeed = process.env.MODEL_RUNS ? undefined : -1693720381
/** What a run that failed is started again with; MODEL_SHRINK=1 looks for a smaller one. */
const replay = { seed: process.env.MODEL_SEED ? Number(process.env.MODEL_SEED) : chosenSeed, path: process.env.MODEL_PATH }

describe('whatever is asked for, and whenever', function () {
  this.timeout(Math.max(120_000, runs * 60_000))
  let bench: MeteringBench

  before(async () => {
    // What waits to be counted is counted by whom the sequence says.
    bench = await openMeteringBench({ limits: { maxWaitingJobs: 1_000_000, maxRedisBytes: null } })
    bench.startIngestion()
  })
  after(async () => expect(await bench.close()).to.deep.equal([]))

  it(`${runs} sequences: what is held, charged and given back is what a page of rules says, previews are what comes, and in steps it comes to the same`, async () => {
    const property = fc.asyncProperty(anyRules, fc.array(anyCommand, { minLength: 4, maxLength: 11 }), play)
    const startedAt = Date.now()
    const result = await fc.check(property, { numRuns: runs, ...replay, endOnFailure: process.env.MODEL_SHRINK === undefined })
    if (runs > 100) console.log(`      ${result.numRuns} in ${((Date.now() - startedAt) / 1_000).toFixed(0)} s, seed ${result.seed}`)
    if (!result.failed) return
    const command = `MODEL_SEED=${result.seed} MODEL_PATH=${result.counterexamplePath} npm test -- integration/subscription/model`
    throw new Error(`${shown(result.errorInstance)}\n${fc.stringify(result.counterexample)}\nagain with: ${command}`)
  })

  async function play(rules: Rules, commands: Command[]): Promise<void> {
    const worlds = await Promise.all([0, 1].map(() => World.open(bench, catalogOf(rules), begin)))
    const ways = [checked(worlds[0]!, rules, commands), inSteps(worlds[1]!, commands)]
    for (const way of await Promise.allSettled(ways)) if (way.status === 'rejected') throw way.reason
    const [records, steppingRecords] = await Promise.all(worlds.map((world) => world.records()))
    expect(steppingRecords, 'in steps').to.deep.equal(records)
  }

  async function checked(world: World, rules: Rules, commands: Command[]): Promise<void> {
    const model = new Model(rules, begin)
    const checks = new Checks(bench, model, world)
    for (const { jumpHours, isWorkerDown, requests, requestsOf, isCounted, action } of commands) {
      const now = model.now + jumpHours * hour
      // A payment that is missing ends nothing while nobody looks for it.
      const hasFailed = model.money.firstFailed() !== undefined
      const isDown = isWorkerDown && !hasFailed
      const previews = isDown || !checks.isRecorded || hasFailed ? null : await world.previews()
      const invoiced = model.money.documents.length
      await (isDown ? world.pass(now) : world.advance(now))
      checks.isRecorded = !isDown
      model.pass(now)
      await checks.check('after a jump', { isAccessKnown: !isDown })
      if (previews) await checks.checkPreviews(previews, invoiced)

      const resource = await world.known(requestsOf)
      await world.use(requests, resource)
      model.use(requests, resource)
      if (isCounted) await world.count()

      const estimate = await world.estimate(action).catch(whenRefused)
      const known = model.money.documents.length
      const isRefused = await refuses(() => act(model, action))
      expect(await refuses(() => world.act(action)), `refusal of ${JSON.stringify(action)}`).to.equal(isRefused)
      if (!isRefused && action.do !== 'wait' && action.do !== 'coupon') checks.isRecorded = true
      await checks.check(JSON.stringify(action))
      if (estimate) await checks.checkEstimate(estimate, known)
    }
    await world.advance(model.now + restMs)
    model.pass(world.now)
    checks.isRecorded = true
    await checks.check('in the end')
  }

  async function inSteps(world: World, commands: Command[]): Promise<void> {
    for (const { jumpHours, stops, requests, requestsOf, action } of commands) {
      const now = world.now + jumpHours * hour
      const early = stops.map((hours) => now - hours * hour).filter((at) => at > world.now)
      for (const at of [...early.sort((a, b) => a - b), now]) await world.advance(at)
      await world.use(requests, await world.known(requestsOf))
      await refuses(() => world.act(action))
    }
    await world.advance(world.now + restMs)
  }
})

/** After each step. */
class Checks {
  /** What time has brought. */
  isRecorded = true
  readonly #bench: MeteringBench
  readonly #model: Model
  readonly #world: World
  #version = 0
  readonly #ended = new Map<string, string>()

  constructor(bench: MeteringBench, model: Model, world: World) {
    this.#bench = bench
    this.#model = model
    this.#world = world
  }

  /** `isAccessKnown`: as it is recorded it is looked at after the next step. */
  async check(when: string, { isAccessKnown = false } = {}): Promise<void> {
    const { environmentId } = this.#world
    const held = await this.#bench.app.subscriptionReads.active(environmentId, { customerRefId: 'acme' })
    const inForce = held.map(({ resource, plan, status, paymentCollection, effectiveEndDate, trialEndDate, trialEndBehavior }) => {
      const end = status === 'IN_TRIAL' && trialEndBehavior !== 'CONVERT_TO_PAID' ? trialEndDate : effectiveEndDate
      return `${resource?.refId ?? null} ${plan.refId} ${status} ${paymentCollection} until ${end}`
    })
    expect(inForce.sort(), when).to.deep.equal(this.#model.inForce().sort())
    if (!isAccessKnown)
      for (const resource of new Set([null, await this.#world.known('r1')])) await this.#checkAccess(resource, `${when}: ${resource}`)
    if (this.isRecorded) await this.#checkMoney(when)
    const version = await this.#world.version()
    expect(version, `${when}: version`).to.be.at.least(this.#version)
    this.#version = version
    for (const [id, end] of await this.#world.ended()) {
      expect(this.#ended.get(id) ?? end, `${when}: what has ended stays as it is`).to.equal(end)
      this.#ended.set(id, end)
    }
    expect(await this.#world.overlaps(), `${when}: periods tile`).to.equal(0)
  }

  /** The best plan gives the calls, and as many seats may be used as are bought. */
  async #checkAccess(resource: string | null, when: string): Promise<void> {
    const state = await this.#bench.app.entitlements.state(this.#world.environmentId, 'acme', resource)
    const serving = this.#model.serving(resource)
    expect(state.deniedReason, when).to.equal(serving.length > 0 ? null : 'NoActiveSubscription')
    const limitOf = (refId: string) => state.entitlements.find(({ feature }) => feature.refId === refId)?.usageLimit
    const best = (amounts: number[]) => (amounts.length > 0 ? String(Math.max(...amounts)) : undefined)
    expect(limitOf('calls'), when).to.equal(best(serving.map(({ plan }) => Number(limits[plan]))))
    expect(limitOf('seats'), when).to.equal(best(serving.flatMap(({ plan, seats }) => (isPaid(plan) ? [seats] : []))))
  }

  async #checkMoney(when: string): Promise<void> {
    const [invoices, entries] = await Promise.all([this.#world.invoices(), this.#world.entries()])
    const { documents, balance } = this.#model.money
    const told = (one: { at: number; total: number; due: number }) => `${new Date(one.at).toISOString()} ${one.total}, due ${one.due}`
    expect(invoices.map(told), `${when}: invoices`).to.deep.equal(documents.map(told))
    const sum = (isOfIt: (entry: MadeEntry) => boolean) => entries.filter(isOfIt).reduce((total, { amount }) => total + amount, 0)
    expect(
      sum(({ kind }) => kind !== 'WAITING' && kind !== 'DROPPED'),
      `${when}: balance`,
    ).to.equal(balance)
    for (const [index, { id, total }] of invoices.entries()) {
      const charged = total + sum(({ kind, invoiceId }) => kind === 'CREDIT' && invoiceId === id)
      const given = sum(({ kind, chargeId }) => chargeId === id && ['CREDIT', 'RELEASED', 'REVERSED'].includes(kind))
      expect(given, `${when}: credit for what was paid`).to.be.within(0, documents[index]!.state === 'dead' ? 0 : charged)
    }
  }

  /** Of the first instant that made any, all. */
  async checkPreviews(previews: ReadonlyMap<string, Bill>, known: number): Promise<void> {
    const made = (await this.#world.invoices()).slice(known)
    for (const [id, preview] of previews) {
      const own = made.filter(({ subscriptionId }) => subscriptionId === id)
      if (own.length > 0) expect(billOf(own.filter(({ at }) => at === own[0]!.at)), 'the next invoice').to.deep.equal(preview)
    }
  }

  async checkEstimate(estimate: Bill, known: number): Promise<void> {
    const made = (await this.#world.invoices()).slice(known)
    expect(billOf(made), 'the estimate').to.deep.equal(estimate)
  }
}

function billOf(invoices: readonly Bill[]): Bill {
  const sum = (amounts: number[]) => amounts.reduce((total, amount) => total + amount, 0)
  return {
    total: sum(invoices.map(({ total }) => total)),
    due: sum(invoices.map(({ due }) => due)),
    lines: invoices.flatMap(({ lines }) => lines),
  }
}

function act(model: Model, action: Action): void {
  const { places, money, now } = model
  if (action.do === 'provision') {
    const startAt = action.startInDays > 0 ? now + action.startInDays * 24 * hour : null
    model.provision({ ...action, startAt }, action.resource)
  } else if (action.do === 'seats') model.changeSeats(places.get(action.resource)?.active ?? null, action.seats, action.strategy)
  else if (action.do === 'cancel') model.cancel(action.resource, action.kind, action.time, action)
  else if (action.do === 'undo') model.undo(action.resource)
  else if (action.do === 'settle') {
    const document = money.documents.at(-1 - action.invoice)
    if (document) model.settle(document, action.outcome)
  } else if (action.do === 'coupon') {
    const coupon = action.coupon === null ? null : coupons[action.coupon]!
    // Given once more it goes on.
    if (coupon?.refId !== money.coupon?.refId) money.coupon = coupon && { ...coupon, since: now }
  }
}

/** With what differs. */
function shown(error: unknown): string {
  const { actual, expected } = error as { actual?: unknown; expected?: unknown }
  const text = (value: unknown) => JSON.stringify(value, null, 1)
  return actual === undefined ? String((error as Error).stack) : `${String(error)}\nactual ${text(actual)}\nexpected ${text(expected)}`
}

function whenRefused(error: unknown): null {
  if (error instanceof Refused || (error instanceof Problem && error.code !== 'INTERNAL')) return null
  throw error
}

async function refuses(work: () => void | Promise<void>): Promise<boolean> {
  try {
    await work()
    return false
  } catch (error) {
    if (process.env.MODEL_DEBUG) console.error(error)
    whenRefused(error)
    return true
  }
}
