import * as decimal from '../../kernel/decimal.js';
import { discountAt, standingOf, taxOn, totalled } from './invoice.js';
/** What a customer has to its credit after invoices of the totals: what is below zero adds to it, and what is to be paid is paid from it first. */
export function balanceAfter(balance, totals) {
    return totals.reduce((left, total) => {
        const rest = decimal.subtract(left, total);
        return decimal.compare(total, decimal.zero) < 0 ? rest : decimal.max(rest, decimal.zero);
    }, balance);
}
export function estimateOf({ account, draft, creditNote = null, content, period, at, balance, timeZone, fallbackCurrency, }) {
    const { terms } = account;
    const total = draft?.total ?? decimal.zero;
    // The draft has just worked it out.
    const standing = draft ? account.standing : period && standingOf({ content, terms, period, timeZone, chargedAt: at });
    const used = decimal.compare(balance, total) > 0 ? decimal.max(total, decimal.zero) : balance;
    return {
        currency: draft?.currency ?? terms.currency ?? fallbackCurrency,
        period,
        subTotal: draft?.subTotal ?? decimal.zero,
        discountAmount: draft?.discount ?? decimal.zero,
        tax: draft?.tax ?? decimal.zero,
        total,
        lines: draft?.lines ?? [],
        proration: prorationOf(draft, creditNote, at),
        balance: balance === decimal.zero ? null : { initial: balance, used },
        recurring: standing &&
            totalled({
                reason: 'BILLING_CYCLE',
                currency: standing.currency,
                period: standing.period,
                lines: standing.lines.map((line) => ({ ...line, period: standing.period, isProration: false })),
                discount: decimal.subtract(standing.gross, standing.net),
                tax: taxOn(standing.net, terms.taxPercentage, standing.currency),
            }),
        discount: discountAt(terms, at, timeZone),
        taxPercentage: terms.taxPercentage,
        taxName: terms.taxName ?? null,
    };
}
function prorationOf(draft, creditNote, at) {
    if (!draft || !('credit' in draft))
        return null;
    const { currency, credit, debit } = draft;
    if (creditNote && 'credit' in creditNote)
        return { at, credit: creditNote.credit, creditCurrency: creditNote.currency, debit };
    return draft.lines.some(({ isProration }) => isProration) ? { at, credit, creditCurrency: currency, debit } : null;
}
//# sourceMappingURL=estimate.js.map