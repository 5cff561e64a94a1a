import { Problem } from '../../kernel/problem.js'

/** Of one subscription: it is executed for each change. The largest of known clients costs about a third of it. */
export const maxSubscriptionCost = 2_000
/** Of all subscriptions on one socket. */
export const maxSocketCost = 20_000
/** Of one that begins with what was missed, beside its own cost: until that is told it holds some of it. A client has one at a time. */
export const catchUpCost = 8_000
/** Of the different documents that one customer's browsers listen to at a time. */
export const maxCustomerCost = 10_000
/** Of those that an environment's server keys listen to. */
export const maxEnvironmentCost = 50_000
/** A parsed document takes some hundred bytes for as many characters as a field has. */
const charactersPerField = 10

/** What a subscription costs: fields of its answer, and the memory of its document. */
export const costOfSubscription = (fields: number, query: string): number => Math.ceil(fields + query.length / charactersPerField)

/** The sums of what is listened to, by whose memory and time it takes. What is listened to several times counts once. */
export class SubscriptionCosts {
  readonly #owners = new Map<string, Owner>()

  /** Answers what gives it back, once. Fails with RESOURCE_EXHAUSTED when the owner's sum would be over `most`. */
  take(owner: string, most: number, { name, cost }: { name: string; cost: number }): () => void {
    const known = this.#owners.get(owner) ?? { sum: 0, listened: new Map<string, number>() }
    const times = known.listened.get(name) ?? 0
    if (times === 0 && known.sum + cost > most) throw tooMuch(known.sum + cost, most)
    if (times === 0) known.sum += cost
    known.listened.set(name, times + 1)
    this.#owners.set(owner, known)
    return () => {
      const left = known.listened.get(name)! - 1
      if (left > 0) known.listened.set(name, left)
      else {
        known.listened.delete(name)
        known.sum -= cost
      }
      if (known.listened.size === 0) this.#owners.delete(owner)
    }
  }
}

interface Owner {
  sum: number
  listened: Map<string, number>
}

const tooMuch = (cost: number, most: number) =>
  new Problem(
    'RESOURCE_EXHAUSTED',
    'RATE_LIMIT_EXCEEDED',
    `All that is listened to would cost ${cost}, at most ${most} is taken: end other subscriptions, or ask for fewer fields.`,
  )
