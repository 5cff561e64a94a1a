/** A page of the lines of a history. Pure. */
import { invalidInput } from '../../kernel/problem.js';
/** As lists have it. */
const defaultSize = 10;
const maxSize = 100;
/** What stands for a line: opaque, and good for histories that are grouped by the same dimensions. */
export function lineCursor({ tags }) {
    return Buffer.from(JSON.stringify(tags.map(({ key, value }) => [key, value]))).toString('base64url');
}
/** The lines of the page, of lines in the order of their values. Fails with INVALID_ARGUMENT for sizes that are not served and cursors of another grouping. */
export function pageOfLines(lines, { first, last, after, before }, groupBy) {
    if (first !== null && last !== null)
        throw invalidInput('Send first or last, not both.', { path: 'paging' });
    const size = first ?? last ?? defaultSize;
    if (!Number.isInteger(size) || size < 0 || size > maxSize)
        throw invalidInput(`A page has 0 to ${maxSize} items, not ${size}: ask for the next ones with a cursor.`, {
            path: 'paging',
            limit: maxSize,
        });
    const [start, end] = [after, before].map((cursor) => (cursor === null ? null : placeOf(readCursor(cursor, groupBy))));
    const between = lines.filter((line) => {
        const place = placeOf(line.tags.map(({ value }) => value));
        return (start === null || place > start) && (end === null || place < end);
    });
    // Who gives only a place to stop at wants what is just before it.
    const isBackward = last !== null || (before !== null && after === null && first === null);
    return isBackward ? between.slice(Math.max(0, between.length - size)) : between.slice(0, size);
}
/** In the order of their values. */
export function sortLines(lines) {
    const places = new Map(lines.map((line) => [line, placeOf(line.tags.map(({ value }) => value))]));
    return [...lines].sort((a, b) => (places.get(a) < places.get(b) ? -1 : 1));
}
const placeOf = (values) => JSON.stringify(values);
function readCursor(cursor, groupBy) {
    const tags = parse(cursor);
    const fits = tags.length === groupBy.length && groupBy.every((key, index) => tags[index]?.[0] === key && typeof tags[index][1] === 'string');
    if (!fits)
        throw invalidInput('The cursor is not one of a history that is grouped so.', { path: 'paging' });
    return tags.map(([, value]) => value);
}
function parse(cursor) {
    try {
        const value = JSON.parse(Buffer.from(cursor, 'base64url').toString());
        return Array.isArray(value) && value.every(Array.isArray) ? value : [];
    }
    catch {
        return [];
    }
}
//# sourceMappingURL=history-paging.js.map