import 'reflect-metadata'
import { expect } from 'chai'
import { coerceInputValue, type GraphQLInputType, Kind, parse } from 'graphql'
import { eventsVariableOf, readEvents, withoutEvents } from '../../../../../src/web/graphql/door/carried-events.js'
import { createSchema } from '../../../../../src/web/graphql/schema.js'
import { fromUsageEvents, type UsageEventsReportInput } from '../../../../../src/web/graphql/usage/usage.inputs.js'

const event = { customerId: 'c', eventName: 'request', idempotencyKey: 'k' }

describe('events that go round graphql-js', () => {
  const type = createSchema().getType('UsageEventsReportInput') as GraphQLInputType
  const coerced = (input: object) => fromUsageEvents(coerceInputValue(input, type) as UsageEventsReportInput)

  for (const [title, given] of Object.entries({
    'the least of an event': event,
    'all of an event': {
      ...event,
      resourceId: 'r',
      timestamp: '2026-11-28T10:00:00.123Z',
      dimensions: { a: 1, b: 'x', c: false, d: null },
    },
    'nulls that stand for nothing': { ...event, resourceId: null, timestamp: null, dimensions: null },
    'an offset of a time': { ...event, timestamp: '2026-11-28T10:00:00+02:00' },
    'dimensions that are refused later': { ...event, dimensions: ['a'] },
  }))
    it(`are read as the schema reads them: ${title}`, () => {
      const input = { usageEvents: [event, given] }
      expect(readEvents(input)).to.deep.equal(coerced(input))
    })

  for (const [title, given] of Object.entries({
    'no object': 'event',
    null: null,
    'a field that is not in the schema': { ...event, colour: 'red' },
    'a missing id': { customerId: 'c', eventName: 'request' },
    'an id that is no text': { ...event, customerId: 1 },
    'a null where there must be text': { ...event, eventName: null },
    'a resource that is no text': { ...event, resourceId: 5 },
    'a time that is none': { ...event, timestamp: 'yesterday' },
    'a time that is a number': { ...event, timestamp: 5 },
  }))
    it(`leave to the schema what is not as it says: ${title}`, () => {
      const input = { usageEvents: [event, given] }
      expect(readEvents(input)).to.equal(null)
      expect(() => coerced(input)).to.throw()
    })

  it('leave to the schema an input without a list, and an empty one', () => {
    for (const input of [null, undefined, 'events', {}, { usageEvents: {} }, { usageEvents: [] }]) expect(readEvents(input)).to.equal(null)
  })

  it('leave the rest of the input where it is', () => {
    expect(withoutEvents({ environmentId: 'e', usageEvents: [event] })).to.deep.equal({ environmentId: 'e', usageEvents: [] })
  })

  it('are looked for in the variable of the one reportEvent', () => {
    const variableOf = (text: string) => eventsVariableOf(parse(text).definitions.filter((node) => node.kind === Kind.OPERATION_DEFINITION))
    const field = 'reportEvent(events: $e)'
    expect(variableOf(`mutation ($e: UsageEventsReportInput!) { ${field} }`)).to.equal('e')
    for (const text of [
      `mutation ($e: UsageEventsReportInput!) { ${field} again: ${field} }`,
      `mutation A ($e: UsageEventsReportInput!) { ${field} } mutation B ($e: UsageEventsReportInput!) { ${field} }`,
      'mutation { reportEvent(events: {usageEvents: []}) }',
      'mutation ($e: [UsageEventReportInput!]!) { reportEvent(events: {usageEvents: $e}) }',
      'mutation ($e: ReportUsageInput!) { reportUsage(input: $e) { id } }',
      'query ($e: FetchEntitlementQuery!) { entitlement(query: $e) { isGranted } }',
    ])
      expect(variableOf(text), text).to.equal(null)
  })
})
