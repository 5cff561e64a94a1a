import { setImmediate } from 'node:timers/promises'
import { expect } from 'chai'
import { FairPlaces } from '../../../src/environment/fair-places.js'

describe('places of environments', () => {
  /** Work that lasts until it is ended. */
  function stage(places: FairPlaces) {
    const begun: string[] = []
    const ends = new Map<string, (fail?: Error) => void>()
    const begin = (owner: string, name: string): Promise<string> =>
      places.run(owner, () => {
        begun.push(name)
        return new Promise((resolve, reject) => ends.set(name, (fail) => (fail ? reject(fail) : resolve(name))))
      })
    return { begun, begin, end: (name: string, fail?: Error) => ends.get(name)!(fail) }
  }

  it('are taken at once as long as there are some, in all and of the environment', async () => {
    const { begun, begin } = stage(new FairPlaces({ inAll: 3, ofOwner: 2 }))
    for (const name of ['a1', 'a2', 'a3', 'b1', 'b2']) void begin(name[0]!, name)
    await setImmediate()
    expect(begun).to.deep.equal(['a1', 'a2', 'b1'])
  })

  it('go to one environment after the other', async () => {
    const { begun, begin, end } = stage(new FairPlaces({ inAll: 1, ofOwner: 1 }))
    for (const name of ['a1', 'a2', 'a3', 'b1', 'c1']) void begin(name[0]!, name)
    for (const name of ['a1', 'a2', 'b1', 'c1']) {
      await setImmediate()
      end(name)
    }
    await setImmediate()
    expect(begun).to.deep.equal(['a1', 'a2', 'b1', 'c1', 'a3'])
  })

  it('pass by an environment that has its part', async () => {
    const { begun, begin, end } = stage(new FairPlaces({ inAll: 2, ofOwner: 1 }))
    for (const name of ['a1', 'a2', 'b1', 'b2', 'c1']) void begin(name[0]!, name)
    await setImmediate()
    expect(begun).to.deep.equal(['a1', 'b1'])
    end('b1')
    await setImmediate()
    expect(begun).to.deep.equal(['a1', 'b1', 'b2'])
  })

  it('are given back by what fails, also at once', async () => {
    const { begun, begin, end } = stage(new FairPlaces({ inAll: 1, ofOwner: 1 }))
    const first = begin('a', 'a1')
    const second = begin('a', 'a2')
    end('a1', new Error('failed'))
    expect(await first.catch((error: Error) => error.message)).to.equal('failed')
    end('a2')
    expect(await second).to.equal('a2')
    const places = new FairPlaces({ inAll: 1, ofOwner: 1 })
    const fail = () => {
      throw new Error('at once')
    }
    expect(await places.run('a', fail).catch((error: Error) => error.message)).to.equal('at once')
    expect(await places.run('a', () => 'done')).to.equal('done')
    expect(begun).to.deep.equal(['a1', 'a2'])
  })
})
