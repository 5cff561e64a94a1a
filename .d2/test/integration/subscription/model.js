/**
 * What a customer should hold, told again in the fewest words: one product, three plans, and for each place (the customer, or a resource) at most one
 * paid or free subscription, one trial, and one that is yet to start.
 */
export const plans = ['free', 'basic', 'top'];
/** Thrown for what has to be refused. */
export class Refused extends Error {
}
const day = 86_400_000;
const rank = (plan) => plans.indexOf(plan);
function monthEnd(anchor, now) {
    for (let n = 1;; n += 1) {
        const date = new Date(anchor);
        date.setUTCMonth(date.getUTCMonth() + n, 1);
        const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
        date.setUTCDate(Math.min(new Date(anchor).getUTCDate(), last));
        if (date.getTime() > now)
            return date.getTime();
    }
}
const newlyHeld = (plan, start) => ({
    plan,
    start,
    anchor: start,
    isTrial: false,
    hadTrial: false,
    hasPaid: false,
    trialEnd: 0,
    endsAt: null,
    change: null,
});
export class Model {
    rules;
    now;
    places = new Map();
    /** All that were asked for, and when they ended: see `#isTrialUsed`. */
    #ever = [];
    constructor(rules, now) {
        this.rules = rules;
        this.now = now;
    }
    place(resource) {
        const place = this.places.get(resource) ?? { active: null, trial: null, upcoming: null };
        this.places.set(resource, place);
        return place;
    }
    pass(until) {
        for (;;) {
            const due = [...this.places].flatMap(([resource, { active, trial, upcoming }]) => [
                ...(active?.endsAt ? [{ at: active.endsAt, order: 0, run: (at) => this.#end(resource, 'active', at, true) }] : []),
                ...(trial && !this.rules.trialConverts
                    ? [{ at: trial.trialEnd, order: 1, run: (at) => this.#end(resource, 'trial', at, true) }]
                    : []),
                ...(trial && this.rules.trialConverts
                    ? [{ at: trial.trialEnd, order: 2, run: (at) => this.#convert(resource, trial, at) }]
                    : []),
                ...(upcoming ? [{ at: upcoming.start, order: 3, run: (at) => this.#start(resource, upcoming, at) }] : []),
                ...(active?.change ? [{ at: active.change.at, order: 4, run: (at) => this.#change(resource, active, at) }] : []),
            ]);
            const [next] = due.filter(({ at }) => at <= until).sort((a, b) => a.at - b.at || a.order - b.order);
            if (!next)
                break;
            next.run(next.at);
        }
        this.now = until;
    }
    provision(plan, resource, { skipTrial, startAt }) {
        const { rules, now } = this;
        const others = [...this.places].filter(([other]) => other !== resource);
        if (!rules.allowsSeveral && others.some(([, { active, trial }]) => active || trial))
            throw new Refused();
        const place = this.place(resource);
        const { active } = place;
        if (active?.plan === plan && startAt === null)
            return;
        const days = rules.trialDays[plan];
        const isTrial = days !== null && !skipTrial && !this.#isTrialUsed();
        if (isTrial && active?.plan === plan)
            throw new Refused();
        if (active && !isTrial && startAt === null && rank(plan) < rank(active.plan) && rules.downgradesLater && active.plan !== 'free') {
            active.change = { plan, at: monthEnd(active.anchor, now) };
            return;
        }
        const start = startAt ?? now;
        const held = newlyHeld(plan, start);
        if (isTrial)
            Object.assign(held, { isTrial, hadTrial: true, trialEnd: start + days * day });
        if (startAt !== null) {
            if (place.upcoming)
                this.#end(resource, 'upcoming', now, false);
            place.upcoming = held;
            this.#ever.push({ held, endedAt: null });
            return;
        }
        this.#ever.push({ held, endedAt: null });
        this.#takePlace(resource, held, now);
    }
    cancel(resource, kind, time) {
        const held = this.place(resource)[kind];
        if (!held)
            throw new Refused();
        const isPaid = kind === 'active' && held.plan !== 'free';
        const isLater = time === null ? isPaid && this.rules.cancelsLater : time === 'END_OF_BILLING_PERIOD';
        if (isLater && !isPaid)
            throw new Refused();
        if (isLater)
            held.endsAt = monthEnd(held.anchor, this.now);
        else
            this.#end(resource, kind, this.now, true);
    }
    undo(resource) {
        const { active } = this.place(resource);
        if (!active)
            throw new Refused();
        active.endsAt = null;
        active.change = null;
    }
    inForce() {
        return [...this.places].flatMap(([resource, { active, trial }]) => [
            ...(active ? [`${resource} ${active.plan} ACTIVE`] : []),
            ...(trial ? [`${resource} ${trial.plan} IN_TRIAL`] : []),
        ]);
    }
    /** The best plan that counts for a place; null: none gives access. */
    bestPlan(resource) {
        const own = resource === null ? [] : [this.place(resource)];
        const held = [this.place(null), ...own].flatMap(({ active, trial }) => [active, trial].flatMap((one) => (one ? [one.plan] : [])));
        return held.sort((a, b) => rank(b) - rank(a))[0] ?? null;
    }
    #isTrialUsed() {
        return this.#ever.some(({ held, endedAt }) => {
            const hasBegun = endedAt === null || endedAt > held.start;
            return hasBegun && (held.hadTrial || held.hasPaid || (held.plan !== 'free' && held.start <= this.now));
        });
    }
    #end(resource, kind, at, isFollowed) {
        const place = this.place(resource);
        const held = place[kind];
        place[kind] = null;
        for (const ever of this.#ever)
            if (ever.held === held)
                ever.endedAt = at;
        if (!isFollowed || !this.rules.downgradesToFree || held.plan === 'free')
            return;
        const serving = resource === null ? [place] : [place, this.place(null)];
        if (serving.some(({ active, trial, upcoming }) => active || trial || (upcoming && upcoming.start <= at)))
            return;
        place.active = newlyHeld('free', at);
    }
    /** What begins now takes the place of its like, and of a trial of its plan. */
    #takePlace(resource, held, at) {
        const place = this.place(resource);
        if (held.isTrial) {
            if (place.trial)
                this.#end(resource, 'trial', at, false);
            place.trial = held;
            return;
        }
        if (place.active)
            this.#end(resource, 'active', at, false);
        if (place.trial?.plan === held.plan)
            this.#end(resource, 'trial', at, false);
        place.active = held;
    }
    #convert(resource, trial, at) {
        this.place(resource).trial = null;
        Object.assign(trial, { isTrial: false, anchor: at });
        this.#takePlace(resource, trial, at);
    }
    #start(resource, upcoming, at) {
        this.place(resource).upcoming = null;
        this.#takePlace(resource, upcoming, at);
    }
    #change(resource, active, at) {
        const { plan } = active.change;
        // Billing goes on from its anchor unless there is none any more.
        Object.assign(active, { plan, change: null, hasPaid: true, anchor: plan === 'free' ? at : active.anchor });
        const { trial } = this.place(resource);
        if (trial?.plan === plan)
            this.#end(resource, 'trial', at, false);
    }
}
//# sourceMappingURL=model.js.map