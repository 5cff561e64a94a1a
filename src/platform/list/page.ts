import { type Db, Prisma } from '../postgres.js'
import type { Column, Columns } from './columns.js'
import { filterCondition } from './filter.js'
import { beyond, type Key, type KeyValues, notBeyond, orderBy, readOrder, readWindow, writeCursor } from './keyset.js'
import type { ListRequest, Page, SortKey } from './request.js'

/** A list of an environment: what its rows are, and what they can be filtered and sorted by. */
export interface List {
  /** Tables and joins, without `FROM`. */
  from: Prisma.Sql
  id: Column
  columns: Columns
  defaultSort: SortKey
}

/**
 * The page of a list that a request asks for, as ids (ours) with their cursors. `scope` is what every row must pass: its environment, at least.
 * Walking on from the cursor of the last row meets every row that was there all the time exactly once.
 */
export async function readPage(db: Db, list: List, scope: Prisma.Sql, { filter, sorting, paging }: ListRequest): Promise<Page<string>> {
  const keys = readOrder(sorting, list.columns, list)
  const window = readWindow(paging ?? {}, keys)
  const where = Prisma.sql`${scope} AND ${filterCondition(filter, list.columns)}`
  const bounds = [
    ...(window.after ? [beyond(keys, window.after, 'after')] : []),
    ...(window.before ? [beyond(keys, window.before, 'before')] : []),
  ]
  // One more than asked for says whether there is another page.
  const found = await db.$queryRaw<Record<string, unknown>[]>(Prisma.sql`
    SELECT ${Prisma.join(keys.map(({ column }, i) => Prisma.sql`${column.sql} AS ${Prisma.raw(`k${i}`)}`))}
    FROM ${list.from} WHERE ${Prisma.join([where, ...bounds], ' AND ')}
    ORDER BY ${orderBy(keys, window)} LIMIT ${window.size + 1}`)
  const keyValues = found.slice(0, window.size).map((row) => keyValuesOf(row, keys))
  if (window.isBackward) keyValues.reverse()
  const hasMore = found.length > window.size
  const [ahead, behind] = window.isBackward ? (['before', 'after'] as const) : (['after', 'before'] as const)
  // What lies on the other side of where the walk began: there is something exactly when there is a row where the cursor stands, or behind it.
  const start = window[ahead]
  const stop = window[behind]
  const isAny = async (at: KeyValues | null, side: 'after' | 'before') =>
    at !== null && (await exists(db, list, Prisma.sql`${where} AND ${notBeyond(keys, at, side)}`))
  const hasBehind = await isAny(start, ahead)
  const hasAhead = hasMore || (await isAny(stop, behind))
  return {
    rows: keyValues.map((at) => ({ cursor: writeCursor(at, keys), item: at.at(-1) as string })),
    hasNextPage: window.isBackward ? hasBehind : hasAhead,
    hasPreviousPage: window.isBackward ? hasAhead : hasBehind,
    totalCount: async () => {
      const [row] = await db.$queryRaw<{ count: number }[]>(Prisma.sql`SELECT count(*)::integer AS count FROM ${list.from} WHERE ${where}`)
      return row!.count
    },
  }
}

async function exists(db: Db, { from }: List, condition: Prisma.Sql): Promise<boolean> {
  const [row] = await db.$queryRaw<{ is_any: boolean }[]>(Prisma.sql`SELECT EXISTS (SELECT FROM ${from} WHERE ${condition}) AS is_any`)
  return row!.is_any
}

function keyValuesOf(row: Readonly<Record<string, unknown>>, keys: readonly Key[]): KeyValues {
  return keys.map((_, i) => {
    const value = row[`k${i}`]
    return value instanceof Date ? value.getTime() : (value as KeyValues[number])
  })
}

/** A page of ids with the records that they name, loaded at once. One that was deleted since its id was read is left out. */
export async function withRecords<T>(page: Page<string>, load: (ids: string[]) => Promise<ReadonlyMap<string, T>>): Promise<Page<T>> {
  const ids = page.rows.map(({ item }) => item)
  const records = ids.length === 0 ? new Map<string, T>() : await load(ids)
  const recordsOf = (id: string) => (records.has(id) ? [records.get(id)!] : [])
  return { ...page, rows: page.rows.flatMap(({ cursor, item }) => recordsOf(item).map((record) => ({ cursor, item: record }))) }
}
