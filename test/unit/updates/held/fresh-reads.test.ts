import { expect } from 'chai'
import type { EntitlementState } from '../../../../src/entitlement/rules/state.js'
import { FreshReads, freshReadsAtATime } from '../../../../src/updates/held/fresh-reads.js'

describe('reads for one caller', () => {
  /** Reads that last until they are ended, in the order in which they began. */
  function stage() {
    const begun: string[] = []
    const ends: (() => void)[] = []
    const reads = new FreshReads((_, customerId) => {
      begun.push(customerId)
      return new Promise((resolve) => ends.push(() => resolve({ customerId } as EntitlementState)))
    })
    let paid = 0
    const ask = (customerId: string, environmentId = 'e') =>
      reads.state(environmentId, customerId, null, () => {
        paid++
        return () => undefined
      })
    return { reads, begun, ends, ask, paid: () => paid }
  }
  const round = () => new Promise(setImmediate)

  it('are one for all who ask before it begins, and one of them pays', async () => {
    const { begun, ends, ask, paid } = stage()
    const asked = [ask('a'), ask('a'), ask('b'), ask('a')]
    await round()
    expect([begun, paid()]).to.deep.equal([['a', 'b'], 2])
    for (const end of ends) end()
    expect((await Promise.all(asked)).map(({ customerId }) => customerId)).to.deep.equal(['a', 'a', 'b', 'a'])
  })

  it('are another one for who asks after it has begun: it may be from before what the caller knows of', async () => {
    const { begun, ends, ask } = stage()
    const early = ask('a')
    await round()
    const late = ask('a')
    await round()
    expect(begun).to.deep.equal(['a', 'a'])
    ends[1]!()
    await late
    ends[0]!()
    await early
  })

  it('are few at a time of an environment, and in all; who waits for the same waits for one', async () => {
    const { begun, ends, ask, paid } = stage()
    const { inAll, ofOwner } = freshReadsAtATime
    for (let n = 0; n < 10; n++) {
      void ask('busy')
      await round()
    }
    expect([begun.length, paid()]).to.deep.equal([ofOwner, ofOwner + 1])
    for (let n = 0; n < 10; n++) void ask(`c${n}`, `other ${n}`)
    await round()
    expect(begun).to.have.lengthOf(inAll)
    for (let ended = 0; ended < ends.length; ended++) {
      ends[ended]!()
      await round()
    }
    expect(begun).to.have.lengthOf(ofOwner + 1 + 10)
  })

  it('are not begun for who is refused, and that is remembered of nobody else', async () => {
    const { reads, begun, ask } = stage()
    const refuse = () => {
      throw new Error('too much')
    }
    const refused = await reads.state('e', 'a', null, refuse).catch((error: Error) => error.message)
    expect(refused).to.equal('too much')
    void ask('a')
    await round()
    expect(begun).to.deep.equal(['a'])
  })

  it('keep customers, resources and environments apart, whatever they are called', async () => {
    const { reads, begun } = stage()
    const free = () => () => undefined
    for (const [environmentId, customerId, resourceId] of [
      ['e', 'a', null],
      ['e', 'a', ''],
      ['e', 'a', 'null'],
      ['ea', '', null],
    ] as const)
      void reads.state(environmentId, customerId, resourceId, free)
    await round()
    expect(begun.length).to.be.within(freshReadsAtATime.ofOwner, 4)
  })
})
