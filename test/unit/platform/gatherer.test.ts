import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { Gatherer } from '../../../src/platform/gatherer.js'

describe('gathering', () => {
  const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)

  it('works on what arrives together and while a lot is worked on in one lot each, lane by lane', async () => {
    const lots: string[] = []
    let finish = () => {}
    const first = new Promise<void>((resolve) => {
      finish = resolve
    })
    const gatherer = new Gatherer<number>(100, async (lane, items) => {
      lots.push(`${lane} ${items}`)
      if (lots.length === 1) await first
    })
    const early = [gatherer.add('a', 1), gatherer.add('a', 2)]
    await gatherer.add('b', 3)
    const late = [gatherer.add('a', 4), gatherer.add('a', 5)]
    finish()
    await Promise.all([...early, ...late])
    expect(lots).to.deep.equal(['a 1,2', 'b 3', 'a 4,5'])
  })

  it('takes no more than it may at once', async () => {
    const sizes: number[] = []
    const gatherer = new Gatherer<number>(3, async (_, items) => void sizes.push(items.length))
    await Promise.all(numbers(8).map((item) => gatherer.add('a', item)))
    expect(sizes).to.deep.equal([3, 3, 2])
  })

  it('fails an item for its own sake only', async () => {
    const gatherer = new Gatherer<number>(100, async (_, items) => {
      if (items.includes(5)) throw new Error('five')
    })
    const outcomes = await Promise.allSettled(numbers(8).map((item) => gatherer.add('a', item)))
    expect(outcomes.flatMap(({ status }, item) => (status === 'rejected' ? [item] : []))).to.deep.equal([5])
  })

  it('fails all of a lot whose database is away, and works on it no second time', async () => {
    let lots = 0
    const gatherer = new Gatherer<number>(100, async () => {
      lots++
      throw Object.assign(new Error('Connection terminated'), { code: 'ECONNRESET' })
    })
    const outcomes = await Promise.allSettled(numbers(8).map((item) => gatherer.add('a', item)))
    expect(outcomes.map(({ status }) => status)).to.deep.equal(numbers(8).map(() => 'rejected'))
    expect(lots).to.equal(1)
  })

  it('works on what was begun to its end when it is stopped, and on nothing else', async () => {
    const lots: number[][] = []
    let finish = () => {}
    const gatherer = new Gatherer<number>(2, async (_, items) => {
      lots.push(items)
      await new Promise<void>((resolve) => {
        finish = resolve
      })
    })
    const added = numbers(4).map((item) => gatherer.add('a', item))
    await new Promise(setImmediate)
    gatherer.stop(new Error('stopped'))
    finish()
    const outcomes = await Promise.allSettled([...added, gatherer.add('b', 5)])
    expect(outcomes.map(({ status }) => status)).to.deep.equal(['fulfilled', 'fulfilled', 'rejected', 'rejected', 'rejected'])
    expect(lots).to.deep.equal([[0, 1]])
  })

  it('makes lots smaller that hold others up, down to one, and larger again when they do not', async () => {
    const sizes: number[] = []
    const gatherer = new Gatherer<number>(
      8,
      async (_, items) => {
        sizes.push(items.length)
        if (sizes.length <= 4) await sleep(30)
      },
      20,
    )
    await Promise.all(numbers(40).map((item) => gatherer.add('a', item)))
    expect(sizes.slice(0, 4)).to.deep.equal([8, 4, 2, 1])
    expect(Math.max(...sizes.slice(4))).to.be.above(1)
  })

  it('rests after a lot while more arrives, and no longer', async () => {
    const lots: number[][] = []
    const gatherer = new Gatherer<number>(
      8,
      async (_, items) => {
        lots.push(items)
        await sleep(lots.length === 1 ? 1_000 : 0)
      },
      2_000,
    )
    const first = gatherer.add('a', 0)
    await sleep(10)
    const second = gatherer.add('a', 1)
    await first
    // The rest is as long as the lot was: these are taken in.
    const others = await Promise.all(
      numbers(4).map(async (index) => {
        await sleep(50 * index)
        return { done: gatherer.add('a', index + 2) }
      }),
    )
    const isEarly = await Promise.race([second.then(() => true), sleep(700, false)])
    await Promise.all(others.map(({ done }) => done))
    expect(isEarly).to.equal(true)
    expect(lots).to.deep.equal([[0], [1, 2, 3, 4, 5]])
  })
})
