import { invalidInput } from '../../kernel/problem.js'
import { Prisma } from '../postgres.js'
import { type Column, type Columns, ownOf } from './columns.js'
import { bind } from './filter.js'
import type { Paging, SortKey } from './request.js'

export const defaultPageSize = 10
export const maxPageSize = 100
/** Orders are told apart by a few fields; more are a mistake. */
const maxSortKeys = 10

/** One key of a total order. The last one is the row's id, which no two rows share. */
export interface Key {
  field: string
  column: Column
  isDescending: boolean
  areNullsFirst: boolean
}

/** The values of one row, in the order of the keys. Times are epoch milliseconds. */
export type KeyValues = readonly (string | number | boolean | null)[]

export interface Window {
  size: number
  isBackward: boolean
  after: KeyValues | null
  before: KeyValues | null
}

/** The order that was asked for, ended by the row's id so that equal rows have an order too. */
export function readOrder(
  sorting: readonly SortKey[] | null | undefined,
  columns: Columns,
  options: { defaultSort: SortKey; id: Column },
): Key[] {
  const sorts = sorting && sorting.length > 0 ? sorting : [options.defaultSort]
  if (sorts.length > maxSortKeys)
    throw invalidInput(`A list is sorted by at most ${maxSortKeys} fields.`, { path: 'sorting', limit: maxSortKeys })
  const keys = sorts.map(({ field, direction, nulls }): Key => {
    const column = ownOf(columns, field)
    if (!column || 'some' in column) throw invalidInput(`The list cannot be sorted by "${field}".`, { path: 'sorting' })
    const isDescending = direction === 'DESC'
    return { field, column, isDescending, areNullsFirst: nulls ? nulls === 'NULLS_FIRST' : isDescending }
  })
  return [...keys, { field: 'id', column: options.id, isDescending: keys.at(-1)!.isDescending, areNullsFirst: false }]
}

/** Fails with BAD_USER_INPUT for sizes that are not served and cursors of another order. */
export function readWindow({ first, last, after, before }: Paging, keys: readonly Key[]): Window {
  if (isGiven(first) && isGiven(last)) throw invalidInput('Send first or last, not both.', { path: 'paging' })
  const size = first ?? last ?? defaultPageSize
  if (!Number.isInteger(size) || size < 0 || size > maxPageSize)
    throw invalidInput(`A page has 0 to ${maxPageSize} items, not ${size}: ask for the next ones with a cursor.`, {
      path: 'paging',
      limit: maxPageSize,
    })
  // Who says only where to stop wants what is just before it.
  const isBackward = isGiven(last) || (isGiven(before) && !isGiven(after) && !isGiven(first))
  return {
    size,
    isBackward,
    after: isGiven(after) ? readCursor(after, keys) : null,
    before: isGiven(before) ? readCursor(before, keys) : null,
  }
}

/** How rows are read: backwards means from the end of the window to its start. */
export function orderBy(keys: readonly Key[], { isBackward }: Pick<Window, 'isBackward'>): Prisma.Sql {
  const parts = keys.map(({ column, isDescending, areNullsFirst }) => {
    const direction = isDescending === isBackward ? Prisma.sql`ASC` : Prisma.sql`DESC`
    if (!column.isNullable) return Prisma.sql`${column.sql} ${direction}`
    return Prisma.sql`${column.sql} ${direction} NULLS ${areNullsFirst === isBackward ? Prisma.sql`LAST` : Prisma.sql`FIRST`}`
  })
  return Prisma.join(parts)
}

/** Whether a row comes after the values in the order of the keys, or before them when they say where to stop. */
export function beyond(keys: readonly Key[], at: KeyValues, side: 'after' | 'before'): Prisma.Sql {
  if (isOneWay(keys)) return compareRows(keys, at, isGreater(keys[0]!, side) ? Prisma.sql`>` : Prisma.sql`<`)
  const ways = keys.map((key, i) => {
    const equals = keys.slice(0, i).map(({ column }, j) => isEqual(column, at[j]!))
    return Prisma.sql`(${Prisma.join([...equals, isBeyond(key, at[i]!, side)], ' AND ')})`
  })
  // Comparing with a missing value is neither true nor false.
  return Prisma.sql`coalesce(${Prisma.join(ways, ' OR ')}, FALSE)`
}

/** Whether a row has the values or is on their other side. */
export function notBeyond(keys: readonly Key[], at: KeyValues, side: 'after' | 'before'): Prisma.Sql {
  if (isOneWay(keys)) return compareRows(keys, at, isGreater(keys[0]!, side) ? Prisma.sql`<=` : Prisma.sql`>=`)
  return Prisma.sql`NOT ${beyond(keys, at, side)}`
}

/** One comparison of rows is what an index over the same columns can follow. */
function compareRows(keys: readonly Key[], at: KeyValues, operator: Prisma.Sql): Prisma.Sql {
  const columns = Prisma.join(keys.map(({ column }) => column.sql))
  const values = Prisma.join(keys.map(({ column }, i) => bind(column.kind, at[i])))
  return Prisma.sql`((${columns}) ${operator} (${values}))`
}

const isOneWay = (keys: readonly Key[]) =>
  keys.every(({ column, isDescending }) => !column.isNullable && isDescending === keys[0]!.isDescending)

const isGreater = ({ isDescending }: Pick<Key, 'isDescending'>, side: 'after' | 'before') => (side === 'after') !== isDescending

function isEqual({ sql, kind }: Column, value: KeyValues[number]): Prisma.Sql {
  return value === null ? Prisma.sql`${sql} IS NULL` : Prisma.sql`${sql} = ${bind(kind, value)}`
}

function isBeyond(
  { column: { sql, kind, isNullable }, isDescending, areNullsFirst }: Key,
  value: KeyValues[number],
  side: 'after' | 'before',
): Prisma.Sql {
  const areNullsBeyond = areNullsFirst === (side === 'before')
  if (value === null) return areNullsBeyond ? Prisma.sql`FALSE` : Prisma.sql`${sql} IS NOT NULL`
  const operator = isGreater({ isDescending }, side) ? Prisma.sql`>` : Prisma.sql`<`
  const condition = Prisma.sql`${sql} ${operator} ${bind(kind, value)}`
  return isNullable && areNullsBeyond ? Prisma.sql`(${condition} OR ${sql} IS NULL)` : condition
}

/** Names the order too, so that a cursor of another one is refused instead of skipping rows. */
const orderName = (keys: readonly Key[]) =>
  keys.map(({ field, isDescending, areNullsFirst }) => `${field}${isDescending ? '-' : '+'}${areNullsFirst ? '0' : ''}`).join(' ')

export function writeCursor(at: KeyValues, keys: readonly Key[]): string {
  return Buffer.from(JSON.stringify([orderName(keys), ...at])).toString('base64url')
}

function readCursor(cursor: string, keys: readonly Key[]): KeyValues {
  const [order, ...at] = parse(cursor)
  if (order !== orderName(keys)) throw invalidInput('The cursor is not one of this list in this order.', { path: 'paging' })
  const fits = at.length === keys.length && keys.every(({ column }, i) => isOfKind(column, at[i]))
  if (!fits) throw invalidInput('The cursor is not one of this list in this order.', { path: 'paging' })
  return at as KeyValues
}

function parse(cursor: string): unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    return Array.isArray(value) ? value : []
  } catch {
    return []
  }
}

function isOfKind({ kind, isNullable }: Column, value: unknown): boolean {
  if (value === null) return isNullable
  if (kind === 'time') return typeof value === 'number' && !Number.isNaN(new Date(value).getTime())
  if (kind === 'integer') return Number.isInteger(value) && Math.abs(value as number) < 2 ** 31
  if (kind === 'uuid') return typeof value === 'string' && /^[0-9a-f-]{36}$/.test(value)
  return kind === 'boolean' ? typeof value === 'boolean' : typeof value === 'string' && !value.includes('\0')
}

function isGiven<T>(value: T | null | undefined): value is T {
  return value !== null && value !== undefined
}
