import * as decimal from '../../../src/kernel/decimal.js';
const shown = (ms) => new Date(ms).toISOString().replace('T', ' ').slice(0, 16);
/** Invoices for a page, the oldest first: every line with its arithmetic. */
export function invoiceTable(named) {
    const sorted = named.toSorted((a, b) => a.invoice.createdAt - b.invoice.createdAt);
    const whole = new Map();
    for (const { invoice } of sorted)
        for (const { priceId, period, isProration } of invoice.lines)
            if (priceId !== null && !isProration)
                whole.set(priceId, [...(whole.get(priceId) ?? []), period]);
    const rows = sorted.flatMap(({ name, invoice }) => [
        ...invoice.lines.map((line, index) => [
            index === 0 ? shown(invoice.createdAt) : '',
            index === 0 ? name : '',
            line.description,
            arithmetic(line, whole),
            line.amount,
        ]),
        ['', '', '**total**', '', `**${invoice.total}**`],
    ]);
    return [['invoiced', 'subscription', 'line', 'arithmetic', 'USD'], ...rows];
}
function arithmetic({ priceId, quantity, unitAmount, amount, period, isProration }, whole) {
    const price = `${quantity} × ${unitAmount}`;
    if (!isProration)
        return `${price}, ${shown(period.start)} to ${shown(period.end)}`;
    const all = whole.get(priceId)?.find(({ start, end }) => start <= period.start && period.end <= end) ?? period;
    const seconds = (ms) => (ms / 1_000).toLocaleString('en');
    const sign = decimal.compare(amount, decimal.zero) < 0 ? '−' : '';
    return `${sign}${price} × ${seconds(period.end - period.start)} s / ${seconds(all.end - all.start)} s`;
}
//# sourceMappingURL=invoice-tables.js.map