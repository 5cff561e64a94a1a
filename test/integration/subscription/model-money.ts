/**
 * What is charged for what is held, and what becomes of it, in cents and told as one would by hand: what was charged in advance, what of it was not used,
 * and how each invoice was paid. It shares no arithmetic with the product.
 */
import { rounded, unused } from '../billing/estimate-is-invoice/naive-price.js'

export type PaidPlan = 'basic' | 'top'

/** A month, a seat in it, and ten requests or fewer. */
export const prices: Record<PaidPlan, { flat: number; seat: number; unit: number }> = {
  basic: { flat: 1_000, seat: 333, unit: 50 },
  top: { flat: 3_000, seat: 500, unit: 70 },
}
export const requestsPerUnit = 10
/** Missing for so long, a payment is given up. */
export const collectionMs = 14 * 86_400_000

export const monthlyPrice = (plan: PaidPlan, seats: number): number => prices[plan].flat + seats * prices[plan].seat

/** What was charged in advance. */
export interface Standing {
  start: number
  end: number
  gross: number
  net: number
  charge: Document
}

/** What of a subscription money knows. */
export interface Bought {
  plan: string
  seats: number
  resource: string | null
  standing: Standing | null
  /** Requests since the last invoice of them. */
  used: number
  /** When its months began: by them coupons are counted. */
  begun: number[]
  /** What is not used when it ends is given back. */
  creditsAtEnd: boolean
}

export interface Document {
  held: Bought
  at: number
  /** Up to when it charges for time. */
  until: number
  total: number
  due: number
  /** What of `due` less `total` was not on the invoice itself. */
  applied: number
  state: 'open' | 'paid' | 'failed' | 'dead'
  hasFailed: boolean
  failedAt: number | null
  /** Of what it charged: given back, and to be given back when it is paid. */
  given: number
  waiting: number
}

export interface Coupon {
  refId: string
  percent: number
  months: number | null
  since: number
}

export type Outcome = 'paid' | 'failed' | 'failed, then paid' | 'taken back' | 'taken back, then paid' | 'paid, then refunded'

export class Money {
  readonly documents: Document[] = []
  /** Below 0: it is owed. */
  balance = 0
  coupon: Coupon | null = null

  /** `replaced`: what was charged for what ends with it. */
  begin(held: Bought, month: { start: number; end: number }, replaced: Standing | null): void {
    held.used = 0
    held.begun.push(month.start)
    this.#charge(held, { before: replaced, at: month.start, month, isWhole: true })
  }

  /** Other seats within the month. */
  change(held: Bought, at: number): void {
    const { standing } = held
    this.#charge(held, { before: standing, at, month: standing!, isWhole: false })
  }

  renew(held: Bought, month: { start: number; end: number }): void {
    held.begun.push(month.start)
    const gross = this.#gross(held)
    const off = (amount: number) => this.#off(amount, held, month.start)
    const total = gross + this.#usage(held) - off(gross + this.#usage(held))
    held.used = 0
    held.standing = { ...month, gross, net: gross - off(gross), charge: this.#make(held, { at: month.start, until: month.end, total }) }
  }

  /** The month is over and what comes next is another thing: its usage is invoiced. */
  close(held: Bought, at: number): void {
    const { standing } = held
    held.standing = null
    if (!standing) return
    const usage = this.#usage(held)
    const chargedFrom = at < standing.end ? held.begun.at(-1)! : at
    const off = (amount: number) => this.#off(amount, held, at, chargedFrom)
    held.used = 0
    if (usage > 0) this.#make(held, { at, until: at, total: usage - (off(standing.gross + usage) - off(standing.gross)) })
  }

  end(held: Bought, at: number, { isCredited }: { isCredited: boolean }): void {
    const { standing } = held
    if (standing && isCredited) {
      const left = this.#left(standing, at)
      const isGiven = left.gross > 0 && this.#fund(standing) === 'given'
      if (isGiven) this.#make(held, { at, until: at, total: -left.net, credit: { charge: standing.charge, amount: left.net } })
      if (this.#fund(standing) === 'waits') standing.charge.waiting += left.net
    }
    this.close(held, at)
  }

  settle(document: Document, outcome: Outcome, { now, isRefused }: { now: number; isRefused: boolean }): void {
    const { state } = document
    // What is paid stays so, also where there was nothing to pay.
    if (document.due > 0 && state !== 'paid' && state !== 'dead') {
      if (outcome.startsWith('failed')) Object.assign(document, { state: 'failed', hasFailed: true, failedAt: document.failedAt ?? now })
      if (outcome.startsWith('taken back')) this.die(document)
      else if (outcome.includes('paid')) this.#pay(document, { isRefused })
    }
    if (outcome === 'paid, then refunded' && document.due > 0) this.die(document)
  }

  firstFailed(): Document | undefined {
    return this.documents.filter(({ state }) => state === 'failed').sort((a, b) => a.failedAt! - b.failedAt!)[0]
  }

  /** What it took of the balance comes back, and what was given back of what it charged goes. */
  die(document: Document): void {
    if (document.state === 'dead') return
    this.balance -= document.applied + document.given
    Object.assign(document, { state: 'dead', failedAt: null, given: 0, waiting: 0 })
  }

  /** `isRefused`: the payment is given back. */
  #pay(document: Document, { isRefused }: { isRefused: boolean }): void {
    this.balance += document.waiting
    Object.assign(document, { state: 'paid', failedAt: null, given: document.given + document.waiting, waiting: 0 })
    if (isRefused) this.die(document)
  }

  #charge(
    held: Bought,
    { before, at, month, isWhole }: { before: Standing | null; at: number; month: { start: number; end: number }; isWhole: boolean },
  ): void {
    const gross = this.#gross(held)
    const standing = { start: month.start, end: month.end, gross, net: gross - this.#off(gross, held, at) }
    const charged = isWhole ? standing.net : this.#left(standing, at).net
    const amount = before ? this.#left(before, at).net : 0
    const fund = before && amount > 0 ? this.#fund(before) : 'never'
    if (fund === 'waits') before!.charge.waiting += amount
    const credit = fund === 'given' ? { charge: before!.charge, amount } : undefined
    held.standing = { ...standing, charge: this.#make(held, { at, until: month.end, total: charged - (credit?.amount ?? 0), credit }) }
  }

  #make(
    held: Bought,
    { at, until, total, credit }: { at: number; until: number; total: number; credit?: { charge: Document; amount: number } },
  ): Document {
    const due = total > 0 ? Math.max(total - this.balance, 0) : 0
    const applied = due - total - (credit?.amount ?? 0)
    if (credit) credit.charge.given += credit.amount
    this.balance += due - total
    const state = due > 0 ? 'open' : 'paid'
    this.documents.push({ held, at, until, total, due, applied, state, hasFailed: false, failedAt: null, given: 0, waiting: 0 })
    return this.documents.at(-1)!
  }

  #gross({ plan, seats }: Bought): number {
    return monthlyPrice(plan as PaidPlan, seats)
  }

  #usage({ plan, used }: Bought): number {
    return Math.ceil(used / requestsPerUnit) * prices[plan as PaidPlan].unit
  }

  #left({ start, end, gross, net }: Pick<Standing, 'start' | 'end' | 'gross' | 'net'>, at: number): { gross: number; net: number } {
    const left = (amount: number) => (at < end ? Number(unused(BigInt(amount), { start, end }, at)) : 0)
    return { gross: left(gross), net: left(net) }
  }

  #fund({ charge: { state, hasFailed } }: Standing): 'given' | 'waits' | 'never' {
    if (state === 'dead') return 'never'
    return state !== 'paid' && hasFailed ? 'waits' : 'given'
  }

  /** What the coupon of now takes off an invoice of a subscription, of whose month it is that began at `chargedFrom`. */
  #off(amount: number, { begun }: Bought, at: number, chargedFrom = begun.at(-1) ?? at): number {
    const { coupon } = this
    if (!coupon || at < coupon.since) return 0
    const months = begun.filter((start) => start >= coupon.since && start < chargedFrom).length
    if (coupon.months !== null && (chargedFrom < coupon.since || months >= coupon.months)) return 0
    return Number(rounded(BigInt(amount * coupon.percent), 100n))
  }
}
