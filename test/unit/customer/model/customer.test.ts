import { expect } from 'chai'
import { checkFields, toWritten } from '../../../../src/customer/model/customer.js'
import { Problem } from '../../../../src/kernel/problem.js'

describe('customer metadata', () => {
  const cases: [string, Record<string, unknown> | null, Record<string, unknown> | null, Record<string, unknown> | null][] = [
    ['adds a key', { a: 1 }, { b: 2 }, { a: 1, b: 2 }],
    ['replaces the value of a key', { a: 1, b: 2 }, { a: 3 }, { a: 3, b: 2 }],
    ['takes away a key that is sent as null', { a: 1, b: 2 }, { a: null }, { b: 2 }],
    ['knows 0, false and "" from null', { a: 1 }, { a: 0, b: false, c: '' }, { a: 0, b: false, c: '' }],
    ['does not look into values', { a: { x: 1 } }, { a: { y: 2 } }, { a: { y: 2 } }],
    ['leaves all as it is when nothing is sent', { a: 1 }, {}, { a: 1 }],
    ['clears all', { a: 1 }, null, null],
    ['begins with nothing', null, { a: 1, b: null }, { a: 1 }],
  ]
  for (const [title, additionalMetaData, change, expected] of cases)
    it(title, () =>
      expect(toWritten({ additionalMetaData } as never, { additionalMetaData: change })).to.deep.equal({ additionalMetaData: expected }),
    )

  it('is not written when it is absent from the change', () =>
    expect(toWritten({ additionalMetaData: { a: 1 } } as never, { name: 'Acme' })).to.deep.equal({ name: 'Acme' }))
})

describe('customer fields', () => {
  const reason = (fields: Parameters<typeof checkFields>[0]) => {
    try {
      checkFields(fields)
      return null
    } catch (error) {
      return Problem.from(error).details.path
    }
  }
  it('take every IANA time zone, and none', () => {
    for (const timeZone of ['Europe/Berlin', 'UTC', 'Asia/Kathmandu', null, undefined]) expect(reason({ timeZone })).to.equal(null)
  })
  it('refuse a time zone that does not exist', () => {
    for (const timeZone of ['Mars/Olympus', '']) expect(reason({ timeZone })).to.equal('billingInformation.timezone')
  })
  it('refuse text that no list could show', () => {
    expect(reason({ name: 'x'.repeat(1_001) })).to.equal('name')
    expect(reason({ email: 'x'.repeat(1_001) })).to.equal('email')
    expect(reason({ name: 'x'.repeat(1_000) })).to.equal(null)
  })

  it('take an e-mail address as it is, and refuse what is none', () => {
    for (const email of ['ada@example.com', 'ada.l+news@example.com', '', null, undefined]) expect(reason({ email })).to.equal(null)
    for (const email of ['ada', '@example.com', 'ada@', 'ada l@example.com', ' ada@example.com', 'ada@example.com ', 'ada@example com'])
      expect(reason({ email }), email).to.equal('email')
  })

  it('take a zone that has a fixed offset by its name, and no offset', () => {
    expect(reason({ timeZone: 'Etc/GMT+5' })).to.equal(null)
    for (const timeZone of ['+05:00', '-05:00']) expect(reason({ timeZone })).to.equal('billingInformation.timezone')
  })

  it('are written with the zone under its one name', () => {
    expect(toWritten(null, { timeZone: 'europe/berlin', name: 'Acme' })).to.deep.equal({ timeZone: 'Europe/Berlin', name: 'Acme' })
    expect(toWritten(null, { timeZone: null })).to.deep.equal({ timeZone: null })
  })

  it('of a new customer have its first metadata', () => {
    expect(toWritten(null, { additionalMetaData: { a: 1 } })).to.deep.equal({ additionalMetaData: { a: 1 } })
  })
})
