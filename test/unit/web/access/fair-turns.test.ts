import { setImmediate } from 'node:timers/promises'
import { expect } from 'chai'
import { FairTurns } from '../../../../src/web/access/fair-turns.js'

describe('turns of environments', () => {
  const work = (ms: number) => {
    const end = performance.now() + ms
    while (performance.now() < end);
  }

  it('come in the order in which they are taken, and one environment after the other', async () => {
    const turns = new FairTurns()
    const done: string[] = []
    const take = async (environment: string, name: string) => {
      await turns.take(environment)
      done.push(name)
    }
    const noisy = Array.from({ length: 50 }, (_, index) => take('noisy', `n${index}`))
    const quiet = ['q0', 'q1'].map((name) => take('quiet', name))
    const other = take('other', 'o0')
    await Promise.all([...noisy, ...quiet, other])
    expect(done.slice(0, 5)).to.deep.equal(['n0', 'q0', 'o0', 'n1', 'q1'])
    expect(done.filter((name) => name.startsWith('n'))).to.deep.equal(Array.from({ length: 50 }, (_, index) => `n${index}`))
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
