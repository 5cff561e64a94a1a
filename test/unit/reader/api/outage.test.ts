import { expect } from 'chai'
import { Problem, unavailable } from '../../../../src/kernel/problem.js'
import { foundNobody, Outage, within } from '../../../../src/reader/api/outage.js'

describe('outage', () => {
  const opened = () => new Outage({ name: 'The API', afterFailures: 5, isAway: foundNobody })
  const fail = (outage: Outage, problem: Error) => outage.guard(() => Promise.reject(problem)).catch((error: unknown) => error)
  const away = unavailable('away')

  it('keeps later reads from waiting once five in a row have found nobody', async () => {
    const outage = opened()
    for (let n = 0; n < 5; n++) expect(await fail(outage, away)).to.equal(away)
    let asked = 0
    const read = async () => {
      asked++
    }
    expect(await outage.guard(read).catch((error: Problem) => error.code)).to.equal('UNAVAILABLE')
    expect(asked).to.equal(0)
  })

  it('is over with the first answer, an error of somebody included', async () => {
    const outage = opened()
    for (let n = 0; n < 4; n++) await fail(outage, away)
    await fail(outage, new Problem('NOT_FOUND', 'FEATURE_NOT_FOUND', 'no such feature'))
    for (let n = 0; n < 4; n++) await fail(outage, away)
    expect(await outage.guard(async () => 'answer')).to.equal('answer')
  })

  describe('by the clock', () => {
    const { now } = performance
    let at = 0
    beforeEach(() => {
      at = 10_000
      performance.now = () => at
    })
    afterEach(() => {
      performance.now = now
    })

    const late = new Problem('DEADLINE_EXCEEDED', 'TIMEOUT', 'late')
    /** Answers whether the API was asked. */
    const isAsked = async (outage: Outage, read: () => Promise<unknown> = () => Promise.reject(away)) => {
      let asked = false
      await outage
        .guard(() => {
          asked = true
          return read()
        })
        .catch(() => {})
      return asked
    }

    it('tries again with one read a second, and no sooner', async () => {
      const outage = opened()
      for (let n = 0; n < 5; n++) expect(await isAsked(outage, () => Promise.reject(late))).to.equal(true)
      at = 10_999
      expect(await isAsked(outage)).to.equal(false)
      at = 11_000
      // Others come while it is under way.
      let end = () => {}
      const first = isAsked(outage, () => new Promise((_, reject) => (end = () => reject(away))))
      expect(await isAsked(outage)).to.equal(false)
      end()
      expect(await first).to.equal(true)
      at = 11_999
      expect(await isAsked(outage)).to.equal(false)
      at = 12_000
      expect(await isAsked(outage, async () => 'answer')).to.equal(true)
      expect(await isAsked(outage)).to.equal(true)
    })

    it('lets all reads through that come together before it is known', async () => {
      const outage = opened()
      await isAsked(outage)
      expect(await Promise.all([isAsked(outage, async () => 1), isAsked(outage, async () => 2)])).to.deep.equal([true, true])
    })
  })
})

describe('work that is waited for', () => {
  const never = new Promise<never>(() => {})
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length

  it('answers what it comes to, or why it failed, and leaves no timer behind', async () => {
    // What runs tests begins to wait for one once it has been called.
    await turn()
    const before = timers()
    expect(await within(Promise.resolve('answer'), 60_000, 'The API')).to.equal('answer')
    const failure = new Error('gone')
    expect(await within(Promise.reject(failure), 60_000, 'The API').catch((error: unknown) => error)).to.equal(failure)
    await turn()
    expect(timers()).to.equal(before)
  })

  it('is said to be late by whoever did not answer in time', async () => {
    const error = await within(never, 1, 'The API').catch((late: unknown) => late)
    expect(error).to.be.instanceOf(Problem).and.to.include({ code: 'DEADLINE_EXCEEDED' })
    expect((error as Problem).message).to.include('The API')
  })
})
