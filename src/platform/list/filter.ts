import { invalidInput } from '../../kernel/problem.js'
import { Prisma } from '../postgres.js'
import { type Column, type Columns, ownOf } from './columns.js'
import type { Comparison, Filter } from './request.js'

/** A filter is a condition of one statement: this many comparisons are more than a person writes, and few enough to plan. */
const maxComparisons = 200
/** Of all lists of one filter. */
export const maxFilterValues = 1_000

/** The condition that a filter means; null, like false, for rows that do not pass. Fails with BAD_USER_INPUT when a comparison makes no sense. */
export function filterCondition(filter: Filter | null | undefined, columns: Columns): Prisma.Sql {
  return new FilterReader().read(filter ?? {}, columns)
}

class FilterReader {
  #comparisons = 0
  #values = 0

  read(filter: Filter, columns: Columns): Prisma.Sql {
    const conditions: Prisma.Sql[] = []
    for (const [field, value] of Object.entries(filter)) {
      if (value === null || value === undefined) continue
      if (field === 'and') conditions.push(...(value as Filter[]).map((part) => this.read(part, columns)))
      else if (field === 'or') conditions.push(...this.#either(value as Filter[], columns))
      else conditions.push(this.#field(field, value as Comparison | Filter, columns))
    }
    return all(conditions)
  }

  /** An empty group asks for nothing. */
  #either(parts: readonly Filter[], columns: Columns): Prisma.Sql[] {
    if (parts.length === 0) return []
    return [
      Prisma.sql`(${Prisma.join(
        parts.map((part) => this.read(part, columns)),
        ' OR ',
      )})`,
    ]
  }

  #field(field: string, value: Comparison | Filter, columns: Columns): Prisma.Sql {
    const column = ownOf(columns, field)
    if (!column) throw invalidInput(`The list cannot be filtered by "${field}".`, { path: field })
    if ('some' in column) return column.some(this.read(value as Filter, column.columns))
    const operators = Object.entries(value).filter(([, operand]) => operand !== undefined)
    this.#comparisons += operators.length
    if (this.#comparisons > maxComparisons)
      throw invalidInput(`A filter may have at most ${maxComparisons} comparisons.`, { limit: maxComparisons })
    for (const [, operand] of operators) if (Array.isArray(operand)) this.#values += operand.length
    if (this.#values > maxFilterValues)
      throw invalidInput(`The lists of a filter may have at most ${maxFilterValues} values, all of them together.`, {
        limit: maxFilterValues,
      })
    return all(operators.map(([operator, operand]) => comparison(field, column, operator, operand)))
  }
}

function all(conditions: readonly Prisma.Sql[]): Prisma.Sql {
  return conditions.length === 0 ? Prisma.sql`TRUE` : Prisma.sql`(${Prisma.join(conditions, ' AND ')})`
}

const orders: Readonly<Record<string, Prisma.Sql>> = {
  gt: Prisma.sql`>`,
  gte: Prisma.sql`>=`,
  lt: Prisma.sql`<`,
  lte: Prisma.sql`<=`,
}

const patterns: Readonly<Record<string, Prisma.Sql>> = {
  like: Prisma.sql`LIKE`,
  notLike: Prisma.sql`NOT LIKE`,
  iLike: Prisma.sql`ILIKE`,
  notILike: Prisma.sql`NOT ILIKE`,
}

/** As in SQL, a row without a value passes no comparison but `is` and `isNot`. */
function comparison(field: string, column: Column, operator: string, operand: unknown): Prisma.Sql {
  const { sql, kind } = column
  if (operator === 'is' || operator === 'isNot') return identity(field, column, operator, operand as boolean | null)
  if (operand === null)
    throw invalidInput(`"${field}.${operator}" takes a value: ask for rows without one with {is: null}.`, { path: field })
  const not = (condition: Prisma.Sql) => Prisma.sql`NOT ${condition}`
  switch (operator) {
    case 'eq':
      return equal(column, [operand])
    case 'neq':
      return not(equal(column, [operand]))
    case 'in':
      return equal(column, operand as unknown[])
    case 'notIn':
      return not(equal(column, operand as unknown[]))
    case 'between':
    case 'notBetween': {
      const { lower, upper } = operand as { lower: unknown; upper: unknown }
      const within = Prisma.sql`(${sql} BETWEEN ${bind(kind, lower)} AND ${bind(kind, upper)})`
      return operator === 'between' ? within : not(within)
    }
  }
  const order = ownOf(orders, operator)
  if (order) return Prisma.sql`${asText(column)} ${order} ${bind(kind === 'uuid' ? 'text' : kind, operand)}`
  const pattern = ownOf(patterns, operator)
  if (pattern) return Prisma.sql`${asText(column)} ${pattern} ${escapeTrailing(String(operand))}`
  throw invalidInput(`"${field}" cannot be compared with "${operator}".`, { path: field })
}

function identity(field: string, { sql, kind }: Column, operator: 'is' | 'isNot', operand: boolean | null): Prisma.Sql {
  const not = operator === 'isNot' ? Prisma.sql`NOT ` : Prisma.empty
  if (operand === null) return Prisma.sql`(${sql} IS ${not}NULL)`
  if (kind !== 'boolean') throw invalidInput(`"${field}.${operator}" takes null only: "${field}" is not true or false.`, { path: field })
  return Prisma.sql`(${sql} IS ${not}${operand ? Prisma.sql`TRUE` : Prisma.sql`FALSE`})`
}

function equal({ sql, kind }: Column, operands: readonly unknown[]): Prisma.Sql {
  // An identifier of another form is nobody's.
  const possible = kind === 'uuid' ? operands.filter((operand) => uuid.test(String(operand))) : operands
  if (possible.length === 0) return Prisma.sql`FALSE`
  // An index that has the order of the list too is followed for one value only when it is compared as one.
  if (possible.length === 1) return Prisma.sql`(${sql} = ${bind(kind, possible[0])})`
  return Prisma.sql`(${sql} = ANY (${bindAll(kind, possible)}))`
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

const asText = ({ sql, kind }: Column) => (kind === 'uuid' ? Prisma.sql`${sql}::text` : sql)

/** PostgreSQL refuses a pattern that ends in an escape without a character. */
const escapeTrailing = (pattern: string) => (/(^|[^\\])(\\\\)*\\$/.test(pattern) ? `${pattern}\\` : pattern)

const types = {
  text: Prisma.sql`text`,
  uuid: Prisma.sql`uuid`,
  time: Prisma.sql`timestamptz`,
  integer: Prisma.sql`integer`,
  boolean: Prisma.sql`boolean`,
} satisfies Record<Column['kind'], Prisma.Sql>

/** A value of a kind as a parameter. Times are epoch milliseconds. */
export const bind = (kind: Column['kind'], value: unknown): Prisma.Sql => Prisma.sql`${parameter(kind, value)}::${types[kind]}`

/** Values of a kind as one parameter, however many: a statement has room for 65,535, and takes a while for each. */
const bindAll = (kind: Column['kind'], values: readonly unknown[]): Prisma.Sql =>
  Prisma.sql`${values.map((value) => parameter(kind, value))}::${types[kind]}[]`

function parameter(kind: Column['kind'], value: unknown): unknown {
  if (kind === 'time') return timeText(value as number)
  if (kind === 'text' && String(value).includes('\0'))
    throw invalidInput('A text that is compared with must not have the character U+0000.')
  return value
}

/** PostgreSQL has no year 0 and writes years of five digits otherwise; no record is that old or that late. */
function timeText(at: number): string {
  const year = new Date(at).getUTCFullYear()
  if (year < 1) return '-infinity'
  return year > 9_999 ? 'infinity' : new Date(at).toISOString()
}
