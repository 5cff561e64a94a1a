import { expect } from 'chai'
import fc from 'fast-check'
import {
  packStored,
  type StoredEvent,
  type StoredEvents,
  storedCustomers,
  storedHolder,
  visitStored,
} from '../../../../src/metering/wire/stored-events.js'

const anyText = fc.constantFrom('a', 'b', '"quoted"')
const anyHolder = fc
  .record({ customer: fc.constantFrom('1', '2'), resource: fc.option(fc.constantFrom('3', '4')) })
  .map(({ customer, resource }) => ({
    customerId: `c${customer}`,
    // A resource is of one customer.
    resourceId: resource && `r${customer}${resource}`,
    holder: { customerId: `customer-${customer}`, resourceId: resource && `resource-${customer}${resource}` },
  }))
const anyEvent: fc.Arbitrary<StoredEvent> = fc
  .record({
    of: anyHolder,
    eventName: anyText,
    occurredAt: fc.option(fc.integer({ min: 0 })),
    dimensions: fc.dictionary(anyText, fc.oneof(anyText, fc.integer(), fc.boolean(), fc.constant(null)), { noNullPrototype: true }),
  })
  .map(({ of, ...event }) => ({ ...of, ...event }))

describe('stored events', () => {
  it('are read as they were written, also after the way as JSON; those without a time have that of their batch', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0 }), fc.array(anyEvent, { maxLength: 20 }), (time, events) => {
        const travelled = JSON.parse(JSON.stringify(packStored(time, events))) as StoredEvents
        const read: unknown[] = []
        visitStored(travelled, (event, occurredAt, position) => read.push({ ...storedHolder(travelled, position), ...event, occurredAt }))
        expect(read).to.deep.equal(events.map((event) => ({ ...event, occurredAt: event.occurredAt ?? time })))
        expect(new Set(storedCustomers(travelled))).to.deep.equal(new Set(events.map(({ customerId }) => customerId)))
      }),
    )
  })

  it('say once where they belong and what they are called', () => {
    const ofCustomer = { customerId: 'c', resourceId: null, holder: { customerId: 'acme', resourceId: null } }
    const ofResource = { customerId: 'c', resourceId: 'r', holder: { customerId: 'acme', resourceId: 'site' } }
    const event = { eventName: 'login', occurredAt: null, dimensions: {} }
    const packed = packStored(
      5,
      [ofCustomer, ofResource, ofCustomer, ofResource].map((of) => ({ ...of, ...event })),
    )
    expect(packed).to.deep.equal({
      places: [
        ['c', 'acme'],
        ['c', 'acme', 'r', 'site'],
      ],
      names: ['login'],
      time: 5,
      placed: [0, 1, 0, 1],
      named: null,
      times: null,
      dimensions: [{}, {}, {}, {}],
    })
    const read: unknown[] = []
    visitStored(packed, ({ eventName }, at, position) => read.push([eventName, at, position]))
    expect(read).to.deep.equal([0, 1, 0, 1].map((position) => ['login', 5, position]))
  })
})
