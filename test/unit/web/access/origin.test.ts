import { expect } from 'chai'
import { isFromOwnPage } from '../../../../src/web/access/origin.js'

describe('a change that a browser sends', () => {
  const host = 'tollgate.example:4000'
  const cases: [what: string, headers: Record<string, string>, expected: boolean][] = [
    ['from our page', { host, origin: `http://${host}` }, true],
    ['from our page, told by a new browser', { host, origin: `http://${host}`, 'sec-fetch-site': 'same-origin' }, true],
    ['from our page, without its origin', { host, origin: 'null', 'sec-fetch-site': 'same-origin' }, true],
    [
      'from our page behind a proxy',
      { host: '10.0.0.7:4000', 'x-forwarded-host': 'tollgate.example', origin: 'https://tollgate.example' },
      true,
    ],
    ['from another site', { host, origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }, false],
    ['from another site, in an old browser', { host, origin: 'https://evil.example' }, false],
    ['from another name of the same site', { host, origin: 'http://blog.tollgate.example', 'sec-fetch-site': 'same-site' }, false],
    ['from another port of the same machine', { host, origin: 'http://tollgate.example:9999', 'sec-fetch-site': 'same-site' }, false],
    ['from a page that hides where it is from', { host, origin: 'null' }, false],
    ['from a page in a file', { host, origin: 'file://' }, false],
    ['typed into the address', { host, 'sec-fetch-site': 'none' }, false],
    ['without a word of where from', { host }, false],
  ]
  for (const [what, headers, expected] of cases)
    it(`is ${expected ? 'taken' : 'refused'}: ${what}`, () => expect(isFromOwnPage(headers, { hasOwnHeader: false })).to.equal(expected))

  it('is taken of a program that says nothing of pages, and not of a page because of its headers', () => {
    expect(isFromOwnPage({ host }, { hasOwnHeader: true })).to.equal(true)
    expect(isFromOwnPage({ host, origin: 'https://evil.example' }, { hasOwnHeader: true })).to.equal(false)
  })
})
