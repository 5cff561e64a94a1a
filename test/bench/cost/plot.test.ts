import { expect } from 'chai'
import { plotCosts } from './plot.js'

describe('the drawing of costs', () => {
  const sizes = [1_000, 10_000, 100_000]
  const level = { label: 'check', ms: [0.1, 0.1, 0.1] }
  const growing = { label: 'scan < all', ms: [1, 10, 100] }
  const drawing = plotCosts({ sizes, lines: [level, growing, { ...level, label: 'the same' }], machine: 'a machine & more' })
  const points = (index: number) =>
    [...drawing.matchAll(/<path d="M([\d. L]+)" fill="none"/g)][index]![1]!.split('L').map((point) => point.split(' ').map(Number))

  it('shows what costs the same at every size as a level line', () => {
    expect(new Set(points(0).map(([, y]) => y)).size).to.equal(1)
  })

  it('has powers of ten at equal distances on both axes', () => {
    const [[x1, y1], [x2, y2], [x3, y3]] = points(1) as [number[], number[], number[]]
    expect(x2! - x1!)
      .to.be.closeTo(x3! - x2!, 0.2)
      .and.to.be.above(0)
    expect(y2! - y1!)
      .to.be.closeTo(y3! - y2!, 0.2)
      .and.to.be.below(0)
  })

  it('keeps labels of equal lines apart, and texts as they are', () => {
    const at = (label: string) => Number(new RegExp(`y="([\\d.]+)"[^>]*>${label}<`).exec(drawing)![1])
    expect(Math.abs(at('the same') - at('check'))).to.be.at.least(18)
    expect(drawing).to.include('>scan &lt; all<').and.to.include('>a machine &amp; more<')
  })
})
