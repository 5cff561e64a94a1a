/** What raw SQL is sent with, and how values are written for it. */
import type pg from 'pg'

/** A connection inside a transaction, or any one for reading. */
export type Queryable = Pick<pg.Pool, 'query'>

/**
 * PostgreSQL's text of an array whose elements need no quotes: ids, numbers, times, names of ours. Writing it takes a fraction of what the driver does
 * to any text.
 */
export const plainArray = (values: readonly (string | number | boolean | null)[]): string =>
  `{${values.map((value) => value ?? 'NULL').join()}}`
