/**
 * Which usage series a report or event belongs to, remembered between batches: deciding it takes the whole of what a customer holds.
 *
 * binding   what a customer (or one of its resources) holds, at one access version, and the series that follow from it
 * decision  the winning entitlements for a stretch of time in which nothing starts or ends
 * tracked   a series known to be in the database, with the periods whose counters are known to be complete
 */
import { LRUCache } from 'lru-cache';
import { customerArchived, customerNotFound, customerResourceNotFound } from '../../customer/model/problems.js';
import { budgetsAt, decideWinners, winnerPeriodAt } from '../../entitlement/rules/holdings.js';
import { Problem } from '../../kernel/problem.js';
import { seriesKey, seriesPeriodAt, unentitledSeries } from '../model/series.js';
export class Binding {
    holdings;
    customerId;
    resourceId;
    accessVersion;
    #decision;
    constructor(holdings) {
        this.holdings = holdings;
        this.customerId = holdings.customer.id;
        this.resourceId = holdings.resource?.id ?? null;
        this.accessVersion = holdings.accessVersion;
    }
    /** What holds at `at`, which is a version given under the customer's lock and so never goes back. */
    decisionAt(at) {
        if (this.#decision && at >= this.#decision.from && at < this.#decision.until)
            return this.#decision;
        const winners = decideWinners(this.holdings, at);
        this.#decision = {
            from: at,
            until: nextChangeAfter(this.holdings, winners, at),
            winners: new Map(winners.map((winner) => [winner.entitlement.feature.id, winner])),
            tracked: new Map(),
            budgeted: new Map(),
        };
        return this.#decision;
    }
    /** Whether usage may be charged within a budget: then more is counted than what the winners ask for. */
    get hasBudget() {
        return this.holdings.budgets !== undefined;
    }
    /** The series of the feature that budgets of the customer's, or the resource's, own subscriptions are measured by at `at`. */
    budgetSeriesOf(featureId, at) {
        const charges = budgetsAt(this.holdings, at).flatMap((budget) => budget.charges);
        const own = charges.filter(({ series }) => series.featureId === featureId && series.resourceId === this.resourceId);
        return [...new Map(own.map(({ series }) => [seriesKey(series), series])).values()];
    }
    /**
     * The series that this binding answers for: of a customer, the total over itself and its resources; of a resource, the one of its own
     * subscription, or null when the customer's measures it too.
     */
    seriesOf(decision, featureId) {
        const winner = decision.winners.get(featureId) ?? null;
        if (this.resourceId === null)
            return { series: winner?.series ?? unentitledSeries(this.customerId, null, featureId), winner: winner?.series ? winner : null };
        return winner?.series && winner.series.resourceId === this.resourceId ? { series: winner.series, winner } : null;
    }
}
/** The period of a tracked series that contains `at`, remembered: finding it in a time zone costs over 100 µs. */
export function periodAt({ series, winner, periods }, at) {
    const known = periods.find(({ start, end }) => (start === null || start <= at) && (end === null || at < end));
    if (known)
        return known;
    const period = { ...(winner ? winnerPeriodAt(winner, at) : seriesPeriodAt(series, at)), isComplete: false, meterVersion: null };
    periods.unshift(period);
    return period;
}
/** Any date of what is held may be a change: asking once too often is harmless. */
function nextChangeAfter({ subscriptions, promotional }, winners, at) {
    const dates = [
        ...subscriptions.flatMap(({ startDate, endDate, trialEndDate, effectiveEndDate, entitlementsRevokedAt }) => [
            startDate,
            endDate,
            trialEndDate,
            effectiveEndDate,
            entitlementsRevokedAt,
        ]),
        // Its budget is a new one then.
        ...subscriptions.map(({ budget, currentPeriod }) => (budget && currentPeriod ? currentPeriod.end : null)),
        ...promotional.flatMap(({ startDate, endDate }) => [startDate, endDate]),
        ...winners.flatMap(({ entitlement }) => [entitlement.usageRestartsAt, entitlement.validUntil]),
    ];
    return Math.min(Number.POSITIVE_INFINITY, ...dates.filter((date) => date !== null && date > at));
}
/** No id contains U+0000. */
export const placeKey = ({ customerId, resourceId }) => (resourceId === null ? customerId : `${customerId}\0${resourceId}`);
/** Some kilobytes each. */
const maxBindings = 50_000;
export class Bindings {
    loadHoldings;
    #cache = new LRUCache({ max: maxBindings });
    constructor(loadHoldings) {
        this.loadHoldings = loadHoldings;
    }
    /**
     * The bindings of the places, by `placeKey`; a Problem where the customer is unknown or archived, or the resource unknown, which is never
     * remembered. They may be outdated: compare their access version under the customer's lock.
     */
    async load(environmentId, places) {
        const found = new Map();
        const missing = [];
        for (const place of new Map(places.map((place) => [placeKey(place), place])).values()) {
            const cached = this.#cache.get(environmentId + placeKey(place));
            if (cached)
                found.set(placeKey(place), cached);
            else
                missing.push(place);
        }
        if (missing.length === 0)
            return found;
        const asked = missing.map(({ customerId, resourceId }) => ({ customerRefId: customerId, resourceRefId: resourceId }));
        for (const [index, holdings] of (await this.loadHoldings(environmentId, asked)).entries()) {
            const place = missing[index];
            const binding = bindingOf(place, holdings);
            if (binding instanceof Binding)
                this.#cache.set(environmentId + placeKey(place), binding);
            found.set(placeKey(place), binding);
        }
        return found;
    }
    /** The binding of the place if it is at hand; it may be outdated. */
    cached(environmentId, place) {
        return this.#cache.get(environmentId + placeKey(place));
    }
    /** Forgets a binding that turned out to be outdated. */
    forget(environmentId, place) {
        this.#cache.delete(environmentId + placeKey(place));
    }
}
function bindingOf(place, holdings) {
    const { customer } = holdings;
    if (!customer)
        return customerNotFound(place.customerId);
    if (customer.isArchived)
        return customerArchived(place.customerId);
    if (place.resourceId !== null && !holdings.resource)
        return customerResourceNotFound(place.customerId, place.resourceId);
    return new Binding({ ...holdings, customer });
}
//# sourceMappingURL=bindings.js.map