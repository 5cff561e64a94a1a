/** Compares what the load has done and been told with what the platform holds once it is quiet. Pure. */
import { type Check, type Holder, type Ledger, limitOf, type Role, type Step } from './load/ledger.js'
import { findUntold, type Told } from './told.js'

export interface Stored {
  customer: string
  /** Of the measurement. */
  id: string
  value: number
}

export interface Usage {
  customer: string
  feature: string
  usage: number
}

export interface Subscription {
  customer: string
  plan: string
  status: string
  endedAt: number | null
}

/** What one holder of a copy answers. */
export interface Seen extends Usage {
  where: string
  limit: number | null
}

/** What is read of the platform once it is quiet. */
export interface Facts {
  measurements: readonly Stored[]
  /** Of the counters. */
  usages: readonly Usage[]
  subscriptions: readonly Subscription[]
  /** Each that is there more than once, at us or at the provider, in words. */
  doubledInvoices: readonly string[]
  /** Customers with the number of invoices that they have. */
  invoices: readonly { customer: string; count: number }[]
  seen: readonly Seen[]
  told: Told
  /** What did not come to rest by itself: processes, queues, rows. */
  needed: readonly string[]
  memory: readonly { process: string; beforeMb: number; mostMb: number; afterMb: number }[]
}

/** What may be under the fault at hand. */
export interface Promised {
  /** A sidecar answers nothing that was already different so long before. */
  stalenessMs: number
  /** The fault itself fills the platform up: everybody is told so. */
  isFull: boolean
}

export interface Finding {
  kind: 'lost' | 'doubled' | 'wrong'
  what: string
  count: number
}

const found = (kind: Finding['kind'], what: string, count = 1): Finding => ({ kind, what, count })

export function findFaults(ledger: Ledger, facts: Facts, promised: Promised): Finding[] {
  return [
    ...findReports(ledger, facts),
    ...findEvents(ledger, facts),
    ...findUsages(ledger, facts),
    ...findChecks(ledger, promised),
    ...findTransitions(ledger, facts),
    ...findInvoices(ledger, facts),
    ...findCopies(ledger, facts),
    ...findUntold(ledger, facts),
    ...facts.needed.map((what) => found('wrong', what)),
    ...findMemory(facts),
    ...(ledger.quiet.refused > 0 && !promised.isFull ? [found('wrong', 'calls of the quiet tenant refused', ledger.quiet.refused)] : []),
  ]
}

function findReports({ reports }: Ledger, { measurements }: Facts): Finding[] {
  const stored = new Set(measurements.map(({ id }) => id))
  const named = new Set(reports.flatMap(({ measurementIds }) => [...measurementIds]))
  const acknowledged = reports.filter(({ fate }) => fate === 'acknowledged')
  const lost = acknowledged.filter(({ measurementIds }) => [...measurementIds].every((id) => !stored.has(id))).length
  const twice = acknowledged.filter(({ measurementIds }) => [...measurementIds].filter((id) => stored.has(id)).length > 1).length
  const open = reports.filter(({ fate }) => fate === 'open')
  // What nobody knows of yet may be stored, once.
  const unnamed = measurements.filter(({ id }) => !named.has(id))
  const unexplained = Math.max(0, unnamed.length - open.length)
  const candidates = reports.filter(({ customer, value }) => unnamed.some((one) => one.customer === customer && one.value === value))
  const refusals = JSON.stringify([...new Set(candidates.flatMap(({ refusal }) => refusal || []))])
  return [
    ...(lost > 0 ? [found('lost', 'reports acknowledged and not stored', lost)] : []),
    ...(twice > 0 ? [found('doubled', 'reports stored twice', twice)] : []),
    ...(unexplained > 0 ? [found('doubled', `reports stored though refused, with one of ${refusals}`, unexplained)] : []),
    ...(open.length > 0 ? [found('wrong', 'reports that stay unknown', open.length)] : []),
  ]
}

function findEvents({ events }: Ledger, { usages }: Facts): Finding[] {
  const usageOf = new Map(usages.filter(({ feature }) => feature === 'tokens').map(({ customer, usage }) => [customer, usage]))
  const findings: Finding[] = []
  for (const [customer, ofCustomer] of grouped(events, ({ customer }) => customer)) {
    const least = ofCustomer.filter(({ fate }) => fate === 'acknowledged').length
    const open = ofCustomer.filter(({ fate }) => fate === 'open').length
    const usage = usageOf.get(customer) ?? 0
    if (usage < least) findings.push(found('lost', `events of ${customer}`, least - usage))
    if (usage > least + open) findings.push(found('doubled', `events of ${customer}`, usage - least - open))
    if (open > 0) findings.push(found('wrong', `events of ${customer} that stay unknown`, open))
  }
  return findings
}

/** A counter is the sum of what is stored. */
function findUsages(ledger: Ledger, { measurements, usages }: Facts): Finding[] {
  const usageOf = new Map(usages.filter(({ feature }) => feature === 'calls').map(({ customer, usage }) => [customer, usage]))
  return [...ledger.of('counted'), ...ledger.of('limited')].flatMap(({ customer }) => {
    const stored = measurements.filter((one) => one.customer === customer).reduce((sum, { value }) => sum + value, 0)
    const usage = usageOf.get(customer) ?? 0
    return usage === stored ? [] : [found('wrong', `usage of ${customer} is ${usage}, and ${stored} is stored`)]
  })
}

function findChecks(ledger: Ledger, { stalenessMs }: Promised): Finding[] {
  const reportsOf = grouped(ledger.reports, ({ customer }) => customer)
  const holderOf = new Map(ledger.holders.map((holder) => [holder.customer, holder]))
  const wrong = new Map<string, { count: number; first: string }>()
  for (const check of ledger.checks) {
    const holder = holderOf.get(check.customer)!
    const what = judge(check, holder, reportsOf.get(check.customer) ?? [], check.door === 'sidecar' ? stalenessMs : 0)
    if (what === null) continue
    const key = `checks (${check.door}) ${what}`
    const known = wrong.get(key)
    if (known) known.count += 1
    else wrong.set(key, { count: 1, first: `${check.customer}, ${JSON.stringify(check)}` })
  }
  return [...wrong].map(([what, { count, first }]) => found('wrong', `${what}: ${first}`, count))
}

/** What is wrong with an answer, if anything. */
function judge(check: Check, { role, steps }: Holder, reports: Ledger['reports'], stalenessMs: number): string | null {
  const { askedAt, answeredAt, requested, isGranted, usage, limit } = check
  const possible = plansWithin(steps, askedAt, answeredAt, stalenessMs)
  if (!possible.some((plan) => limitOf(plan) === limit)) return 'with a limit that was not so'
  // Usage begins anew with each plan.
  const isSummed = role === 'counted' || role === 'limited'
  if (!isSummed) return isGranted || requested > limit! ? null : 'denied below the limit'
  const told = reports.filter(({ acknowledgedAt }) => acknowledgedAt !== null && acknowledgedAt <= askedAt - stalenessMs)
  const sent = reports.filter(({ sentAt, fate }) => sentAt <= answeredAt && fate !== 'refused')
  const [least, most] = [told, sent].map((some) => some.reduce((sum, { value }) => sum + value, 0)) as [number, number]
  if (usage < least) return 'staler than promised'
  if (usage > most) return 'with usage that nobody has reported'
  if (isGranted && usage + requested > limit!) return 'granted beyond the limit'
  if (!isGranted && usage + requested <= limit!) return 'denied below the limit'
  return null
}

/** A process has the database's time from answers, and is behind by what the fastest of them took: so long, or as long as this answer where the machine is busy. */
const mostClockLagMs = 500

/** Plans that may be answered between two instants, by one that may be so late. */
export function plansWithin(steps: readonly Step[], from: number, to: number, stalenessMs: number): string[] {
  return steps
    .filter((step, index) => {
      const next = steps.slice(index + 1).find(({ doneAt }) => doneAt !== null)
      const lateMs = next?.isByTime ? Math.max(mostClockLagMs, to - from) : stalenessMs
      const isOver = next !== undefined && next.doneAt! + lateMs < from
      return step.begunAt <= to && !isOver
    })
    .map(({ plan }) => plan)
}

function findTransitions(ledger: Ledger, { subscriptions }: Facts): Finding[] {
  const ofCustomer = grouped(subscriptions, ({ customer }) => customer)
  const findings: Finding[] = []
  const expect = (holder: Holder, isRight: (held: readonly Subscription[]) => boolean) => {
    const held = ofCustomer.get(holder.customer) ?? []
    if (!isRight(held)) findings.push(found('wrong', `subscriptions of ${holder.customer}: ${JSON.stringify(held)}`))
  }
  const live = (held: readonly Subscription[]) => held.filter(({ status }) => status === 'ACTIVE')
  for (const holder of ledger.of('trial')) {
    const end = holder.steps.at(-1)!
    expect(holder, (held) => {
      const [trial, ...others] = held.filter(({ plan }) => plan === 'pro')
      const isEnded = trial?.status === 'EXPIRED' && trial.endedAt! >= end.begunAt && trial.endedAt! <= end.doneAt!
      return others.length === 0 && isEnded && live(held).length === 1 && held.length === 2
    })
  }
  for (const holder of ledger.of('converting')) expect(holder, (held) => held.length === 1 && live(held).length === 1)
  for (const holder of ledger.of('changing'))
    expect(holder, (held) => live(held).length === 1 && lastPlans(holder.steps).includes(live(held)[0]!.plan))
  return findings
}

/** A trial that converts is invoiced once. */
function findInvoices(ledger: Ledger, { doubledInvoices, invoices }: Facts): Finding[] {
  const countOf = new Map(invoices.map(({ customer, count }) => [customer, count]))
  const others = ledger.of('converting').filter(({ customer }) => (countOf.get(customer) ?? 0) !== 1)
  return [
    ...doubledInvoices.map((what) => found('wrong', `invoice doubled: ${what}`)),
    ...others.map(({ customer }) => found('wrong', `${countOf.get(customer) ?? 0} invoices of ${customer}, who has begun one period`)),
  ]
}

/** Who holds a copy answers as the counters and the plan say. */
export function findCopies(ledger: Ledger, { seen, usages }: Pick<Facts, 'seen' | 'usages'>): Finding[] {
  const usageOf = new Map(usages.map(({ customer, feature, usage }) => [`${customer}|${feature}`, usage]))
  const holderOf = new Map(ledger.holders.map((holder) => [holder.customer, holder]))
  const differing = seen.filter(({ customer, feature, usage, limit }) => {
    const { role, steps } = holderOf.get(customer)!
    if (feature === 'calls' && !lastPlans(steps).some((plan) => limitOf(plan) === limit)) return true
    return isCounted(role) && usage !== (usageOf.get(`${customer}|${feature}`) ?? 0)
  })
  return [...grouped(differing, ({ where }) => where)].map(([where, some]) =>
    found('wrong', `${where} holds something else: ${JSON.stringify(some[0])}`, some.length),
  )
}

/** Plans that change begin new counters, so those customers have none that is compared. */
const isCounted = (role: Role): boolean => role === 'counted' || role === 'limited' || role === 'evented'

/** What a customer is on in the end: the last plan that was answered, or one that nobody knows of. */
const lastPlans = (steps: readonly Step[]): string[] =>
  steps
    .slice(
      Math.max(
        0,
        steps.findLastIndex(({ doneAt }) => doneAt !== null),
      ),
    )
    .map(({ plan }) => plan)

function findMemory({ memory }: Facts): Finding[] {
  return memory
    .filter(({ mostMb, afterMb }) => afterMb > mostMb)
    .map(({ process, beforeMb, afterMb }) => found('wrong', `memory of ${process}: ${beforeMb} MB before, ${afterMb} MB after`))
}

function grouped<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group) group.push(item)
    else groups.set(key, [item])
  }
  return groups
}
