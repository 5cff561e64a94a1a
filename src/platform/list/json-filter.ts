import { invalidInput } from '../../kernel/problem.js'
import { type Column, type Columns, ownOf } from './columns.js'
import type { Filter } from './request.js'

/** Nesting is bounded, since no schema bounds what is in a JSON value. */
const maxDepth = 5

/** A filter that was sent as JSON, checked as a schema would: fields, operators and the types of what is compared with. */
export function readJsonFilter(json: unknown, columns: Columns, depth = 0): Filter {
  if (depth > maxDepth) throw invalidInput(`A filter nests at most ${maxDepth} levels.`, { path: 'filter' })
  return Object.fromEntries(
    Object.entries(asObject(json, 'filter')).map(([field, value]) => {
      if (value === null) return [field, null]
      if (field === 'and' || field === 'or') return [field, asList(value, field).map((part) => readJsonFilter(part, columns, depth + 1))]
      const column = ownOf(columns, field)
      if (!column || 'some' in column) throw invalidInput(`The list cannot be filtered by "${field}".`, { path: field })
      return [field, readComparison(asObject(value, field), column, field)]
    }),
  )
}

function readComparison(comparison: Readonly<Record<string, unknown>>, column: Column, field: string): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(comparison).map(([operator, operand]) => {
      if (operator === 'is' || operator === 'isNot') {
        if (operand !== null && typeof operand !== 'boolean')
          throw invalidInput(`"${field}.${operator}" takes true, false or null.`, { path: field })
        return [operator, operand]
      }
      if (operator === 'in' || operator === 'notIn')
        return [operator, asList(operand, field).map((value) => readValue(value, column, field))]
      if (operator === 'between' || operator === 'notBetween') {
        const { lower, upper } = asObject(operand, field)
        return [operator, { lower: readValue(lower, column, field), upper: readValue(upper, column, field) }]
      }
      return [operator, operand === null ? null : readValue(operand, column, field)]
    }),
  )
}

function readValue(value: unknown, { kind }: Column, field: string): unknown {
  if (kind === 'time') {
    const at = typeof value === 'string' ? Date.parse(value) : Number.isInteger(value) ? (value as number) : Number.NaN
    if (!(at >= 0 && at <= lastMs))
      throw invalidInput(
        `"${field}" is compared with times of the years 1970 to 9999 such as 2026-01-31T09:30:00Z, or epoch milliseconds.`,
        { path: field },
      )
    return at
  }
  const isRight = kind === 'integer' ? isInteger(value) : typeof value === (kind === 'boolean' ? 'boolean' : 'string')
  if (!isRight)
    throw invalidInput(
      `"${field}" is compared with ${kind === 'integer' ? 'whole numbers' : kind === 'boolean' ? 'true or false' : 'texts'}.`,
      { path: field },
    )
  return value
}

const lastMs = Date.parse('9999-12-31T23:59:59.999Z')

/** As the schema's Int and the columns have it. */
const isInteger = (value: unknown) => Number.isInteger(value) && Math.abs(value as number) <= 2_147_483_647

function asObject(value: unknown, field: string): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw invalidInput(`"${field}" must be an object.`, { path: field })
}

function asList(value: unknown, field: string): unknown[] {
  if (Array.isArray(value)) return value
  throw invalidInput(`"${field}" must be a list.`, { path: field })
}
