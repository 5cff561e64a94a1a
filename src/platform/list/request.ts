/**
 * A list as a caller asks for it, and a page of it as it is answered. The names of fields are the caller's; see columns.ts for what they stand for.
 *
 * page     the part of a list that one answer has
 * cursor   where one row stands in the order that was asked for: opaque, and good for that order only
 * keyset   paging by the values of the last row instead of by counting, so that rows that come and go move nothing
 */

/** What one field is compared with; a row must pass all operators. `is` and `isNot` take null too. */
export type Comparison = Readonly<Record<string, unknown>>

/** Fields with their comparisons, relations with filters of their own, and groups. A row must pass all of it. */
export interface Filter {
  readonly and?: readonly Filter[] | null
  readonly or?: readonly Filter[] | null
  readonly [field: string]: Comparison | Filter | readonly Filter[] | null | undefined
}

export interface SortKey {
  field: string
  direction: 'ASC' | 'DESC'
  /** Default: last when ascending, first when descending. */
  nulls?: 'NULLS_FIRST' | 'NULLS_LAST' | null
}

/** `first` and `after` walk forwards, `last` and `before` backwards. */
export interface Paging {
  first?: number | null
  last?: number | null
  after?: string | null
  before?: string | null
}

export interface ListRequest {
  filter?: Filter | null
  /** Empty or absent: the list's own order, the newest first. */
  sorting?: readonly SortKey[] | null
  paging?: Paging | null
}

export interface Page<T> {
  rows: { cursor: string; item: T }[]
  hasNextPage: boolean
  hasPreviousPage: boolean
  /** Of all pages. Asks the database when it is called. */
  totalCount(): Promise<number>
}
