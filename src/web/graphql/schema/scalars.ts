import { GraphQLError, GraphQLScalarType, Kind } from 'graphql'
import { GraphQLDateTime, GraphQLJSON } from 'graphql-scalars'
import type { EpochMs } from '../../../kernel/clock.js'
import { isoTime } from '../../../kernel/iso-time.js'

/**
 * Epoch milliseconds inside, ISO 8601 with milliseconds and `Z` outside. Takes any zone, refuses days that do not exist and times without a zone. Takes epoch
 * milliseconds too: clients send back what was pushed to them.
 */
export const DateTime = new GraphQLScalarType<EpochMs, string>({
  name: 'DateTime',
  description:
    'A time as ISO 8601 text. Answers have milliseconds and the zone Z: 2026-01-31T09:30:00.000Z. Epoch milliseconds are taken too.',
  specifiedByURL: 'https://scalars.graphql.org/andimarek/date-time.html',
  serialize: (at) => isoTime(at as EpochMs),
  parseValue: (value) => (typeof value === 'number' ? readEpochMs(value) : within(GraphQLDateTime.parseValue(value).getTime())),
  parseLiteral: (node) =>
    node.kind === Kind.INT ? readEpochMs(Number(node.value)) : within(GraphQLDateTime.parseLiteral(node, undefined).getTime()),
})

/** What happens outside of these years is a slip; years of more than four digits have another form as text, and some of fewer no database. */
const [firstMs, lastMs] = [Date.parse('1970-01-01T00:00:00Z'), Date.parse('9999-12-31T23:59:59.999Z')]

function within(at: EpochMs): EpochMs {
  if (at < firstMs || at > lastMs) throw new GraphQLError('A time is in the years 1970 to 9999.')
  return at
}

function readEpochMs(value: number): EpochMs {
  if (!Number.isInteger(value) || value < firstMs || value > lastMs)
    throw new GraphQLError(`A time as a number is in whole epoch milliseconds of the years 1970 to 9999: ${value} is none.`)
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
