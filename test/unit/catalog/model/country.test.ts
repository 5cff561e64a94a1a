import { expect } from 'chai'
import { countries, countryCode, nearestCountry } from '../../../../src/catalog/model/country.js'

describe('countries', () => {
  it('are known by their code in any case, each with a name', () => {
    expect(countries).to.have.length(249)
    expect(['AT', 'at', 'aT'].map(countryCode)).to.deep.equal(['AT', 'AT', 'AT'])
    for (const code of countries) expect(new Intl.DisplayNames(['en'], { type: 'region' }).of(code), code).to.have.length.above(3)
  })

  it('are not made up', () => {
    for (const text of ['', ' ', 'A', 'AUT', 'Austria', 'XX', 'ZZ', 'EU', 'UK', 'aT ', 'ſa', 'ı'])
      expect(countryCode(text), text).to.equal(null)
  })

  it('are recognised by their name, about', () => {
    const meant: [string, string | null][] = [
      ['Austria', 'AT'],
      ['austira', 'AT'],
      ['Geramny', 'DE'],
      ['united kingdom', 'GB'],
      ['uk', 'GB'],
      ['XX', null],
      ['A', null],
      ['', null],
      ['the moon', null],
    ]
    for (const [text, code] of meant) expect(nearestCountry(text), text).to.equal(code)
  })

  it('is no longer text that has a code in it', () => {
    for (const text of ['xDE', 'DEx', 'D', '', 'ZZ']) expect(countryCode(text), text).to.equal(null)
  })
})
