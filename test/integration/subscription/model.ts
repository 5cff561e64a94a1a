/**
 * What a customer should hold, told again in the fewest words: one product, four plans, and for each place (the customer, or a resource) at most one
 * paid, free or custom subscription, one trial, and one that is yet to start. What it is to pay is in model-money.ts.
 */
import { type Bought, collectionMs, type Document, Money, monthlyPrice, type Outcome, type PaidPlan, type Standing } from './model-money.js'

export const plans = ['free', 'basic', 'top', 'custom'] as const
export type Plan = (typeof plans)[number]

export interface Rules {
  downgradesToFree: boolean
  downgradesLater: boolean
  cancelsLater: boolean
  allowsSeveral: boolean
  trialDays: Record<Plan, number | null>
  trialConverts: boolean
}

export type Strategy = 'IMMEDIATE' | 'END_OF_BILLING_PERIOD' | null

/** Null: what is not said. */
export interface Request {
  plan: Plan
  seats: number
  skipTrial: boolean
  startAt: number | null
  strategy: Strategy
}

export interface Held extends Bought {
  plan: Plan
  resource: string | null
  start: number
  /** What months are counted from. */
  anchor: number
  /** Of the month that is paid for; null: nothing is. */
  monthEnd: number | null
  isTrial: boolean
  hadTrial: boolean
  hasPaid: boolean
  trialEnd: number
  endsAt: number | null
  /** Until `at`: another plan, and another number of seats. */
  change: { plan: Plan; seats: number; at: number } | null
  seatsLater: { seats: number; at: number } | null
  /** When it ended because nobody paid for it. */
  givenUpAt: number | null
}

interface Place {
  active: Held | null
  trial: Held | null
  upcoming: Held | null
}

type Kind = keyof Place

/** Thrown for what has to be refused. */
export class Refused extends Error {}

const day = 86_400_000
const rank = (plan: Plan) => plans.indexOf(plan)
export const isPaid = (plan: Plan): plan is PaidPlan => plan === 'basic' || plan === 'top'

function monthEnd(anchor: number, now: number): number {
  for (let n = 1; ; n += 1) {
    const date = new Date(anchor)
    date.setUTCMonth(date.getUTCMonth() + n, 1)
    const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate()
    date.setUTCDate(Math.min(new Date(anchor).getUTCDate(), last))
    if (date.getTime() > now) return date.getTime()
  }
}

const newlyHeld = ({ plan, seats }: Pick<Request, 'plan' | 'seats'>, resource: string | null, start: number): Held => ({
  plan,
  seats,
  resource,
  start,
  anchor: start,
  monthEnd: null,
  isTrial: false,
  hadTrial: false,
  hasPaid: false,
  trialEnd: 0,
  endsAt: null,
  change: null,
  seatsLater: null,
  givenUpAt: null,
  standing: null,
  used: 0,
  begun: [],
  creditsAtEnd: false,
})

export class Model {
  readonly places = new Map<string | null, Place>()
  readonly money = new Money()
  /** All that were asked for, and when they ended: see `#isTrialUsed`. */
  readonly #ever: { held: Held; endedAt: number | null }[] = []

  constructor(
    readonly rules: Rules,
    public now: number,
  ) {}

  place(resource: string | null): Place {
    const place = this.places.get(resource) ?? { active: null, trial: null, upcoming: null }
    this.places.set(resource, place)
    return place
  }

  /** At one instant, of several places the one whose subscription is older. */
  pass(until: number): void {
    for (;;) {
      const due = [...this.places].flatMap(([resource, place]) => this.#dueIn(resource, place))
      const givenUp = this.money.firstFailed()
      if (givenUp) due.push({ at: givenUp.failedAt! + collectionMs, order: 7, start: 0, run: (at) => this.#giveUp(givenUp, at) })
      const [next] = due.filter(({ at }) => at <= until).sort((a, b) => a.at - b.at || a.order - b.order || a.start - b.start)
      if (!next) break
      next.run(next.at)
    }
    this.now = until
  }

  #dueIn(resource: string | null, { active, trial, upcoming }: Place) {
    const due: { at: number | null | undefined; order: number; held: Held; run: (at: number) => void }[] = []
    const { trialConverts } = this.rules
    if (active) {
      due.push({
        at: active.endsAt,
        order: 0,
        held: active,
        run: (at) => this.#end(resource, 'active', at, { isFollowed: true, isCredited: active.creditsAtEnd }),
      })
      due.push({ at: active.change?.at, order: 4, held: active, run: (at) => this.#change(resource, active, at) })
      due.push({ at: active.seatsLater?.at, order: 5, held: active, run: (at) => this.#changeSeats(active, at) })
      due.push({ at: active.monthEnd, order: 6, held: active, run: (at) => this.#renew(active, at) })
    }
    if (trial && trialConverts) due.push({ at: trial.trialEnd, order: 2, held: trial, run: (at) => this.#convert(resource, trial, at) })
    if (trial && !trialConverts)
      due.push({ at: trial.trialEnd, order: 1, held: trial, run: (at) => this.#end(resource, 'trial', at, { isFollowed: true }) })
    if (upcoming) due.push({ at: upcoming.start, order: 3, held: upcoming, run: (at) => this.#start(resource, upcoming, at) })
    return due.flatMap(({ at, order, held, run }) => (typeof at === 'number' ? [{ at, order, start: held.start, run }] : []))
  }

  provision(request: Request, resource: string | null): void {
    const { rules, now } = this
    const { plan, seats, skipTrial, startAt, strategy } = request
    const others = [...this.places].filter(([other]) => other !== resource)
    if (!rules.allowsSeveral && others.some(([, { active, trial }]) => active || trial)) throw new Refused()
    const place = this.place(resource)
    const { active } = place
    if (active?.plan === plan && startAt === null) {
      if (isPaid(plan) && active.seats !== seats) this.changeSeats(active, seats, strategy)
      return
    }
    const days = rules.trialDays[plan]
    const isTrial = days !== null && !skipTrial && !this.#isTrialUsed()
    if (isTrial && active?.plan === plan) throw new Refused()
    if (active && !isTrial && startAt === null && active.monthEnd !== null) {
      const isLess =
        isPaid(plan) && isPaid(active.plan)
          ? monthlyPrice(plan, seats) < monthlyPrice(active.plan, active.seats)
          : rank(plan) < rank(active.plan)
      if (strategy === 'END_OF_BILLING_PERIOD' || (strategy === null && isLess && rules.downgradesLater)) {
        active.change = { plan, seats, at: active.monthEnd }
        active.seatsLater = null
        return
      }
    }
    const held = newlyHeld(request, resource, startAt ?? now)
    if (isTrial) Object.assign(held, { isTrial, hadTrial: true, trialEnd: held.start + days * day })
    if (startAt !== null) {
      if (place.upcoming) this.#end(resource, 'upcoming', now)
      place.upcoming = held
      this.#ever.push({ held, endedAt: null })
      return
    }
    this.#ever.push({ held, endedAt: null })
    this.#takePlace(resource, held, now)
  }

  /** Of what is sold by the seat: fewer may wait, as many as there are take back what waits. */
  changeSeats(held: Held | null, seats: number, strategy: Strategy): void {
    if (!held || !isPaid(held.plan)) throw new Refused()
    held.seatsLater = null
    if (seats === held.seats) return
    const isLater = strategy === 'END_OF_BILLING_PERIOD' || (strategy === null && seats < held.seats && this.rules.downgradesLater)
    if (isLater) {
      held.seatsLater = { seats, at: held.monthEnd! }
      return
    }
    held.seats = seats
    this.money.change(held, this.now)
  }

  cancel(resource: string | null, kind: Kind, time: Strategy, { prorate }: { prorate: boolean }): void {
    const held = this.place(resource)[kind]
    if (!held) throw new Refused()
    const isLater = time === null ? kind === 'active' && held.plan !== 'free' && this.rules.cancelsLater : time === 'END_OF_BILLING_PERIOD'
    if (isLater && (kind !== 'active' || held.monthEnd === null)) throw new Refused()
    if (isLater) {
      held.endsAt = held.monthEnd
      held.creditsAtEnd = prorate
    } else this.#end(resource, kind, this.now, { isFollowed: true, isCredited: prorate })
  }

  undo(resource: string | null): void {
    const { active } = this.place(resource)
    if (!active) throw new Refused()
    Object.assign(active, { endsAt: null, change: null, seatsLater: null, creditsAtEnd: false })
  }

  /** Time after an end for want of payment is paid by nobody any more. */
  settle(document: Document, outcome: Outcome): void {
    const { givenUpAt } = document.held as Held
    this.money.settle(document, outcome, { now: this.now, isRefused: givenUpAt !== null && document.until > givenUpAt })
  }

  /** Counted for who pays for them: the customer for all, a resource for its own. */
  use(count: number, resource: string | null): void {
    for (const [of, { active }] of this.places) if (active && isPaid(active.plan) && (of === null || of === resource)) active.used += count
  }

  inForce(): string[] {
    return [...this.places].flatMap(([resource, { active, trial }]) => [
      ...(active ? [`${resource} ${active.plan} ACTIVE ${this.#payment(active)} until ${active.endsAt}`] : []),
      ...(trial ? [`${resource} ${trial.plan} IN_TRIAL NOT_REQUIRED until ${this.rules.trialConverts ? null : trial.trialEnd}`] : []),
    ])
  }

  #payment(held: Held): string {
    return this.money.documents.some((document) => document.held === held && document.state === 'failed') ? 'FAILED' : 'NOT_REQUIRED'
  }

  /** All that count for a place; none: no access. */
  serving(resource: string | null): Held[] {
    const own = resource === null ? [] : [this.place(resource)]
    return [this.place(null), ...own].flatMap(({ active, trial }) => [active, trial].flatMap((one) => (one ? [one] : [])))
  }

  #isTrialUsed(): boolean {
    return this.#ever.some(({ held, endedAt }) => {
      const hasBegun = endedAt === null || endedAt > held.start
      return hasBegun && (held.hadTrial || held.hasPaid || (held.plan !== 'free' && held.start <= this.now))
    })
  }

  #end(resource: string | null, kind: Kind, at: number, { isFollowed = false, isCredited = false } = {}): void {
    const place = this.place(resource)
    const held = place[kind]!
    place[kind] = null
    for (const ever of this.#ever) if (ever.held === held) ever.endedAt = at
    if (kind === 'active') this.money.end(held, at, { isCredited })
    if (!isFollowed || !this.rules.downgradesToFree || held.plan === 'free') return
    const serving = resource === null ? [place] : [place, this.place(null)]
    if (serving.some(({ active, trial, upcoming }) => active || trial || (upcoming && upcoming.start <= at))) return
    place.active = newlyHeld({ plan: 'free', seats: 1 }, resource, at)
  }

  /** What begins now takes the place of its like, and of a trial of its plan. */
  #takePlace(resource: string | null, held: Held, at: number): void {
    const place = this.place(resource)
    if (held.isTrial) {
      if (place.trial) this.#end(resource, 'trial', at)
      place.trial = held
      return
    }
    const replaced = place.active
    const standing: Standing | null = replaced?.standing ?? null
    // What is not sold by the month has no invoice of its own to give anything back with.
    if (replaced) this.#end(resource, 'active', at, { isCredited: !isPaid(held.plan) })
    if (place.trial?.plan === held.plan) this.#end(resource, 'trial', at)
    place.active = held
    if (!isPaid(held.plan)) return
    held.monthEnd = monthEnd(held.anchor, at)
    this.money.begin(held, { start: at, end: held.monthEnd }, standing)
  }

  #convert(resource: string | null, trial: Held, at: number): void {
    this.place(resource).trial = null
    Object.assign(trial, { isTrial: false, anchor: at })
    this.#takePlace(resource, trial, at)
  }

  #start(resource: string | null, upcoming: Held, at: number): void {
    this.place(resource).upcoming = null
    this.#takePlace(resource, upcoming, at)
  }

  #change(resource: string | null, active: Held, at: number): void {
    const { plan, seats } = active.change!
    this.money.close(active, at)
    // Months go on from their anchor unless there are none any more.
    Object.assign(active, { plan, seats, change: null, hasPaid: true, ...(!isPaid(plan) && { anchor: at, monthEnd: null }) })
    const { trial } = this.place(resource)
    if (trial?.plan === plan) this.#end(resource, 'trial', at)
  }

  #changeSeats(active: Held, at: number): void {
    const { seats } = active.seatsLater!
    active.seatsLater = null
    // Nobody buys seats of it any more.
    if (!isPaid(active.plan)) return
    this.money.close(active, at)
    active.seats = seats
  }

  #renew(active: Held, at: number): void {
    active.monthEnd = monthEnd(active.anchor, at)
    this.money.renew(active, { start: at, end: active.monthEnd })
  }

  #giveUp(document: Document, at: number): void {
    this.money.die(document)
    const held = document.held as Held
    if (this.place(held.resource).active !== held) return
    held.givenUpAt = at
    this.#end(held.resource, 'active', at, { isFollowed: true, isCredited: held.creditsAtEnd })
  }
}
