/** What waits for the next invoice of a subscription. Pure. */
import type { EpochMs } from '../../kernel/clock.js'
import * as decimal from '../../kernel/decimal.js'
import { type Account, type BilledChange, stillOpen } from './account.js'
import type { Draft } from './billing.js'
import { payerOf } from './credit.js'
import { type ChangeDraft, isEmpty, totalled } from './invoice.js'

export interface Invoiced {
  account: Account
  drafts: (Draft | ChangeDraft)[]
}

/** It waits with what waits already. */
export function addPending({ pending }: Account, draft: Draft): Account['pending'] {
  return {
    lines: [...(pending?.lines ?? []), ...draft.lines],
    discount: decimal.add(pending?.discount ?? decimal.zero, draft.discount),
    tax: decimal.add(pending?.tax ?? decimal.zero, draft.tax),
    credits: [...(pending?.credits ?? []), ...(draft.credits ?? [])],
  }
}

/** What waited for an invoice comes with this one. */
export function withPending(account: Account, draft: Draft | ChangeDraft): Invoiced {
  const { pending } = account
  if (!pending) return { account, drafts: isEmpty(draft) ? [] : [draft] }
  const { lines, discount, tax, ...rest } = draft
  const joined = totalled({
    ...rest,
    lines: [...lines, ...pending.lines],
    discount: decimal.add(discount, pending.discount),
    tax: decimal.add(tax, pending.tax),
    credits: [...(draft.credits ?? []), ...(pending.credits ?? [])],
    hasPending: true,
  })
  return { account: { ...account, pending: null }, drafts: isEmpty(joined) ? [] : [{ ...draft, ...joined }] }
}

/** It is that of who paid until now, and so are the credits in it: who pays from the change on has nothing to do with it. */
export function handedOver(account: Account, { before, after, at }: BilledChange): Invoiced {
  const { standing, pending } = account
  if (!before || !standing || !pending || payerOf(before) === payerOf(after)) return { account, drafts: [] }
  const period = { start: at, end: Math.max(at, standing.period.end) }
  const nothing = { lines: [], discount: decimal.zero, tax: decimal.zero }
  const invoiced = withPending(account, totalled({ reason: 'SUBSCRIPTION_UPDATE', currency: standing.currency, period, ...nothing }))
  return { ...invoiced, drafts: invoiced.drafts.map((draft) => ({ ...draft, payerId: payerOf(before) })) }
}

/** Usage that came late, when no more can come: a line of the next invoice, or an invoice where there is none to come, or one in another currency. `late` null: none came. */
export function withLateUsage(known: Account, { late, at }: { late: Draft | null; at: EpochMs }): Invoiced {
  const account = { ...known, usageCharged: stillOpen(known.usageCharged, at) }
  if (!late) return { account, drafts: [] }
  if (account.standing?.currency !== late.currency) return { account, drafts: [late] }
  return { account: { ...account, pending: addPending(account, late) }, drafts: [] }
}
