import { expect } from 'chai'
import { currencies } from '../../../../src/catalog/model/currency.js'

describe('currencies', () => {
  it('are each a code that is known, once', () => {
    // The ouguiya of before 2018 stays, because deployed clients know it.
    const known = [...Intl.supportedValuesOf('currency'), 'MRO']
    expect(currencies.filter((code) => !known.includes(code))).to.deep.equal([])
    expect(new Set(currencies).size).to.equal(currencies.length)
  })
})
