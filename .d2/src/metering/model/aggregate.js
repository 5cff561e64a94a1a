/**
 * How events become usage.
 *
 * share   what one event brings: a number, or for UNIQUE the member that it names
 * tally   shares added up; any order and any split of the events ends the same
 */
import { hash } from 'node:crypto';
import * as decimal from '../../kernel/decimal.js';
import { asNumber, fieldOf, matches } from './meter.js';
import { maxMagnitude } from './usage-value.js';
/**
 * What one event brings to the usage of the meter's feature: 1 for COUNT, the value of the dimension as text for UNIQUE (5 and "5" are one member),
 * and else the number in the dimension (also one written as text; rounded to 9 decimals).
 *
 * Null when the event brings nothing and leaves no trace: the filters do not want it, or the dimension is missing, or not a number where one is
 * needed, or beyond what a report may carry (one broken event must not push a counter out of its range).
 */
export function measure(meter, event) {
    if (!matches(meter, event))
        return null;
    if (meter.aggregation === 'COUNT')
        return one;
    const value = meter.field === null ? null : fieldOf(event, meter.field);
    if (meter.aggregation === 'UNIQUE')
        return value === null ? null : String(value);
    const number = asNumber(value);
    return number === null || Math.abs(number) >= maxMagnitude ? null : decimal.fromNumber(number);
}
const one = decimal.fromNumber(1);
/** What stands for a member where many are kept. */
export const memberHash = (member) => hash('sha256', member, 'buffer').subarray(0, 16);
const none = new Set();
/** Shares of one meter, added up. */
export class Tally {
    aggregation;
    events = 0;
    /** COUNT, SUM and AVG: their sum. MAX, MIN: the largest, the smallest; 0 when there are none. */
    value = decimal.zero;
    /** UNIQUE: the members; of others none. */
    members;
    #members;
    constructor(aggregation) {
        this.aggregation = aggregation;
        this.#members = aggregation === 'UNIQUE' ? new Set() : null;
        this.members = this.#members ?? none;
    }
    add(share) {
        this.events += 1;
        if (this.#members)
            this.#members.add(share);
        else
            this.value = this.events === 1 ? share : combine(this.aggregation, this.value, share);
    }
}
function combine(aggregation, a, b) {
    if (aggregation === 'MAX')
        return decimal.max(a, b);
    if (aggregation === 'MIN')
        return decimal.compare(a, b) < 0 ? a : b;
    return decimal.add(a, b);
}
//# sourceMappingURL=aggregate.js.map