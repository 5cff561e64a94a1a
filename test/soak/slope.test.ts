import { expect } from 'chai'
import { plotSeries } from './plot.js'
import { slopePerHour } from './slope.js'

const minutes = (...values: number[]) => values.map((value, index) => ({ atMs: 5_000 + index * 60_000, value }))

describe('a slope', () => {
  it('is what a figure grows by in an hour', () => {
    expect(slopePerHour(minutes(10, 11, 12, 13))).to.be.closeTo(60, 1e-9)
    expect(slopePerHour(minutes(7, 7, 7))).to.equal(0)
    expect(slopePerHour(minutes(3, 2.5, 2))).to.be.closeTo(-30, 1e-9)
  })

  it('is not bent by what was not known for a while', () => {
    expect(slopePerHour(minutes(10, Number.NaN, 12, 13))).to.be.closeTo(60, 1e-9)
  })

  it('is none of a single instant', () => {
    expect(slopePerHour(minutes(10))).to.be.NaN
  })
})

describe('a plot of samples', () => {
  it('has a panel for each group and a line for each series, in their range', () => {
    const svg = plotSeries([{ title: 'MB & more', series: [{ label: 'web <1>', samples: minutes(0, 50, 100) }] }], 'a machine')
    expect(svg).to.match(/^<svg /)
    expect(svg).to.include('MB &amp; more').and.include('web &lt;1>').and.include('a machine')
    expect(svg.match(/<path [^>]*stroke-width="1.5"/g)).to.have.length(1)
    expect(svg).not.to.include('NaN')
  })

  it('leaves out what was not known', () => {
    const svg = plotSeries([{ title: 'MB', series: [{ label: 'web', samples: minutes(1, Number.NaN, 2) }] }], '')
    expect(svg).not.to.include('NaN')
  })
})
