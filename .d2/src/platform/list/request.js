/**
 * A list as a caller asks for it, and a page of it as it is answered. The names of fields are the caller's; see columns.ts for what they stand for.
 *
 * page     the part of a list that one answer has
 * cursor   the place of one row in the order that was asked for: opaque, and good for that order only
 * keyset   paging by the values of the last row instead of by counting, so that rows that come and go move nothing
 */
export {};
//# sourceMappingURL=request.js.map