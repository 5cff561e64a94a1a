import { expect } from 'chai'
import fc from 'fast-check'
import { Problem } from '../../../../src/kernel/problem.js'
import { Places } from '../../../../src/web/live/places.js'
import { costOfSubscription, SubscriptionCosts } from '../../../../src/web/live/subscription-costs.js'
import { UnreadBytes } from '../../../../src/web/live/unread-bytes.js'

describe('places', () => {
  it('are never more than there are, and come back', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.constantFrom('a', 'b'), fc.boolean())), (steps) => {
        const places = new Places()
        const held: Record<string, Array<() => void>> = { a: [], b: [] }
        for (const [name, isTaken] of steps) {
          const leave = isTaken ? places.take(name, 3) : null
          if (!isTaken) held[name]!.pop()?.()
          else expect(leave === null).to.equal(held[name]!.length === 3)
          if (leave) held[name]!.push(leave)
        }
      }),
    )
  })
})

describe('costs of subscriptions', () => {
  it('are of fields and of text', () => {
    expect(costOfSubscription(100, 'x'.repeat(1_005))).to.equal(201)
  })

  it('count what is listened to several times once, and each owner apart', () => {
    const costs = new SubscriptionCosts()
    const one = { name: 'one', cost: 60 }
    const two = { name: 'two', cost: 50 }
    const ends = [costs.take('a', 100, one), costs.take('a', 100, one)]
    expect(() => costs.take('a', 100, two))
      .to.throw(Problem, '110')
      .with.property('code', 'RESOURCE_EXHAUSTED')
    costs.take('b', 100, two)
    ends[0]!()
    expect(() => costs.take('a', 100, two)).to.throw(Problem)
    ends[1]!()
    costs.take('a', 100, two)
  })
})

describe('unread bytes', () => {
  it('are too many of one environment before they are too many of all', () => {
    const unread = new UnreadBytes()
    unread.add('a', 40 * 2 ** 20)
    expect([unread.isTooMuch('a'), unread.isTooMuch('b')]).to.deep.equal([true, false])
    for (const environment of ['b', 'c', 'd', 'e']) unread.add(environment, 30 * 2 ** 20)
    expect(unread.isTooMuch('f')).to.equal(true)
    unread.add('a', -40 * 2 ** 20)
    expect([unread.isTooMuch('a'), unread.isTooMuch('b')]).to.deep.equal([false, false])
  })
})
