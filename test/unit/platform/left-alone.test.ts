import { expect } from 'chai'
import { LeftAlone } from '../../../src/platform/due-sweep.js'

const minute = 60_000

describe('what is left alone', () => {
  it('is so for a minute, then for twice as long with each failure in a row, and at most for 15', () => {
    let now = 1_000
    const left = new LeftAlone(() => now)
    const pauses = Array.from({ length: 7 }, () => {
      left.failed('a')
      const from = now
      while (left.has('a')) now += minute / 2
      return (now - from) / minute
    })
    expect(pauses).to.deep.equal([1, 2, 4, 8, 15, 15, 15])
    left.succeeded('a')
    left.failed('a')
    now += minute
    expect(left.has('a')).to.equal(false)
  })

  it('holds up nothing else, and is counted while it is', () => {
    let now = 0
    const left = new LeftAlone(() => now)
    for (const key of ['a', 'b']) left.failed(key)
    expect([left.has('a'), left.has('c'), left.size, left.keys()]).to.deep.equal([true, false, 2, ['a', 'b']])
    left.succeeded('a')
    expect(left.keys()).to.deep.equal(['b'])
    now = minute
    expect(left.size).to.equal(0)
  })

  it('does not fill the memory', () => {
    const left = new LeftAlone(() => 0)
    for (let n = 0; n < 25_000; n++) left.failed(String(n))
    expect(left.size).to.equal(10_000)
    expect(left.has('24999')).to.equal(true)
  })

  it('is forgotten when it has not failed for long', () => {
    let now = 0
    const left = new LeftAlone(() => now)
    for (let failures = 0; failures < 5; failures++) left.failed('a')
    now = 50 * minute
    expect(left.keys()).to.deep.equal([])
    left.failed('a')
    now += minute
    expect(left.has('a')).to.equal(false)
  })
})
