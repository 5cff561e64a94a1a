import { expect } from 'chai'
import { invalidInput, type Problem, unavailable } from '../../../../../src/kernel/problem.js'
import { ingestOrHalve } from '../../../../../src/metering/ingestion/batch/halving.js'
import type { Call } from '../../../../../src/metering/wire/call.js'

describe('a batch that is refused', () => {
  const calls = (...items: string[]): Call<string>[] => items.map((item) => ({ deadline: 0, items: [item] }))
  /** Refuses whatever has the item in it. */
  const refusing =
    (bad: string, error: Error) =>
    async (some: Call<string>[]): Promise<string[]> => {
      if (some.some(({ items }) => items.includes(bad))) throw error
      return some.map(({ items }) => items[0]!)
    }
  const reasonOf = (answer: string | { problem: { reason: string } }) => (typeof answer === 'string' ? answer : answer.problem.reason)

  it('is halved until the call is found that is bad, which is answered alone', async () => {
    const heard: string[] = []
    const answers = await ingestOrHalve(calls('a', 'b', 'bad', 'c', 'd'), false, refusing('bad', invalidInput('no')), ({ items }) =>
      heard.push(items[0]!),
    )
    expect(answers.map(reasonOf)).to.deep.equal(['a', 'b', 'BAD_USER_INPUT', 'c', 'd'])
    expect(heard).to.deep.equal(['bad'])
  })

  it('is answered by nobody while the database cannot do it: an attempt before may have been committed', async () => {
    const failedOver = unavailable('The database has failed over. Try again.')
    for (const error of [
      failedOver,
      Object.assign(new Error('Connection terminated unexpectedly'), {}),
      Object.assign(new Error(''), { code: '25006' }),
    ]) {
      const thrown = await ingestOrHalve(calls('bad'), false, refusing('bad', error), () => expect.fail('nothing is refused')).catch(
        (caught: Problem) => caught,
      )
      expect(thrown).to.equal(error)
    }
  })

  it('is not known to be not counted by the run that fails when another one may count it, or has', async () => {
    const outcomeOf = async (mayRepeat: boolean, error: Error) => {
      const [answer] = await ingestOrHalve(calls('bad'), mayRepeat, refusing('bad', error), () => undefined)
      return (answer as { problem: Problem }).problem.details.outcome
    }
    expect(await outcomeOf(false, new Error('broken'))).to.equal('notCounted')
    expect(await outcomeOf(true, new Error('broken'))).to.equal('unknown')
    // Whoever refuses what was sent would have refused it before.
    expect(await outcomeOf(true, invalidInput('no'))).to.equal(undefined)
  })
})
