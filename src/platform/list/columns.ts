import { Prisma } from '../postgres.js'

/** What a field of a list stands for in SQL. `sql` has the type that `kind` says. */
export interface Column {
  sql: Prisma.Sql
  kind: 'text' | 'uuid' | 'time' | 'integer' | 'boolean'
  isNullable: boolean
}

/** Records that belong to a row: the row passes when one of them does. */
export interface Relation {
  /** Whether a related record exists for which `condition` holds. */
  some(condition: Prisma.Sql): Prisma.Sql
  columns: Columns
}

export type Columns = Readonly<Record<string, Column | Relation>>

/** A column by the name that the statement gives it; never missing. `sql` is trusted text, not what a caller sent. */
export function column(kind: Column['kind'], sql: string): Column {
  return { kind, sql: Prisma.raw(sql), isNullable: false }
}

/** The same for one that a row may lack. */
export function nullable(kind: Column['kind'], sql: string): Column {
  return { kind, sql: Prisma.raw(sql), isNullable: true }
}

/** What no row has: a field that callers may ask for and nothing is kept of. */
export const nothing: Column = nullable('text', 'NULL::text')

/** What stands under a name that a caller has sent: every object has a `constructor`, and it is none of ours. */
export const ownOf = <T>(record: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(record, name) ? record[name] : undefined
