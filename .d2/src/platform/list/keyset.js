import { invalidInput } from '../../kernel/problem.js';
import { Prisma } from '../postgres.js';
import { bind } from './filter.js';
export const defaultPageSize = 10;
export const maxPageSize = 100;
/** Orders are told apart by a few fields; more are a mistake. */
const maxSortKeys = 10;
/** The order that was asked for, ended by the row's id so that equal rows have an order too. */
export function readOrder(sorting, columns, options) {
    const sorts = sorting && sorting.length > 0 ? sorting : [options.defaultSort];
    if (sorts.length > maxSortKeys)
        throw invalidInput(`A list is sorted by at most ${maxSortKeys} fields.`, { path: 'sorting', limit: maxSortKeys });
    const keys = sorts.map(({ field, direction, nulls }) => {
        const column = columns[field];
        if (!column || 'some' in column)
            throw invalidInput(`The list cannot be sorted by "${field}".`, { path: 'sorting' });
        const isDescending = direction === 'DESC';
        return { field, column, isDescending, areNullsFirst: nulls ? nulls === 'NULLS_FIRST' : isDescending };
    });
    return [...keys, { field: 'id', column: options.id, isDescending: keys.at(-1).isDescending, areNullsFirst: false }];
}
/** Fails with BAD_USER_INPUT for sizes that are not served and cursors of another order. */
export function readWindow({ first, last, after, before }, keys) {
    if (isGiven(first) && isGiven(last))
        throw invalidInput('Send first or last, not both.', { path: 'paging' });
    const size = first ?? last ?? defaultPageSize;
    if (!Number.isInteger(size) || size < 0 || size > maxPageSize)
        throw invalidInput(`A page has 0 to ${maxPageSize} items, not ${size}: ask for the next ones with a cursor.`, {
            path: 'paging',
            limit: maxPageSize,
        });
    // Who gives only a place to stop at wants what is just before it.
    const isBackward = isGiven(last) || (isGiven(before) && !isGiven(after) && !isGiven(first));
    return {
        size,
        isBackward,
        after: isGiven(after) ? readCursor(after, keys) : null,
        before: isGiven(before) ? readCursor(before, keys) : null,
    };
}
/** How rows are read: backwards means from the end of the window to its start. */
export function orderBy(keys, { isBackward }) {
    const parts = keys.map(({ column, isDescending, areNullsFirst }) => {
        const direction = isDescending === isBackward ? Prisma.sql `ASC` : Prisma.sql `DESC`;
        if (!column.isNullable)
            return Prisma.sql `${column.sql} ${direction}`;
        return Prisma.sql `${column.sql} ${direction} NULLS ${areNullsFirst === isBackward ? Prisma.sql `LAST` : Prisma.sql `FIRST`}`;
    });
    return Prisma.join(parts);
}
/** Whether a row comes after a place in the order of the keys, or before it when the place is where to stop. */
export function beyond(keys, place, side) {
    if (isOneWay(keys))
        return compareRows(keys, place, isGreater(keys[0], side) ? Prisma.sql `>` : Prisma.sql `<`);
    const ways = keys.map((key, i) => {
        const equals = keys.slice(0, i).map(({ column }, j) => isEqual(column, place[j]));
        return Prisma.sql `(${Prisma.join([...equals, isBeyond(key, place[i], side)], ' AND ')})`;
    });
    // Comparing with a missing value is neither true nor false.
    return Prisma.sql `coalesce(${Prisma.join(ways, ' OR ')}, FALSE)`;
}
/** Whether a row is at the place or on its other side. */
export function notBeyond(keys, place, side) {
    if (isOneWay(keys))
        return compareRows(keys, place, isGreater(keys[0], side) ? Prisma.sql `<=` : Prisma.sql `>=`);
    return Prisma.sql `NOT ${beyond(keys, place, side)}`;
}
/** One comparison of rows is what an index over the same columns can follow. */
function compareRows(keys, place, operator) {
    const columns = Prisma.join(keys.map(({ column }) => column.sql));
    const values = Prisma.join(keys.map(({ column }, i) => bind(column.kind, place[i])));
    return Prisma.sql `((${columns}) ${operator} (${values}))`;
}
const isOneWay = (keys) => keys.every(({ column, isDescending }) => !column.isNullable && isDescending === keys[0].isDescending);
const isGreater = ({ isDescending }, side) => (side === 'after') !== isDescending;
function isEqual({ sql, kind }, value) {
    return value === null ? Prisma.sql `${sql} IS NULL` : Prisma.sql `${sql} = ${bind(kind, value)}`;
}
function isBeyond({ column: { sql, kind, isNullable }, isDescending, areNullsFirst }, value, side) {
    const areNullsBeyond = areNullsFirst === (side === 'before');
    if (value === null)
        return areNullsBeyond ? Prisma.sql `FALSE` : Prisma.sql `${sql} IS NOT NULL`;
    const operator = isGreater({ isDescending }, side) ? Prisma.sql `>` : Prisma.sql `<`;
    const condition = Prisma.sql `${sql} ${operator} ${bind(kind, value)}`;
    return isNullable && areNullsBeyond ? Prisma.sql `(${condition} OR ${sql} IS NULL)` : condition;
}
/** Names the order too, so that a cursor of another one is refused instead of skipping rows. */
const orderName = (keys) => keys.map(({ field, isDescending, areNullsFirst }) => `${field}${isDescending ? '-' : '+'}${areNullsFirst ? '0' : ''}`).join(' ');
export function writeCursor(place, keys) {
    return Buffer.from(JSON.stringify([orderName(keys), ...place])).toString('base64url');
}
function readCursor(cursor, keys) {
    const [order, ...place] = parse(cursor);
    if (order !== orderName(keys))
        throw invalidInput('The cursor is not one of this list in this order.', { path: 'paging' });
    const fits = place.length === keys.length && keys.every(({ column }, i) => isOfKind(column, place[i]));
    if (!fits)
        throw invalidInput('The cursor is not one of this list in this order.', { path: 'paging' });
    return place;
}
function parse(cursor) {
    try {
        const value = JSON.parse(Buffer.from(cursor, 'base64url').toString());
        return Array.isArray(value) ? value : [];
    }
    catch {
        return [];
    }
}
function isOfKind({ kind, isNullable }, value) {
    if (value === null)
        return isNullable;
    if (kind === 'time')
        return typeof value === 'number' && !Number.isNaN(new Date(value).getTime());
    if (kind === 'integer')
        return Number.isInteger(value) && Math.abs(value) < 2 ** 31;
    if (kind === 'uuid')
        return typeof value === 'string' && /^[0-9a-f-]{36}$/.test(value);
    return kind === 'boolean' ? typeof value === 'boolean' : typeof value === 'string' && !value.includes('\0');
}
function isGiven(value) {
    return value !== null && value !== undefined;
}
//# sourceMappingURL=keyset.js.map