import * as decimal from '../../kernel/decimal.js';
import { memberHash, Tally } from './aggregate.js';
export const groupValues = (dimensions, groupBy) => groupBy.map((key) => (Object.hasOwn(dimensions, key) ? String(dimensions[key] ?? '') : ''));
/** Adds up what the groups have in one bucket of one part. Of reports, in their order. */
export class BucketGroups {
    aggregation;
    isLevel = false;
    #groups = new Map();
    constructor(aggregation) {
        this.aggregation = aggregation;
    }
    get size() {
        return this.#groups.size;
    }
    add(values, share) {
        const name = JSON.stringify(values);
        let group = this.#groups.get(name);
        if (!group) {
            group = { values, tally: new Tally(this.aggregation) };
            this.#groups.set(name, group);
        }
        group.tally.add(share);
    }
    /** A SET replaces what all groups of the part had. */
    set(values, share) {
        this.#groups.clear();
        this.isLevel = true;
        this.add(values, share);
    }
    toShares() {
        return [...this.#groups.values()].map(({ values, tally: { value, events, members } }) => ({
            values,
            usage: value,
            events,
            members: [...members].map((member) => memberHash(member).toString('base64')),
        }));
    }
}
/** What one group has had since usage last started again. */
class Group {
    values;
    aggregation;
    points = new Map();
    #parts = new Map();
    constructor(values, aggregation) {
        this.values = values;
        this.aggregation = aggregation;
    }
    add(part, { usage, events, members }) {
        const held = this.#parts.get(part);
        if (!held) {
            this.#parts.set(part, { usage, events, members: new Set(members) });
            return;
        }
        held.usage = combine(this.aggregation, held.usage, usage);
        held.events += events;
        for (const member of members)
            held.members.add(member);
    }
    forgetPart(part) {
        this.#parts.delete(part);
    }
    forget() {
        this.#parts = new Map();
    }
    usage() {
        const parts = [...this.#parts.values()];
        if (this.aggregation === 'UNIQUE')
            return decimal.fromNumber(new Set(parts.flatMap(({ members }) => [...members])).size);
        if (parts.length === 0)
            return decimal.zero;
        const usage = parts.map((part) => part.usage).reduce((a, b) => combine(this.aggregation, a, b));
        if (this.aggregation !== 'AVG')
            return usage;
        return decimal.divide(usage, decimal.fromNumber(parts.reduce((sum, { events }) => sum + events, 0)));
    }
}
function combine(aggregation, a, b) {
    if (aggregation === 'MAX')
        return decimal.max(a, b);
    if (aggregation === 'MIN')
        return decimal.compare(a, b) < 0 ? a : b;
    return decimal.add(a, b);
}
/** Lines of groups, drawn from buckets in the order of time: where each stood at the end of each slice since usage last started again. */
export class GroupLines {
    plan;
    cuts;
    aggregation;
    #groups = new Map();
    #slice = -1;
    #period;
    /** `cuts`: the buckets that the slices of the plan begin with. */
    constructor(plan, cuts, aggregation) {
        this.plan = plan;
        this.cuts = cuts;
        this.aggregation = aggregation;
        this.#period = plan.slices[0].period;
    }
    get size() {
        return this.#groups.size;
    }
    add({ part, bucket, isLevel, groups }) {
        const { slices } = this.plan;
        while (this.#slice + 1 < slices.length && this.cuts[this.#slice + 1] <= bucket) {
            this.#close();
            this.#slice += 1;
            const { period } = slices[this.#slice];
            if (period !== this.#period)
                for (const group of this.#groups.values())
                    group.forget();
            this.#period = period;
        }
        if (isLevel)
            for (const group of this.#groups.values())
                group.forgetPart(part);
        for (const share of groups) {
            const name = JSON.stringify(share.values);
            let group = this.#groups.get(name);
            if (!group) {
                group = new Group(share.values, this.aggregation);
                this.#groups.set(name, group);
            }
            group.add(part, share);
        }
    }
    /** `dimensions` are those of the shares. */
    lines(dimensions) {
        this.#close();
        return [...this.#groups.values()].map(({ values, points }) => ({
            tags: dimensions.map((key, index) => ({ key, value: values[index] })),
            points: this.#lineOf(points),
        }));
    }
    #close() {
        for (const group of this.#groups.values())
            group.points.set(this.#slice, group.usage());
    }
    /** A slice without usage of the group has what the one before had, unless usage has started again. */
    #lineOf(points) {
        let held = points.get(-1) ?? decimal.zero;
        let period = this.plan.slices[0].period;
        return this.plan.slices.map(({ start, isReset, period: current }, index) => {
            if (current !== period)
                held = decimal.zero;
            period = current;
            held = points.get(index) ?? held;
            return { at: start, value: held, isReset };
        });
    }
}
//# sourceMappingURL=groups.js.map