import { expect } from 'chai'
import { Lines } from '../../../src/kernel/lines.js'
import { Problem } from '../../../src/kernel/problem.js'

const full = () => new Problem('RESOURCE_EXHAUSTED', 'RATE_LIMIT_EXCEEDED', 'full')

describe('lines', () => {
  it('do the work of one owner one after the other, that of others beside it, and go on after a failure', async () => {
    const lines = new Lines(10, full)
    const begun: string[] = []
    const ends = new Map<string, (error?: Error) => void>()
    const run = (owner: string, name: string) =>
      lines
        .run(owner, () => {
          begun.push(name)
          return new Promise<string>((resolve, reject) => ends.set(name, (error) => (error ? reject(error) : resolve(name))))
        })
        .catch((error: Error) => error.message)
    const done = [run('a', 'a1'), run('a', 'a2'), run('b', 'b1')]
    await new Promise(setImmediate)
    expect(begun).to.deep.equal(['a1', 'b1'])
    ends.get('a1')!(new Error('broken'))
    await new Promise(setImmediate)
    expect(begun).to.deep.equal(['a1', 'b1', 'a2'])
    ends.get('a2')!()
    ends.get('b1')!()
    expect(await Promise.all(done)).to.deep.equal(['broken', 'a2', 'b1'])
  })

  it('are full for an owner of whom so many wait, and not when they are done', async () => {
    const lines = new Lines(2, full)
    const run = () => lines.run('a', async () => 'done').catch((error) => Problem.from(error).code)
    expect(await Promise.all([run(), run(), run()])).to.deep.equal(['done', 'done', 'RESOURCE_EXHAUSTED'])
    expect(await run()).to.equal('done')
  })

  it('is done one after the other also when it comes while the last but one ends', async () => {
    const lines = new Lines(10, () => new Problem('RESOURCE_EXHAUSTED', 'FULL', 'full'))
    const done: string[] = []
    const work = (name: string) =>
      lines.run('owner', async () => {
        done.push(`${name} begins`)
        await new Promise(setImmediate)
        done.push(`${name} ends`)
      })
    const [first, second] = [work('first'), work('second')]
    await first
    await Promise.all([second, work('third')])
    expect(done).to.deep.equal(['first', 'second', 'third'].flatMap((name) => [`${name} begins`, `${name} ends`]))
  })
})
