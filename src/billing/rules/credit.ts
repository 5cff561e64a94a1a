/** How unused time is given back: by how the invoice was paid that charged it, and to whom. Pure. */
import type { EpochMs } from '../../kernel/clock.js'
import * as decimal from '../../kernel/decimal.js'
import type { Subscription } from '../../subscription/rules/subscription.js'
import type { Account } from './account.js'
import type { Funding } from './balance.js'
import type { Credit, Draft, Standing, Terms } from './billing.js'
import { type ChangeDraft, changeDraft, isEmpty } from './invoice.js'

/** Who pays for the subscription; our id. */
export const payerOf = ({ payingCustomerId, customerId }: Pick<Subscription, 'payingCustomerId' | 'customerId'>): string =>
  payingCustomerId ?? customerId

/** An invoice that charged for time that is given back. */
export interface Charge {
  funding: Funding
  payerId: string
}

/** By our id of the invoice; null: one that is being made by the same change for the same payer. */
export type Charges = (invoiceId: string) => Charge | null

/** Nothing is given back for it before its charge is paid. */
export type WaitingCredit = Credit & { chargeId: string; currency: string; payerId: string }

export interface Settlement {
  /** The credit may be a part of the document of the change: it is given now, and to the one whom that is for. */
  isOnInvoice: boolean
  /** The same as a document of its own, where it is given now. */
  notes: ChangeDraft[]
  waiting: WaitingCredit[]
}

export function settle(
  standing: Standing,
  { terms, at, payerId, charges }: { terms: Pick<Terms, 'taxPercentage'>; at: EpochMs; payerId: string; charges: Charges },
): Settlement {
  const draft = changeDraft({ reason: 'SUBSCRIPTION_UPDATE', before: standing, after: null, taxPercentage: terms.taxPercentage, at })
  const { chargedBy, currency } = standing
  const charge = chargedBy === undefined ? null : charges(chargedBy)
  if (!draft || isEmpty(draft)) return { isOnInvoice: true, notes: [], waiting: [] }
  if (!charge || (charge.funding === 'given' && charge.payerId === payerId)) return { isOnInvoice: true, notes: [draft], waiting: [] }
  if (charge.funding === 'given') return { isOnInvoice: false, notes: [{ ...draft, payerId: charge.payerId }], waiting: [] }
  const amount = decimal.negate(draft.total)
  const waits = charge.funding === 'waits' && amount !== decimal.zero
  return { isOnInvoice: false, notes: [], waiting: waits ? [{ chargeId: chargedBy!, amount, currency, payerId: charge.payerId }] : [] }
}

/** Nothing of it is given back. */
export const uncredited = (standing: Standing): Standing => ({ ...standing, lines: [], gross: decimal.zero, net: decimal.zero })

export type NamedDraft = (Draft | ChangeDraft) & { id: string }

/**
 * With an id for each document, so that what stands says which of them charged it, and credits which charge they are for. `standing`: what stood before, of
 * which a successor is to be credited.
 */
export function named(
  billed: { account: Account; drafts: readonly (Draft | ChangeDraft)[] },
  before: Account,
  newId: () => string,
): { account: Account; drafts: NamedDraft[]; standing: Standing | null } {
  const drafts = billed.drafts.map((draft) => ({ ...draft, id: newId() }))
  const pendingBy = drafts.find(({ hasPending }) => hasPending)?.id
  const chargedBy = drafts.findLast(({ isCharge }) => isCharge)?.id
  const charged = (standing: Standing | null, by: string | undefined): Standing | null =>
    standing && by !== undefined ? { ...standing, chargedBy: by } : standing
  const { account } = billed
  return {
    account: { ...account, standing: charged(account.standing, chargedBy ?? account.standing?.chargedBy) },
    drafts: drafts.map(({ credits, ...draft }) => ({
      ...draft,
      ...(credits && { credits: byCharge(credits, pendingBy ?? draft.id) }),
    })),
    standing: charged(before.standing, before.standing?.chargedBy ?? pendingBy),
  }
}

/** One for each charge. */
function byCharge(credits: readonly Credit[], ownId: string): Credit[] {
  const amounts = new Map<string, decimal.Decimal>()
  for (const { chargeId, amount } of credits)
    amounts.set(chargeId ?? ownId, decimal.add(amounts.get(chargeId ?? ownId) ?? decimal.zero, amount))
  return [...amounts].map(([chargeId, amount]) => ({ chargeId, amount }))
}
