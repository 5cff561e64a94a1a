import { Problem, timedOut } from '../kernel/problem.js';
import { fromReportUsage } from './api-messages.js';
import { entryKey } from './cache/cache.js';
import { entryAt, isOlder, newerState, stateWithUsage, toEntry } from './cached-state.js';
import { usageVersion } from './terms.js';
/** Refreshes in the background at a time: after a reconnect all entries want one. */
const mostRefreshes = 8;
/** After a refresh was tried, the same entry is not tried again for so long. */
const refreshPauseMs = 1_000;
/** A caller that could be given an old answer waits at most so long for a new one. */
const longestWaitForNewerMs = 1_000;
/** The same failure is logged at most this often. */
const failureLogMs = 60_000;
/** Cache, then API. The caller falls back when this fails. */
export class EntitlementResolver {
    #parts;
    #reads = new Map();
    /** Keys of entries that are to be refreshed as soon as others are done. */
    #toRefresh = new Set();
    #refreshes = 0;
    #lastFailure = { code: '', at: Number.NEGATIVE_INFINITY };
    constructor(parts) {
        this.#parts = parts;
    }
    peek(customerId, resourceId) {
        const key = entryKey(customerId, resourceId);
        const now = this.#parts.clock.now();
        const entry = this.#entryAt(key, now);
        if (entry === undefined)
            return undefined;
        const freshness = this.#parts.judge.judge(entry, now);
        if (freshness === 'fresh') {
            this.#parts.metrics.lookups.hit++;
            return entry;
        }
        if (freshness === 'suspect')
            this.#refreshInBackground(entry, now);
        else if (freshness === 'miss' || now >= entry.refreshNotBefore)
            return undefined;
        return this.#stale(entry, now);
    }
    async resolve(owner, waitMs) {
        const key = entryKey(owner.customerId, owner.resourceId);
        const now = this.#parts.clock.now();
        const cached = this.#entryAt(key, now);
        if (cached === undefined || this.#parts.judge.judge(cached, now) === 'miss') {
            this.#parts.metrics.lookups.miss++;
            return within(this.#read(key, owner), waitMs);
        }
        try {
            return await within(this.#read(key, owner), Math.min(waitMs, longestWaitForNewerMs));
        }
        catch {
            cached.refreshNotBefore = this.#parts.clock.now() + refreshPauseMs;
            return this.#stale(cached, now);
        }
    }
    async reload(owner, waitMs) {
        // A read that began before this call may not know what the caller wants to see: it is overtaken.
        return (await within(this.#beginRead(entryKey(owner.customerId, owner.resourceId), owner), waitMs)).state;
    }
    /** The entry if it was read so lately that asking again would tell nothing new. */
    recent({ customerId, resourceId }, withinMs) {
        const now = this.#parts.clock.now();
        const entry = this.#entryAt(entryKey(customerId, resourceId), now);
        return entry !== undefined && now - entry.fetchedAt < withinMs ? entry : undefined;
    }
    /** What is cached, as it is by now: where time alone has changed it and it is known to what, that is cached from here on. */
    #entryAt(key, now) {
        const cached = this.#parts.cache.get(key);
        const entry = cached && entryAt(cached, now);
        if (entry && entry !== cached)
            this.#parts.cache.set(key, entry);
        return entry;
    }
    /** What a message is applied to: what is cached by now, else what was true until then, so that the newer of the two stays. */
    #heldAt(key) {
        return this.#entryAt(key, this.#parts.clock.now()) ?? this.#parts.cache.get(key);
    }
    /** Reads anew behind the caller's back. */
    refresh({ customerId, resourceId }) {
        this.#toRefresh.add(entryKey(customerId, resourceId));
        this.#refreshNext({ customerId, resourceId });
    }
    async reportUsage(report, signal) {
        const reported = await this.#parts.usage.reportUsage(report, signal);
        this.applyUsage(fromReportUsage(reported));
        return reported;
    }
    async reportUsageBulk(reports, signal) {
        const reported = await this.#parts.usage.reportUsageBulk(reports, signal);
        for (const one of reported)
            this.applyUsage(fromReportUsage(one));
        return reported;
    }
    reportEvents(events, signal) {
        return this.#parts.usage.reportEvents(events, signal);
    }
    /** A whole new state was told. Entries that nobody asked for are not added. */
    applyState(state) {
        const { customerId, resourceId } = state;
        const key = entryKey(customerId, resourceId);
        this.#reads.get(key)?.changes.push((read) => newerState(read, state));
        const cached = this.#heldAt(key);
        if (cached) {
            const merged = newerState(cached.state, state);
            this.#parts.cache.set(key, isOlder(state, cached.state) ? replaceState(cached, merged) : toEntry(merged, this.#parts.judge.epoch, this.#parts.clock.now()));
        }
        // What the customer holds itself counts for its resources too.
        if (resourceId === null)
            this.#suspectOthers(state, (other) => state.version === 0 || other.version < state.version);
    }
    /** The usage of one feature was told. */
    applyUsage(change) {
        const { customerId, resourceId, featureId, usage } = change;
        const key = entryKey(customerId, resourceId);
        this.#reads.get(key)?.changes.push((read) => stateWithUsage(read, featureId, usage));
        const cached = this.#heldAt(key);
        if (cached) {
            const state = stateWithUsage(cached.state, featureId, usage);
            if (state !== cached.state)
                this.#parts.cache.set(key, replaceState(cached, state));
        }
        // A customer and its resources may share one total.
        this.#suspectOthers(change, (other) => (usageVersion(other, featureId) ?? Number.POSITIVE_INFINITY) < usage.updatedAt);
    }
    /** Something about the customer or one of its resources changed, it is not known what: what is cached is refreshed, a few at a time. */
    applyUnknown(customerId) {
        for (const read of this.#reads.values())
            if (read.owner.customerId === customerId)
                read.isSuspect = true;
        for (const entry of this.#parts.cache.entriesOf(customerId)) {
            entry.isSuspect = true;
            this.refresh(entry.state);
        }
    }
    #suspectOthers({ customerId, resourceId }, isConcerned) {
        for (const entry of this.#parts.cache.entriesOf(customerId)) {
            if (entry.state.resourceId !== resourceId && isConcerned(entry.state))
                entry.isSuspect = true;
        }
        for (const read of this.#reads.values()) {
            if (read.owner.customerId === customerId && read.owner.resourceId !== resourceId)
                read.isSuspect = true;
        }
    }
    #refreshInBackground(entry, now) {
        if (now < entry.refreshNotBefore)
            return;
        entry.refreshNotBefore = now + refreshPauseMs;
        this.refresh(entry.state);
    }
    /** Begins the refresh when not too many are under way; else it has its turn when one is done. */
    #refreshNext(owner) {
        const key = entryKey(owner.customerId, owner.resourceId);
        if (this.#refreshes >= mostRefreshes || !this.#toRefresh.delete(key))
            return;
        this.#refreshes++;
        const done = () => {
            this.#refreshes--;
            for (const next of this.#toRefresh) {
                const entry = this.#parts.cache.get(next);
                if (entry)
                    this.#refreshNext(entry.state);
                else
                    this.#toRefresh.delete(next);
                if (this.#refreshes >= mostRefreshes)
                    break;
            }
        };
        this.#read(key, owner).then(done, done);
    }
    #stale(entry, now) {
        this.#parts.metrics.lookups.stale++;
        this.#parts.metrics.oldestAnswerSeconds = Math.max(this.#parts.metrics.oldestAnswerSeconds, this.#parts.judge.ageMs(entry, now) / 1000);
        return entry;
    }
    #read(key, owner) {
        return this.#reads.get(key)?.done ?? this.#beginRead(key, owner);
    }
    #beginRead(key, { customerId, resourceId }) {
        const [epoch, beganAt] = [this.#parts.judge.epoch, this.#parts.clock.now()];
        const finish = async () => {
            try {
                const json = await this.#parts.api.fetchState(read.owner);
                this.#parts.onRead?.(read.owner, json);
                const answer = this.#parts.states.state(read.owner, json);
                const state = read.changes.reduce((known, change) => change(known), answer);
                // Overtaken by a reload: good enough for those who waited for it, but not to be kept.
                if (this.#reads.get(key) !== read)
                    return toEntry(state, 0, beganAt);
                const cached = this.#parts.cache.get(key);
                // What is expired here was true only until then, however new its version.
                const isComparable = cached !== undefined && this.#parts.clock.now() < cached.expiresAt;
                const entry = toEntry(isComparable ? newerState(cached.state, state) : state, epoch, beganAt);
                entry.isSuspect = read.isSuspect;
                // A lagging clock of the API answers the past usage period again: not at every check.
                if (entry.usagePeriodEnd <= beganAt)
                    entry.refreshNotBefore = beganAt + refreshPauseMs;
                this.#parts.cache.set(key, entry);
                return entry;
            }
            catch (error) {
                this.#logFailure(error);
                throw error;
            }
            finally {
                if (this.#reads.get(key) === read)
                    this.#reads.delete(key);
            }
        };
        const read = { owner: { customerId, resourceId }, done: Promise.resolve().then(finish), changes: [], isSuspect: false };
        this.#reads.set(key, read);
        return read.done;
    }
    #logFailure(error) {
        const { code, reason, message, cause } = Problem.from(error);
        const now = this.#parts.clock.now();
        if (code === this.#lastFailure.code && now - this.#lastFailure.at < failureLogMs)
            return;
        this.#lastFailure = { code, at: now };
        this.#parts.log.warn({ code, reason, err: cause }, `could not read entitlements: ${message}`);
    }
}
/** The entry with a state that says no more about its freshness. */
function replaceState(entry, state) {
    return { ...toEntry(state, entry.epoch, entry.fetchedAt), isSuspect: entry.isSuspect, refreshNotBefore: entry.refreshNotBefore };
}
/** The result, or DEADLINE_EXCEEDED. The work goes on: others may wait for it, and its answer is kept. */
function within(work, waitMs) {
    return new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(timedOut('The API did not answer in time')), waitMs);
        work.then(resolve, reject).finally(() => clearTimeout(timer));
    });
}
//# sourceMappingURL=resolve.js.map