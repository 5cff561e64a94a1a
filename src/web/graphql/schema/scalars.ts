import { GraphQLError, GraphQLScalarType, Kind } from 'graphql'
import { GraphQLDateTime, GraphQLJSON } from 'graphql-scalars'
import type { EpochMs } from '../../../kernel/clock.js'

/**
 * Epoch milliseconds inside, ISO 8601 with milliseconds and `Z` outside. Takes any zone, refuses days that do not exist and times without a zone. Takes epoch
 * milliseconds too: clients send back what was pushed to them.
 */
export const DateTime = new GraphQLScalarType<EpochMs, string>({
  name: 'DateTime',
  description:
    'A time as ISO 8601 text. Answers have milliseconds and the zone Z: 2026-01-31T09:30:00.000Z. Epoch milliseconds are taken too.',
  specifiedByURL: 'https://scalars.graphql.org/andimarek/date-time.html',
  serialize: (at) => new Date(at as EpochMs).toISOString(),
  parseValue: (value) => (typeof value === 'number' ? readEpochMs(value) : GraphQLDateTime.parseValue(value).getTime()),
  parseLiteral: (node) =>
    node.kind === Kind.INT ? readEpochMs(Number(node.value)) : GraphQLDateTime.parseLiteral(node, undefined).getTime(),
})

/** Years of more than four digits have another form as text, which no answer of ours has. */
const [firstMs, lastMs] = [Date.parse('0000-01-01T00:00:00Z'), Date.parse('9999-12-31T23:59:59.999Z')]

function readEpochMs(value: number): EpochMs {
  if (!Number.isInteger(value) || value < firstMs || value > lastMs)
    throw new GraphQLError(`A time as a number is in whole epoch milliseconds: ${value} is none.`)
  return value
}

export const Json = new GraphQLScalarType({ ...GraphQLJSON.toConfig(), description: 'Any JSON value.' })

export const ConnectionCursor = new GraphQLScalarType<string, string>({
  name: 'ConnectionCursor',
  description: 'The place of a row in a list, in the order that the list was asked for. Opaque: send it back as it came.',
  serialize: String,
  parseValue: readCursor,
  parseLiteral: (node) => readCursor(node.kind === Kind.STRING ? node.value : undefined),
})

function readCursor(value: unknown): string {
  if (typeof value !== 'string') throw new GraphQLError('A cursor is a text.')
  return value
}
