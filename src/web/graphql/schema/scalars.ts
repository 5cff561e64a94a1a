import { GraphQLError, GraphQLScalarType, Kind } from 'graphql'
import { GraphQLDateTime, GraphQLJSON } from 'graphql-scalars'
import type { EpochMs } from '../../../kernel/clock.js'

/** Epoch milliseconds inside, ISO 8601 with milliseconds and `Z` outside. Takes any zone, refuses days that do not exist and times without a zone. */
export const DateTime = new GraphQLScalarType<EpochMs, string>({
  name: 'DateTime',
  description: 'A time as ISO 8601 text. Answers have milliseconds and the zone Z: 2026-01-31T09:30:00.000Z.',
  specifiedByURL: 'https://scalars.graphql.org/andimarek/date-time.html',
  serialize: (at) => new Date(at as EpochMs).toISOString(),
  parseValue: (text) => GraphQLDateTime.parseValue(text).getTime(),
  parseLiteral: (node) => GraphQLDateTime.parseLiteral(node, undefined).getTime(),
})

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
