import * as decimal from '../../kernel/decimal.js';
import { allocate, share } from '../../kernel/money.js';
/** To the second: one that has begun is used when it has passed. Everything before the period, nothing from its end on; nothing of an empty one. */
export function unusedShare({ start, end }, at) {
    const length = end - start;
    if (length <= 0 || at >= end)
        return { numerator: 0n, denominator: 1n };
    const used = Math.max(0, Math.floor((at - start) / 1_000) * 1_000);
    return { numerator: BigInt(length - used), denominator: BigInt(length) };
}
/**
 * The part of what stands that is charged for [at, end). The same instant and the same standing always give the same amount, so a change that is
 * taken back costs nothing, and a change in two steps what it costs in one. Total and discount are rounded once, the lines share the total.
 */
export function unusedOf({ period, currency, lines, gross, net }, at) {
    const { numerator, denominator } = unusedShare(period, at);
    const unusedGross = share(gross, numerator, denominator, currency);
    const unusedNet = share(net, numerator, denominator, currency);
    const isWhole = numerator === denominator;
    const weights = lines.map(({ amount }) => amount);
    const parts = isWhole ? weights : allocate(unusedGross, weights, currency);
    const rest = { start: Math.max(at, period.start), end: period.end };
    return {
        lines: lines.map((line, index) => ({ ...line, amount: parts[index], period: rest, isProration: !isWhole })),
        gross: unusedGross,
        discount: decimal.subtract(unusedGross, unusedNet),
        net: unusedNet,
    };
}
/** What was charged and is not used: the same with the sign turned. */
export function creditOf(standing, at) {
    const { lines, gross, discount, net } = unusedOf(standing, at);
    return {
        lines: lines.map((line) => ({
            ...line,
            description: `Unused: ${line.description}`,
            amount: decimal.negate(line.amount),
            isProration: true,
        })),
        gross: decimal.negate(gross),
        discount: decimal.negate(discount),
        net: decimal.negate(net),
    };
}
//# sourceMappingURL=proration.js.map