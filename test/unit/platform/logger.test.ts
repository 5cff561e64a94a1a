import { expect } from 'chai'
import { Problem } from '../../../src/kernel/problem.js'
import { cutError } from '../../../src/platform/logger.js'

describe('a logged error', () => {
  const lengthOf = (error: Error) => JSON.stringify(cutError(error)).length

  it('has its text, stack and cause', () => {
    const line = cutError(new Problem('INTERNAL', 'INTERNAL', 'public', { cause: new Error('private') })) as Record<string, string>
    expect(line.message).to.equal('public: private')
    expect(line.stack).to.match(/private[\s\S]*logger\.test/)
    expect(line).to.include({ type: 'Problem', code: 'INTERNAL' })
  })

  it('has no more of what a caller has sent than a person would read', () => {
    const long = 'x'.repeat(5_000_000)
    expect(lengthOf(new Error(long))).to.be.below(10_000)
    expect(lengthOf(new Error('outer', { cause: new Error(long) }))).to.be.below(20_000)
    expect(lengthOf(Object.assign(new Error('query failed'), { detail: long, parameters: Array(100_000).fill('value') }))).to.be.below(
      20_000,
    )
    expect(lengthOf(Object.assign(new Error('deep'), { meta: { a: { b: { c: { d: { e: long } } } } } }))).to.be.below(10_000)
    expect(
      lengthOf(
        new AggregateError(
          Array.from({ length: 1_000 }, () => new Error(long)),
          'many',
        ),
      ),
    ).to.be.below(400_000)
  })
})
