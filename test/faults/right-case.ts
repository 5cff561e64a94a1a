/** What the load and the platform come to where nothing is wrong: what tests of the checker change. */
import type { Facts } from './checker.js'
import { type Check, type Holder, Ledger, type Role } from './load/ledger.js'
import type { HeardEvent } from './told.js'

const held = (customer: string, role: Role, ...steps: Holder['steps']): Holder => ({
  customer,
  role,
  steps: [
    { plan: role === 'limited' ? 'small' : role === 'trial' || role === 'converting' ? 'pro' : 'basic', begunAt: 0, doneAt: 100 },
    ...steps,
  ],
})

/** An event that is right, with an id of its own. */
export const heard = (customer: string, index: number, type: string, about = ''): HeardEvent => {
  return { id: `${customer}-${index}`, type, customer, index, about, isSigned: true }
}
const reached = (customer: string, index: number, about: string) => heard(customer, index, 'usage.threshold_reached', about)

/** Of the case below; the numbers that are left out are of types that nobody hears of. */
const rightEvents: readonly HeardEvent[] = [
  ...['counted', 'evented', 'limited', 'changing', 'trial', 'converting'].map((customer) => heard(customer, 1, 'customer.created')),
  reached('counted', 4, 'calls AMOUNT 1'),
  reached('counted', 5, 'calls AMOUNT 2'),
  reached('limited', 4, 'calls AMOUNT 1'),
  reached('evented', 4, 'tokens AMOUNT 1'),
  heard('changing', 2, 'subscription.created', 'first'),
  heard('changing', 5, 'subscription.canceled', 'first'),
  heard('changing', 6, 'subscription.created', 'second'),
  heard('trial', 2, 'subscription.created', 'trying'),
  heard('trial', 4, 'subscription.trial_ended', 'trying'),
  heard('trial', 5, 'subscription.expired', 'trying'),
  heard('trial', 6, 'subscription.created', 'free'),
  heard('converting', 2, 'subscription.created', 'paid'),
]

/** One of each kind, with everything right. Times are small numbers; the platform is compared at 100,000. */
export function rightCase(): { ledger: Ledger; facts: Facts } {
  const ledger = new Ledger()
  ledger.holders.push(
    held('counted', 'counted'),
    held('evented', 'evented'),
    held('limited', 'limited'),
    held('changing', 'changing', { plan: 'pro', begunAt: 2_000, doneAt: 2_100 }),
    held('trial', 'trial', { plan: 'free', begunAt: 4_975, doneAt: 5_025, isByTime: true }),
    held('converting', 'converting'),
  )
  for (const [key, customer, value] of [
    ['a', 'counted', 2],
    ['b', 'counted', 1.5],
    ['c', 'limited', 1],
  ] as const) {
    const report = ledger.report(key, customer, value)
    Object.assign(report, { fate: 'acknowledged', sentAt: 1_000, acknowledgedAt: 1_100, measurementIds: new Set([`m-${key}`]) })
  }
  for (const key of ['e', 'f', 'g']) ledger.event(key, 'evented', null).fate = 'acknowledged'
  ledger.checks.push(check('counted', { usage: 3.5, limit: 1_000_000 }), check('limited', { usage: 1, limit: 25 }))
  const usage = (customer: string, value: number) => ({
    customer,
    feature: customer === 'evented' ? 'tokens' : 'calls',
    usage: value,
  })
  const facts: Facts = {
    measurements: [
      { customer: 'counted', id: 'm-a', value: 2 },
      { customer: 'counted', id: 'm-b', value: 1.5 },
      { customer: 'limited', id: 'm-c', value: 1 },
    ],
    usages: [usage('counted', 3.5), usage('limited', 1), usage('evented', 3)],
    subscriptions: [
      { customer: 'changing', plan: 'basic', status: 'CANCELED', endedAt: 2_050 },
      { customer: 'changing', plan: 'pro', status: 'ACTIVE', endedAt: null },
      { customer: 'trial', plan: 'pro', status: 'EXPIRED', endedAt: 5_000 },
      { customer: 'trial', plan: 'free', status: 'ACTIVE', endedAt: null },
      { customer: 'converting', plan: 'pro', status: 'ACTIVE', endedAt: null },
    ],
    doubledInvoices: [],
    invoices: [{ customer: 'converting', count: 1 }],
    seen: [
      { where: 'web-1', ...usage('counted', 3.5), limit: 1_000_000 },
      { where: 'sidecar-1', ...usage('evented', 3), limit: 1_000_000_000 },
      { where: 'sidecar-1', ...usage('changing', 0), limit: 2_000_000 },
      { where: 'the external cache', ...usage('trial', 0), limit: 5 },
    ],
    told: {
      recorded: rightEvents.map(({ about: _, isSigned: __, ...event }) => ({ ...event, attempts: 1 })),
      heard: rightEvents,
    },
    needed: [],
    memory: [{ process: 'web-1', beforeMb: 100, mostMb: 134, afterMb: 130 }],
  }
  return { ledger, facts }
}

export function check(customer: string, more: Partial<Check>): Check {
  return {
    customer,
    door: 'graphql',
    askedAt: 90_000,
    answeredAt: 90_010,
    requested: 1,
    isGranted: true,
    usage: 0,
    limit: null,
    ...more,
  }
}
