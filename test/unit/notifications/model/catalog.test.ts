import { expect } from 'chai'
import { bodyOf, eventCatalog, eventTypes, exampleBody, jsonSchemaOf } from '../../../../src/notifications/model/catalog.js'
import { subscriptionStatuses } from '../../../../src/notifications/model/statuses.js'
import { subscriptionStatuses as ofSubscriptions } from '../../../../src/subscription/rules/subscription.js'

describe('the catalog of events', () => {
  for (const type of eventTypes)
    it(`${type} has an example that is valid by its schema, and nothing else is`, () => {
      const example = exampleBody(type)
      expect(bodyOf(type).safeParse(example).error?.message).to.equal(undefined)
      const { data, ...rest } = example
      expect(bodyOf(type).safeParse({ ...rest, data: { ...(data as object), more: 1 } }).success).to.equal(false)
      expect(bodyOf(type).safeParse({ ...example, type: 'other' }).success).to.equal(false)
      expect(eventCatalog[type].description).to.match(/\.$/)
    })

  for (const type of eventTypes)
    it(`${type} has a place among the events of its customer, if it is of one`, () => {
      const { id, timestamp, order, data } = exampleBody(type)
      expect(order).to.deep.equal(/"customerId"/.test(JSON.stringify(data)) ? { version: 1803893400000, index: 7 } : null)
      expect(id).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
      const bodyAt = (at: unknown) => bodyOf(type).safeParse({ ...exampleBody(type), timestamp: at }).success
      expect([timestamp, '2027-03-01T09:30:00Z', '2027-03-01T09:30:00.000000Z', '2027-03-01'].map(bodyAt)).to.deep.equal([
        true,
        false,
        false,
        false,
      ])
    })

  it('is JSON Schema for whoever is not TypeScript', () => {
    const schema = jsonSchemaOf('customer.created') as { properties: Record<string, { description?: string }>; required: string[] }
    expect(schema.required).to.deep.equal(['id', 'type', 'version', 'timestamp', 'order', 'data'])
    expect(schema.properties.type).to.deep.equal({ type: 'string', const: 'customer.created' })
    for (const name of ['id', 'version', 'timestamp', 'order']) expect(schema.properties[name]?.description, name).to.match(/\.$/)
  })

  it('is JSON Schema by which fields that are added to a version are valid', () => {
    for (const type of eventTypes) expect(JSON.stringify(jsonSchemaOf(type)), type).to.not.include('"additionalProperties":false')
  })

  it('names the statuses of subscriptions as they do', () => {
    expect(subscriptionStatuses).to.deep.equal(ofSubscriptions)
  })
})
