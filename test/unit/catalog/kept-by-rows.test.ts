import { expect } from 'chai'
import { keptByRows, rowsOf } from '../../../src/catalog/kept-by-rows.js'

describe('what is kept of catalogs', () => {
  const version = (entitlements: number, prices: number) => ({ entitlements: new Array(entitlements), prices: new Array(prices) })
  const keptOf = (count: number, entitlements: number, prices: number) => {
    const kept = keptByRows<ReturnType<typeof version>>(rowsOf)
    for (let n = 0; n < count; n++) kept.set(`${n}`, version(entitlements, prices))
    return kept
  }

  it('is two thousand of usual size', () => {
    expect(keptOf(2_000, 20, 10).size).to.equal(2_000)
    expect(keptOf(3_000, 20, 10).size).to.equal(2_000)
  })

  it('is less of what is large, the last that were asked for', () => {
    const kept = keptOf(500, 1_000, 1_000)
    expect(kept.size).to.be.within(60, 80)
    expect([kept.has('0'), kept.has('499')]).to.deep.equal([false, true])
  })
})
