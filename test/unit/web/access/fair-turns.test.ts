import { setImmediate } from 'node:timers/promises'
import { expect } from 'chai'
import { FairTurns } from '../../../../src/web/access/fair-turns.js'

describe('turns of environments', () => {
  const work = (ms: number) => {
    const end = performance.now() + ms
    while (performance.now() < end);
  }

  /** Each piece takes so long, by a clock of the test. */
  const simulate = async (pieces: Readonly<Record<string, { ms: number; count: number }>>): Promise<string[]> => {
    let now = 0
    const turns = new FairTurns(() => now)
    const done: string[] = []
    const piece = async (owner: string, ms: number) => {
      await turns.take(owner)
      done.push(owner)
      now += ms
    }
    await Promise.all(Object.entries(pieces).flatMap(([owner, { ms, count }]) => Array.from({ length: count }, () => piece(owner, ms))))
    return done
  }

  it('come one environment after the other when their pieces are alike', async () => {
    const done = await simulate({ noisy: { ms: 1, count: 50 }, quiet: { ms: 1, count: 2 }, other: { ms: 1, count: 1 } })
    expect(done.slice(0, 6)).to.deep.equal(['noisy', 'quiet', 'other', 'noisy', 'quiet', 'noisy'])
    expect(done).to.have.length(53)
  })

  it('are as long for one as for the other: many small pieces do not wait for a large one each', async () => {
    const done = await simulate({ noisy: { ms: 10, count: 20 }, quiet: { ms: 0.1, count: 60 } })
    expect(done.lastIndexOf('quiet')).to.equal(60)
    expect(done.filter((owner) => owner === 'noisy')).to.have.length(20)
  })

  it('are had by those who come later as by those who have waited long', async () => {
    let now = 0
    const turns = new FairTurns(() => now)
    const done: string[] = []
    const piece = async (owner: string) => {
      await turns.take(owner)
      done.push(owner)
      now += 1
    }
    const early = Array.from({ length: 200 }, () => piece('early'))
    while (done.length < 100) await setImmediate()
    const begin = done.length
    await Promise.all([...early, ...Array.from({ length: 20 }, () => piece('late'))])
    expect(done.slice(begin, begin + 20).filter((owner) => owner === 'late')).to.have.length.within(9, 11)
  })

  it('come in the order in which they are taken', async () => {
    const turns = new FairTurns()
    const done: number[] = []
    await Promise.all(Array.from({ length: 50 }, (_, index) => turns.take('e').then(() => done.push(index))))
    expect(done).to.deep.equal(Array.from({ length: 50 }, (_, index) => index))
  })

  it('let everybody else be served after some milliseconds', async () => {
    const turns = new FairTurns()
    let inRound = 0
    let mostInRound = 0
    const all = Array.from({ length: 40 }, async () => {
      await turns.take('e')
      inRound += 1
      mostInRound = Math.max(mostInRound, inRound)
      work(5)
    })
    let isDone = false
    const finished = Promise.all(all).then(() => {
      isDone = true
    })
    while (!isDone) {
      await setImmediate()
      inRound = 0
    }
    await finished
    expect(mostInRound).to.be.within(1, 3)
  })

  it('are many in a round when they are short', async () => {
    const turns = new FairTurns()
    let rounds = 0
    let isDone = false
    const finished = Promise.all(Array.from({ length: 320 }, () => turns.take('e'))).then(() => {
      isDone = true
    })
    while (!isDone) {
      await setImmediate()
      rounds += 1
    }
    await finished
    expect(rounds).to.be.below(100)
  })

  it('are had at once by an environment that has worked for less than some milliseconds in the round, whatever others did', async () => {
    let now = 0
    const turns = new FairTurns(() => now)
    expect(turns.takeNow('noisy')).to.equal(true)
    now += 4
    expect(turns.takeNow('noisy')).to.equal(true)
    now += 5
    expect(turns.takeNow('noisy')).to.equal(false)
    expect(turns.takeNow('quiet')).to.equal(true)
    now += 1
    expect(turns.takeNow('noisy')).to.equal(false)
    now += 9
    expect(turns.takeNow('quiet'), 'the nine were those of others').to.equal(true)
    await setImmediate()
    expect(turns.takeNow('noisy')).to.equal(true)
  })

  it('are not had at once by an environment that has something waiting', async () => {
    const turns = new FairTurns()
    const waiting = turns.take('noisy')
    expect(turns.takeNow('noisy')).to.equal(false)
    expect(turns.takeNow('quiet')).to.equal(true)
    await waiting
    expect(turns.takeNow('noisy')).to.equal(true)
  })
})
