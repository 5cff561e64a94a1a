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

  it('is JSON Schema for whoever is not TypeScript', () => {
    const schema = jsonSchemaOf('customer.created') as { properties: Record<string, unknown>; required: string[] }
    expect(schema.required).to.deep.equal(['id', 'type', 'version', 'timestamp', 'order', 'data'])
    expect(schema.properties.type).to.deep.equal({ type: 'string', const: 'customer.created' })
  })

  it('names the statuses of subscriptions as they do', () => {
    expect(subscriptionStatuses).to.deep.equal(ofSubscriptions)
  })
})
