/** The definitions of a catalog with the places where they were written, for saying what is wrong where. */
import { suggestion } from '../../kernel/nearest.js';
/** Definitions of one kind by refId. */
export class Index {
    kind;
    byRefId = new Map();
    constructor(kind) {
        this.kind = kind;
    }
    /** Answers the definition that has this refId already, else null. */
    add(item) {
        if (item.refId === null)
            return null;
        const first = this.byRefId.get(item.refId);
        if (first)
            return first;
        this.byRefId.set(item.refId, item);
        return null;
    }
    /** The definition named at `path`. Null when it could not be read, or does not exist, which is reported. */
    find(refId, path, report) {
        const found = this.byRefId.get(refId);
        if (!found)
            report(path, `there is no ${this.kind} '${refId}'${suggestion(refId, this.byRefId.keys())}`);
        return found?.value ?? null;
    }
}
/** Reports every value that stands in the list before. */
export function checkDistinct(values, path, report) {
    const seen = new Set();
    for (const [position, value] of values.entries()) {
        if (seen.has(value))
            report(`${path}[${position}]`, `'${value}' is listed twice`);
        seen.add(value);
    }
}
//# sourceMappingURL=located.js.map