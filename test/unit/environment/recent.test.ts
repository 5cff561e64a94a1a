import { expect } from 'chai'
import { Recent } from '../../../src/environment/recent.js'
import { FrozenClock } from '../../../src/kernel/clock.js'

describe('recent answers', () => {
  const clock = new FrozenClock(1_000_000)
  let recent: Recent<number>
  let loads: number
  const load = async () => ++loads

  beforeEach(() => {
    clock.set(1_000_000)
    recent = new Recent({ ttlMs: 5_000, max: 2, clock })
    loads = 0
  })

  it('are asked for once within their time, and again after it', async () => {
    expect([await recent.get('a', load), await recent.get('a', load)]).to.deep.equal([1, 1])
    clock.set(1_004_999)
    expect(await recent.get('a', load)).to.equal(1)
    clock.set(1_005_000)
    expect(await recent.get('a', load)).to.equal(2)
  })

  it('are shared by callers that ask at the same time', async () => {
    expect(await Promise.all([recent.get('a', load), recent.get('a', load), recent.get('b', load)])).to.deep.equal([1, 1, 2])
  })

  it('do not live longer when the clock is set back', async () => {
    await recent.get('a', load)
    clock.set(1_000_000 - 60_000)
    expect(await recent.get('a', load)).to.equal(2)
  })

  it('are not kept when they failed', async () => {
    const outcome = await recent.get('a', () => Promise.reject(new Error('database away'))).catch((error: Error) => error.message)
    expect(outcome).to.equal('database away')
    expect(await recent.get('a', load)).to.equal(1)
  })

  it('are bounded in number: the one not used for longest goes first', async () => {
    for (const key of ['a', 'b', 'a', 'c']) await recent.get(key, load)
    expect(loads).to.equal(3)
    await recent.get('a', load)
    expect(loads).to.equal(3)
    await recent.get('b', load)
    expect(loads).to.equal(4)
  })

  it('are forgotten on demand', async () => {
    await recent.get('a', load)
    recent.clear()
    expect(await recent.get('a', load)).to.equal(2)
  })
})
