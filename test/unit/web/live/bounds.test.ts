import { EventEmitter } from 'node:events'
import { expect } from 'chai'
import fc from 'fast-check'
import { Problem } from '../../../../src/kernel/problem.js'
import { Connection } from '../../../../src/web/live/connection.js'
import { Places } from '../../../../src/web/live/places.js'
import { costOfSubscription, SubscriptionCosts } from '../../../../src/web/live/subscription-costs.js'
import { UnreadBytes } from '../../../../src/web/live/unread-bytes.js'

const mebibyte = 2 ** 20

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
  const message = (mebibytes: number) => Buffer.alloc(mebibytes * mebibyte)
  const small = message(0)

  it('are too many of one environment before they are too many of all', () => {
    const unread = new UnreadBytes()
    const letGo = unread.hold('a', message(40))
    expect([unread.isTooMuch('a', small), unread.isTooMuch('b', small)]).to.deep.equal([true, false])
    for (const environment of ['b', 'c', 'd', 'e']) unread.hold(environment, message(30))
    expect(unread.isTooMuch('f', small)).to.equal(true)
    letGo()
    expect([unread.isTooMuch('a', small), unread.isTooMuch('b', small)]).to.deep.equal([false, false])
    expect([unread.isTooMuch('b', message(2)), unread.isTooMuch('b', message(3))]).to.deep.equal([false, true])
  })

  it('of what several sockets hold count once, until the last of them has let it go', () => {
    const unread = new UnreadBytes()
    const same = message(20)
    const [first, second] = [unread.hold('a', same), unread.hold('a', same)]
    expect([unread.isTooMuch('a', same), unread.isTooMuch('a', message(13))]).to.deep.equal([false, true])
    first()
    expect(unread.isTooMuch('a', message(13))).to.equal(true)
    second()
    expect(unread.isTooMuch('a', message(13))).to.equal(false)
  })
})

describe('what a socket is pushed', () => {
  const [head, tail] = [Buffer.from('<'), Buffer.from('>')]

  /** A socket that takes nothing of what is sent to it until it is told to. */
  function openConnection(unread: UnreadBytes) {
    const sent: Array<{ data: Buffer; fin: boolean; taken: () => void }> = []
    const dropped: string[] = []
    const socket = Object.assign(new EventEmitter(), {
      OPEN: 1,
      readyState: 1,
      bufferedAmount: 0,
      isPaused: false,
      send: (data: Buffer, { fin }: { fin: boolean }, taken: () => void) => void sent.push({ data, fin, taken }),
      pause: () => {},
      terminate: () => {},
    })
    const stream = new EventEmitter()
    const onDrop = (reason: string) => void dropped.push(reason)
    const connection = new Connection({ socket: socket as never, stream: stream as never, unread, onDrop })
    connection.accept('a')
    return { sent, dropped, push: (payload: Buffer) => connection.push({ head, payload, tail }) }
  }

  it('is one frame when it is short, and shared by all who are sent it when it is long', () => {
    const unread = new UnreadBytes()
    const [one, other] = [openConnection(unread), openConnection(unread)]
    const long = Buffer.alloc(20 * mebibyte)
    for (const { sent, push } of [one, other]) {
      push(Buffer.from('short'))
      push(long)
      expect(sent.map(({ data, fin }) => [data === long ? 'long' : String(data), fin])).to.deep.equal([
        ['<short>', true],
        ['<', false],
        ['long', false],
        ['>', true],
      ])
    }
    expect([...one.dropped, ...other.dropped]).to.deep.equal([])
  })

  it('is not more than its environment may leave unread, also when it has read all before', () => {
    const unread = new UnreadBytes()
    const [first, second] = [openConnection(unread), openConnection(unread)]
    first.push(Buffer.alloc(20 * mebibyte))
    second.push(Buffer.alloc(20 * mebibyte))
    expect(second).to.deep.include({ sent: [], dropped: ['slow'] })
    for (const { taken } of first.sent) taken()
    const third = openConnection(unread)
    third.push(Buffer.alloc(20 * mebibyte))
    expect(third.dropped).to.deep.equal([])
  })
})
