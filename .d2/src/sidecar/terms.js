import { LRUCache } from 'lru-cache';
import * as decimal from '../kernel/decimal.js';
export const numbersPerUsage = 5;
const isMetered = ({ feature }) => feature.featureType === 'NUMBER' && feature.meterType !== 'None';
export const noTerms = { terms: [], positions: new Map(), usageAt: [], bytes: 0 };
export const noUsages = [];
/** An environment has few plans and many customers. */
const mostSharedTerms = 20_000;
const mostSharedLists = 10_000;
/** Estimated bytes of terms and of their place in a list. */
const termsBytes = 420;
/** Makes lists of terms so that equal ones are one object. */
export class TermsPool {
    #terms = new LRUCache({ max: mostSharedTerms });
    #lists = new LRUCache({ max: mostSharedLists });
    #lastId = 0;
    list(wanted) {
        if (wanted.length === 0)
            return noTerms;
        const shared = wanted.map((terms) => this.#share(terms));
        const key = shared.map(({ id }) => id).join();
        const known = this.#lists.get(key);
        if (known)
            return known;
        const terms = shared.map((one) => one.terms);
        let next = 0;
        const usageAt = terms.map((one) => (isMetered(one) ? next++ * numbersPerUsage : -1));
        const positions = new Map(terms.map(({ feature }, position) => [feature.refId, position]));
        const list = { terms, positions, usageAt, bytes: terms.reduce((bytes, one) => bytes + bytesOf(one), 0) };
        this.#lists.set(key, list);
        return list;
    }
    #share(terms) {
        const key = JSON.stringify(terms);
        const known = this.#terms.get(key);
        if (known)
            return known;
        const shared = { id: ++this.#lastId, terms: { ...terms, encoded: undefined } };
        this.#terms.set(key, shared);
        return shared;
    }
}
/** Values of an ENUM are there once as strings and once in the message. */
const bytesOf = ({ feature, enumValues }) => termsBytes + 2 * feature.refId.length + enumValues.reduce((bytes, value) => bytes + 40 + 3 * value.length, 0);
/** The numbers of usages, in the order of the metered terms. */
export function packUsages(usages) {
    if (usages.length === 0)
        return noUsages;
    // Of just the size that is needed, and so of unboxed doubles.
    const numbers = new Array(usages.length * numbersPerUsage);
    for (const [index, { currentUsage, periodStart, periodEnd, updatedAt, anchor }] of usages.entries()) {
        const at = index * numbersPerUsage;
        numbers[at] = decimal.toNumber(currentUsage);
        numbers[at + 1] = periodStart ?? Number.NaN;
        numbers[at + 2] = periodEnd ?? Number.NaN;
        numbers[at + 3] = updatedAt;
        numbers[at + 4] = anchor ?? Number.NaN;
    }
    return numbers;
}
/** The entitlement at a position, put together for one use. */
export function heldAt({ terms: list, usages }, position) {
    const terms = list.terms[position];
    const at = list.usageAt[position];
    return {
        feature: terms.feature,
        usageLimit: terms.usageLimit,
        hasUnlimitedUsage: terms.hasUnlimitedUsage,
        hasSoftLimit: terms.hasSoftLimit,
        enumValues: terms.enumValues,
        reset: null,
        usage: at === -1
            ? null
            : {
                // Doubles are what the API's JSON carries: nothing is lost by keeping them.
                currentUsage: decimal.fromNumber(usages[at]),
                periodStart: orNull(usages[at + 1]),
                periodEnd: orNull(usages[at + 2]),
                updatedAt: usages[at + 3],
            },
        usageRestartsAt: null,
        deniedReason: terms.deniedReason,
        validUntil: null,
        terms,
        usagePeriodAnchor: at === -1 ? null : orNull(usages[at + 4]),
    };
}
const orNull = (value) => (Number.isNaN(value) ? null : value);
/** Version of the usage of a feature; null when it is not held or has no meter. */
export function usageVersion({ terms, usages }, featureId) {
    const at = terms.usageAt[terms.positions.get(featureId) ?? -1] ?? -1;
    return at === -1 ? null : usages[at + 3];
}
/** The earliest end of a usage period that is followed by a reset; infinity when there is none. */
export function earliestPeriodEnd({ terms, usages }) {
    let earliest = Number.POSITIVE_INFINITY;
    for (const [position, at] of terms.usageAt.entries()) {
        const end = at === -1 ? Number.NaN : usages[at + 2];
        // Seats are never reset, whatever period they carry. NaN is not below anything.
        if (end < earliest && terms.terms[position].feature.meterType === 'Incremental')
            earliest = end;
    }
    return earliest;
}
/** What readers of the API and of the external cache know of a feature: the rest no answer of the sidecar carries. */
export function toEntitledFeature(feature) {
    const { refId, featureType, meterType, units, unitsPlural } = feature;
    return { id: '', refId, displayName: '', description: null, featureType, meterType, units, unitsPlural, unitTransformation: null };
}
//# sourceMappingURL=terms.js.map