import { expect } from 'chai'
import fc from 'fast-check'
import { buildSchema, coerceInputValue, type GraphQLInputType } from 'graphql'
import { readerOf, unread } from '../../../../../src/web/graphql/door/input-reader.js'
import { createSchema } from '../../../../../src/web/graphql/schema.js'
import { reports } from './usage-reports.js'

/** What graphql-js makes of the value; `unread`: it refuses it. */
function coerced(value: unknown, type: GraphQLInputType): unknown {
  try {
    return coerceInputValue(value, type)
  } catch {
    return unread
  }
}

describe('the reader of inputs', () => {
  const schema = createSchema()

  for (const [field, { input, argument }] of Object.entries(reports)) {
    const { type } = schema
      .getMutationType()!
      .getFields()
      [field]!.args.find(({ name }) => name === argument)!
    const read = readerOf(type)

    it(`reads what ${field} takes as graphql-js does, and leaves the rest to it`, () => {
      let accepted = 0
      fc.assert(
        fc.property(input, (given) => {
          // As JSON brings it.
          const { value } = JSON.parse(JSON.stringify({ value: given })) as { value: unknown }
          const result = read(value)
          expect(result).to.deep.equal(coerced(value, type))
          if (result !== unread) accepted += 1
        }),
        { numRuns: 500 },
      )
      expect(accepted).to.be.greaterThan(50)
    }).timeout(20_000)
  }

  const event = { customerId: 'c', eventName: 'request', idempotencyKey: 'k' }
  const type = schema.getType('UsageEventsReportInput') as GraphQLInputType
  const read = readerOf(type)

  for (const [title, given] of Object.entries({
    'the least of an event': event,
    'all of an event': {
      ...event,
      resourceId: 'r',
      timestamp: '2026-11-28T10:00:00.123Z',
      dimensions: { a: 1, b: 'x', c: false, d: null },
    },
    'nulls that stand for nothing': { ...event, resourceId: null, timestamp: null, dimensions: null },
    'a time in epoch milliseconds': { ...event, timestamp: 1_795_000_000_123 },
    'an offset of a time': { ...event, timestamp: '2026-11-28T10:00:00+02:00' },
    'dimensions that are refused later': { ...event, dimensions: ['a'] },
  }))
    it(`reads ${title}`, () => {
      const input = { environmentId: 'e', usageEvents: [event, given] }
      expect(read(input)).to.deep.equal(coerceInputValue(input, type))
    })

  for (const [title, given] of Object.entries({
    'no object': 'event',
    'a list for an object': [event],
    null: null,
    'a field that is not in the schema': { ...event, colour: 'red' },
    'a field with the name of a prototype': JSON.parse('{ "customerId": "c", "eventName": "e", "idempotencyKey": "k", "__proto__": {} }'),
    'a missing id': { customerId: 'c', eventName: 'request' },
    'an id that is no text': { ...event, customerId: 1 },
    'a null where there must be text': { ...event, eventName: null },
    'a resource that is no text': { ...event, resourceId: 5 },
    'a time that is none': { ...event, timestamp: 'yesterday' },
    'a time that is no whole number': { ...event, timestamp: 5.5 },
  }))
    it(`leaves to graphql-js ${title}`, () => {
      const input = { usageEvents: [event, given] }
      expect(read(input)).to.equal(unread)
      expect(coerced(input, type)).to.equal(unread)
    })

  it('leaves to graphql-js an item in place of a list, and types with defaults', () => {
    const other = buildSchema('type Query { a(in: In, list: [String]): Int } input In { a: Int = 1 }')
    const [withDefault, list] = other
      .getQueryType()!
      .getFields()
      .a!.args.map((argument) => readerOf(argument.type))
    expect(withDefault!({})).to.equal(unread)
    expect(list!('a')).to.equal(unread)
    expect(list!(['a', null])).to.deep.equal(['a', null])
  })
})
