import { setImmediate as turn } from 'node:timers/promises'
import { expect } from 'chai'
import { Scope } from '../../../../src/platform/context/scope.js'

describe('a scope', () => {
  it('has its value in all that the work awaits, and each work its own', async () => {
    const scope = new Scope<string>()
    const seen = async () => {
      const before = scope.value
      await turn()
      return [before, scope.value]
    }
    const [a, b] = await Promise.all([scope.run('a', seen), scope.run('b', () => scope.run('c', seen))])
    expect([a, b]).to.deep.equal([
      ['a', 'a'],
      ['c', 'c'],
    ])
    expect(await scope.run('a', () => scope.exit(seen))).to.deep.equal([undefined, undefined])
  })

  it('has none outside, while others have theirs, and after the work has ended in any way', async () => {
    const scope = new Scope<string>()
    const running = scope.run('a', () => turn())
    expect(scope.value).to.equal(undefined)
    await running
    const boom = new Error('boom')
    const fail = () => {
      throw boom
    }
    expect(() => scope.run('a', fail)).to.throw(boom)
    expect(await scope.run('a', async () => fail()).catch((error: unknown) => error)).to.equal(boom)
    expect(scope.value).to.equal(undefined)
    expect(scope.run('b', () => scope.value)).to.equal('b')
  })

  it('ends with the last work in it, not with the first', async () => {
    const scope = new Scope<string>()
    const long = scope.run('long', async () => {
      await turn()
      await turn()
      return scope.value
    })
    await scope.run('short', () => turn())
    expect(await long).to.equal('long')
  })
})
