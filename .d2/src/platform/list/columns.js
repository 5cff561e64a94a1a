import { Prisma } from '../postgres.js';
/** A column by the name that the statement gives it; never missing. `sql` is trusted text, not what a caller sent. */
export function column(kind, sql) {
    return { kind, sql: Prisma.raw(sql), isNullable: false };
}
/** The same for one that a row may lack. */
export function nullable(kind, sql) {
    return { kind, sql: Prisma.raw(sql), isNullable: true };
}
/** What no row has: a field that callers may ask for and nothing is kept of. */
export const nothing = nullable('text', 'NULL::text');
//# sourceMappingURL=columns.js.map