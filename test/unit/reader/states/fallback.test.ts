import { expect } from 'chai'
import { chooseFallback, type Fallback, parseGlobalFallbacks } from '../../../../src/reader/states/fallback.js'

const granting: Fallback = { hasAccess: true, usageLimit: 5, isUnlimited: false, enumValues: [] }
const denying: Fallback = { hasAccess: false, usageLimit: null, isUnlimited: false, enumValues: [] }

describe('fallback', () => {
  it('prefers that of the request, and merges nothing of the global one into it', () => {
    expect(chooseFallback(denying, new Map([['f', granting]]), 'f')).to.equal(denying)
  })
  it('takes the global one of the feature when the request has none', () => {
    expect(chooseFallback(null, new Map([['f', granting]]), 'f')).to.equal(granting)
  })
  it('is none for a feature that has none, whatever others have', () => {
    expect(chooseFallback(null, new Map([['f', granting]]), 'toString')).to.equal(null)
  })

  it('reads the configured JSON', () => {
    const fallbacks = parseGlobalFallbacks(
      '{"a": {"hasAccess": true, "usageLimit": 5}, "b": {"hasAccess": false}, "c": {"hasAccess": true, "isUnlimited": true, "usageLimit": null}}',
    )
    expect(fallbacks.get('a')).to.deep.equal(granting)
    expect(fallbacks.get('b')).to.deep.equal(denying)
    expect(fallbacks.get('c')).to.include({ isUnlimited: true, usageLimit: null })
  })

  it('takes a limit of 0, and null for what is not said', () => {
    const fallbacks = parseGlobalFallbacks('{"a": {"hasAccess": true, "usageLimit": 0, "isUnlimited": null}}')
    expect(fallbacks.get('a')).to.deep.equal({ ...granting, usageLimit: 0 })
  })

  const broken: Array<[text: string, ...problems: RegExp[]]> = [
    ['{', /not JSON/],
    ['[]', /must be a JSON object/],
    ['"text"', /must be a JSON object/],
    ['{"a": true}', /"a" must be an object/],
    ['{"a": null}', /"a" must be an object/],
    ['{"a": {}, "b": {"hasAccess": "yes"}}', /"a" needs hasAccess/, /"b" needs hasAccess/],
    ['{"a": {"hasAccess": true, "usageLimit": "5"}}', /"a" has a usageLimit/],
    ['{"a": {"hasAccess": true, "usageLimit": -1}}', /"a" has a usageLimit/],
    ['{"a": {"hasAccess": true, "isUnlimited": 1}}', /"a" has an isUnlimited/],
    ['{"a": {"hasAccess": true, "limit": 1}}', /"a" has an unknown field limit/],
  ]
  for (const [text, ...problems] of broken) {
    it(`refuses ${text}, and names every problem`, () => {
      for (const problem of problems) expect(() => parseGlobalFallbacks(text)).to.throw(problem)
    })
  }
})
