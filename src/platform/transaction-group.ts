/**
 * Work for several things in one transaction without a statement for each.
 *
 * group           a transaction in which work for several things goes on at the same time
 * once per group  how a statement is sent that in a group waits for the others of its kind; alone it is sent at once
 */
import type { Db } from './postgres.js'

const groups = new WeakSet<Db>()

/**
 * Does the work for each item at the same time in one transaction, all or nothing, and answers the results in their order. What happens to one item
 * happens in the order that its work says; between items there is no order.
 */
export async function inGroup<Item, Result>(db: Db, items: readonly Item[], work: (item: Item) => Promise<Result>): Promise<Result[]> {
  groups.add(db)
  // All of them end before the transaction does, or the rest would send statements to whoever has the connection next.
  const settled = await Promise.allSettled(items.map(work))
  return settled.map((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason
    return outcome.value
  })
}

interface Waiting<Input, Output> {
  input: Input
  resolve: (output: Output) => void
  reject: (error: unknown) => void
}

/** `run` takes what is asked for at the same time and answers in its order; outside of a group that is always one. It is never given nothing. */
export function oncePerGroup<Input, Output>(
  run: (db: Db, inputs: Input[]) => Promise<readonly Output[]>,
): (db: Db, input: Input) => Promise<Output> {
  const waiting = new WeakMap<Db, Waiting<Input, Output>[]>()
  const runAll = async (db: Db, all: Waiting<Input, Output>[]) => {
    waiting.delete(db)
    try {
      const outputs = await run(
        db,
        all.map(({ input }) => input),
      )
      for (const [index, { resolve }] of all.entries()) resolve(outputs[index] as Output)
    } catch (error) {
      for (const { reject } of all) reject(error)
    }
  }
  return async (db, input) => {
    if (!groups.has(db)) return (await run(db, [input]))[0] as Output
    return new Promise((resolve, reject) => {
      const all = waiting.get(db) ?? []
      all.push({ input, resolve, reject })
      if (all.length > 1) return
      waiting.set(db, all)
      // Everybody who was answered by the statement before has asked by then.
      setImmediate(() => void runAll(db, all))
    })
  }
}

/** A row by names of columns; times are Dates. */
export type Row = Readonly<Record<string, unknown>>

/** Adds rows that all have the same columns; the others get their defaults. `onConflict`: SQL of what happens to one that is there. */
export async function insertRows(db: Db, table: string, rows: readonly Row[], onConflict = ''): Promise<void> {
  const columns = columnsOf(rows)
  await db.$executeRawUnsafe(
    `INSERT INTO ${table} (${columns.join()}) SELECT ${columns.join()} FROM jsonb_populate_recordset(NULL::${table}, $1::jsonb) ${onConflict}`,
    JSON.stringify(rows),
  )
}

/** Changes rows by their environment and id; all have the same columns. `also`: SQL of what else changes in each. */
export async function updateRows(db: Db, table: string, rows: readonly Row[], also?: string): Promise<void> {
  const columns = columnsOf(rows).filter((column) => column !== 'environment_id' && column !== 'id')
  await db.$executeRawUnsafe(
    `UPDATE ${table} AS changed SET ${[...columns.map((column) => `${column} = wanted.${column}`), ...(also === undefined ? [] : [also])].join()}
     FROM jsonb_populate_recordset(NULL::${table}, $1::jsonb) AS wanted
     WHERE changed.environment_id = wanted.environment_id AND changed.id = wanted.id`,
    JSON.stringify(rows),
  )
}

/** @throws Error when they are not the same in all rows: what only some have would be lost */
function columnsOf(rows: readonly Row[]): string[] {
  const columns = Object.keys(rows[0]!)
  const isSame = (row: Row) => Object.keys(row).length === columns.length && columns.every((column) => column in row)
  if (!rows.every(isSame)) throw new Error('rows that are written together have different columns')
  return columns
}

/** The columns that Prisma calls by their names in camel case. Null stands for NULL; what is undefined is left out. */
export function toRow(fields: Readonly<Record<string, unknown>>): Row {
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), value]),
  )
}
