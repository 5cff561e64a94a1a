import { expect } from 'chai'
import { parseValue } from 'graphql'
import { DateTime } from '../../../../../src/web/graphql/schema/scalars.js'

describe('times on the wire', () => {
  it('are answered with milliseconds and Z', () => {
    expect(DateTime.serialize(0)).to.equal('1970-01-01T00:00:00.000Z')
    expect(DateTime.serialize(Date.UTC(2026, 0, 31, 9, 30, 0, 5))).to.equal('2026-01-31T09:30:00.005Z')
  })

  const accepted = {
    '2026-01-15T00:05:00.000Z': Date.UTC(2026, 0, 15, 0, 5),
    '2026-01-01T00:00:00Z': Date.UTC(2026, 0, 1),
    '2026-01-01T01:00:00.000+01:00': Date.UTC(2026, 0, 1),
    '2024-02-29T12:00:00Z': Date.UTC(2024, 1, 29, 12),
  }
  for (const [text, at] of Object.entries(accepted)) {
    it(`take ${text}, as a variable and in the document`, () => {
      expect(DateTime.parseValue(text)).to.equal(at)
      expect(DateTime.parseLiteral(parseValue(JSON.stringify(text)))).to.equal(at)
    })
  }

  for (const at of [1_767_225_600_123, 0, Date.UTC(9999, 11, 31)]) {
    it(`take ${at} epoch milliseconds, as a variable and in the document`, () => {
      expect(DateTime.parseValue(at)).to.equal(at)
      expect(DateTime.parseLiteral(parseValue(String(at)))).to.equal(at)
    })
  }

  for (const refused of [
    'not a date',
    '2026-02-30T00:00:00.000Z',
    '2026-01-01',
    '2026-01-01T00:00:00',
    '',
    '1767225600000',
    1.5,
    8.64e15,
    Date.UTC(10000, 0, 1),
    -1,
    '1969-12-31T23:59:59.999Z',
    '0000-01-01T00:00:00Z',
    '9999-12-31T23:59:59.999-01:00',
    Number.POSITIVE_INFINITY,
    null,
    true,
  ]) {
    it(`refuse ${JSON.stringify(refused)}`, () => {
      expect(() => DateTime.parseValue(refused)).to.throw()
      expect(() => DateTime.parseLiteral(parseValue(JSON.stringify(refused)))).to.throw()
    })
  }
})
