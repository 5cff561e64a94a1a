/** Compares what the receiver of webhooks has heard with what was recorded, what has happened, and thresholds that were reached. Pure. */
import type { Facts, Finding } from './checker.js'
import { type Ledger, limitOf } from './load/ledger.js'
import { alertThresholds } from './stage/catalog.js'

/** An event that the receiver is to hear of. */
export interface RecordedEvent {
  id: string
  type: string
  customer: string
  /** Among the events of its customer. */
  index: number
  /** That were recorded. */
  attempts: number
}

/** A request of the platform. */
export interface HeardEvent extends Omit<RecordedEvent, 'attempts'> {
  /** What it happened to, beside the customer: a subscription, or a threshold (`calls AMOUNT 5`). */
  about: string
  isSigned: boolean
}

export interface Told {
  recorded: readonly RecordedEvent[]
  /** In the order in which they came. */
  heard: readonly HeardEvent[]
}

export function findUntold(ledger: Ledger, facts: Facts): Finding[] {
  const { heard, recorded } = facts.told
  const signed = heard.filter(({ isSigned }) => isSigned)
  const heardIds = new Set(signed.map(({ id }) => id))
  const recordedIds = new Set(recorded.map(({ id }) => id))
  return [
    ...counted('lost', 'events recorded and not delivered', recorded.filter(({ id }) => !heardIds.has(id)).map(inWords)),
    ...counted('doubled', 'events told again under another id', toldAgain(signed).map(inWords)),
    ...counted('wrong', 'events heard that are not recorded', signed.filter(({ id }) => !recordedIds.has(id)).map(inWords)),
    ...counted('wrong', 'webhooks whose signature is not right', heard.filter(({ isSigned }) => !isSigned).map(inWords)),
    ...counted('wrong', 'events heard before an earlier one of their customer', outOfOrder(signed, recorded).map(inWords)),
    ...counted('lost', 'changes of which nothing was told', untoldChanges(ledger, facts, signed)),
    ...findThresholds(ledger, facts, signed),
  ]
}

const inWords = ({ type, customer, index }: Omit<RecordedEvent, 'attempts'>) => `${type} of ${customer}, number ${index}`

const counted = (kind: Finding['kind'], what: string, which: readonly string[]): Finding[] =>
  which.length === 0 ? [] : [{ kind, what: `${what}: ${which[0]}`, count: which.length }]

/** Each of the events that are heard of happens once; the same id may come again. */
function toldAgain(heard: readonly HeardEvent[]): HeardEvent[] {
  const idOf = new Map<string, string>()
  const again = new Map<string, HeardEvent>()
  for (const event of heard) {
    const fact = `${event.type}|${event.customer}|${event.about}`
    const first = idOf.get(fact) ?? event.id
    idOf.set(fact, first)
    if (first !== event.id) again.set(event.id, event)
  }
  return [...again.values()]
}

/** First attempts come in the order of the customer's events; an event whose first attempt has failed holds up no later one. */
function outOfOrder(heard: readonly HeardEvent[], recorded: readonly RecordedEvent[]): HeardEvent[] {
  const failed = new Set(recorded.filter(({ attempts }) => attempts > 1).map(({ id }) => id))
  const known = new Set<string>()
  const latest = new Map<string, number>()
  return heard.filter(({ id, customer, index }) => {
    if (failed.has(id) || known.has(id)) return false
    known.add(id)
    const before = latest.get(customer) ?? 0
    latest.set(customer, Math.max(before, index))
    return index < before
  })
}

/** Customers and subscriptions that are there, and ends of subscriptions, that were never told. */
function untoldChanges(ledger: Ledger, { subscriptions }: Facts, heard: readonly HeardEvent[]): string[] {
  const told = new Map<string, Set<string>>()
  for (const { type, customer, id } of heard) told.set(`${type} ${customer}`, (told.get(`${type} ${customer}`) ?? new Set()).add(id))
  const happened = [
    ...ledger.holders.map(({ customer }) => `customer.created ${customer}`),
    ...subscriptions.map(({ customer }) => `subscription.created ${customer}`),
    ...subscriptions.filter(({ status }) => status === 'CANCELED').map(({ customer }) => `subscription.canceled ${customer}`),
    ...subscriptions.filter(({ status }) => status === 'EXPIRED').map(({ customer }) => `subscription.expired ${customer}`),
  ]
  const expected = new Map<string, number>()
  for (const what of happened) expected.set(what, (expected.get(what) ?? 0) + 1)
  return [...expected].flatMap(([what, count]) => new Array<string>(Math.max(0, count - (told.get(what)?.size ?? 0))).fill(what))
}

/** Usage only grows here, so a threshold is reached when usage has come to it in the end. */
function findThresholds(ledger: Ledger, { usages }: Facts, heard: readonly HeardEvent[]): Finding[] {
  const holderOf = new Map(ledger.holders.map((holder) => [holder.customer, holder]))
  const told = new Set(heard.filter(({ type }) => type === 'usage.threshold_reached').map(({ customer, about }) => `${customer} ${about}`))
  const reached = new Set(
    usages.flatMap(({ customer, feature, usage }) => {
      const plan = holderOf.get(customer)?.steps[0]?.plan
      const amountOf = (kind: string, value: number) => (kind === 'SHARE' ? (limitOf(plan ?? '') * value) / 100 : value)
      const those = (alertThresholds[feature] ?? []).filter(({ kind, value }) => usage >= amountOf(kind, value))
      return those.map(({ kind, value }) => `${customer} ${feature} ${kind} ${value}`)
    }),
  )
  return [
    ...counted(
      'lost',
      'thresholds reached and not told',
      [...reached].filter((one) => !told.has(one)),
    ),
    ...counted(
      'wrong',
      'thresholds told and not reached',
      [...told].filter((one) => !reached.has(one)),
    ),
  ]
}
