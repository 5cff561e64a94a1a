import { Prisma } from '../postgres.js';
import { filterCondition } from './filter.js';
import { beyond, notBeyond, orderBy, readOrder, readWindow, writeCursor } from './keyset.js';
/**
 * The page of a list that a request asks for, as ids (ours) with their cursors. `scope` is what every row must pass: its environment, at least.
 * Walking on from the cursor of the last row meets every row that was there all the time exactly once.
 */
export async function readPage(db, list, scope, { filter, sorting, paging }) {
    const keys = readOrder(sorting, list.columns, list);
    const window = readWindow(paging ?? {}, keys);
    const where = Prisma.sql `${scope} AND ${filterCondition(filter, list.columns)}`;
    const bounds = [
        ...(window.after ? [beyond(keys, window.after, 'after')] : []),
        ...(window.before ? [beyond(keys, window.before, 'before')] : []),
    ];
    // One more than asked for says whether there is another page.
    const found = await db.$queryRaw(Prisma.sql `
    SELECT ${Prisma.join(keys.map(({ column }, i) => Prisma.sql `${column.sql} AS ${Prisma.raw(`k${i}`)}`))}
    FROM ${list.from} WHERE ${Prisma.join([where, ...bounds], ' AND ')}
    ORDER BY ${orderBy(keys, window)} LIMIT ${window.size + 1}`);
    const places = found.slice(0, window.size).map((row) => placeOf(row, keys));
    if (window.isBackward)
        places.reverse();
    const hasMore = found.length > window.size;
    const [ahead, behind] = window.isBackward ? ['before', 'after'] : ['after', 'before'];
    // What lies on the other side of where the walk began: there is something exactly when the cursor's own place, or one behind it, has a row.
    const start = window[ahead];
    const stop = window[behind];
    const isAny = async (place, side) => place !== null && (await exists(db, list, Prisma.sql `${where} AND ${notBeyond(keys, place, side)}`));
    const hasBehind = await isAny(start, ahead);
    const hasAhead = hasMore || (await isAny(stop, behind));
    return {
        rows: places.map((place) => ({ cursor: writeCursor(place, keys), item: place.at(-1) })),
        hasNextPage: window.isBackward ? hasBehind : hasAhead,
        hasPreviousPage: window.isBackward ? hasAhead : hasBehind,
        totalCount: async () => {
            const [row] = await db.$queryRaw(Prisma.sql `SELECT count(*)::integer AS count FROM ${list.from} WHERE ${where}`);
            return row.count;
        },
    };
}
async function exists(db, { from }, condition) {
    const [row] = await db.$queryRaw(Prisma.sql `SELECT EXISTS (SELECT FROM ${from} WHERE ${condition}) AS is_any`);
    return row.is_any;
}
function placeOf(row, keys) {
    return keys.map((_, i) => {
        const value = row[`k${i}`];
        return value instanceof Date ? value.getTime() : value;
    });
}
/** A page of ids with the records that they name, loaded at once. */
export async function withRecords(page, load) {
    const ids = page.rows.map(({ item }) => item);
    const records = ids.length === 0 ? new Map() : await load(ids);
    return { ...page, rows: page.rows.map(({ cursor, item }) => ({ cursor, item: records.get(item) })) };
}
//# sourceMappingURL=page.js.map