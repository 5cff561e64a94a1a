import { expect } from 'chai'
import { eachAlone } from '../../../src/kernel/each-alone.js'

describe('work on one after another', () => {
  it('goes on when one fails, and fails at the end as the first did', async () => {
    const done: number[] = []
    const work = async (n: number) => {
      if (n > 1) throw new Error(`${n}`)
      done.push(n)
    }
    const failure = await eachAlone([0, 2, 3, 1], work).catch((error: Error) => error.message)
    expect([failure, done]).to.deep.equal(['2', [0, 1]])
    await eachAlone([0, 1], work)
  })
})
