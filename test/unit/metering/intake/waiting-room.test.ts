import { expect } from 'chai'
import { type Load, WaitingRoom } from '../../../../src/metering/intake/waiting-room.js'

/** All that there is: so many items, and so many bytes. */
const most: Load = { items: 40_000, bytes: 64 * 2 ** 20 }

/** Of either measure so much, and next to nothing of the other. */
const loads: Readonly<Record<keyof Load, (share: number) => Load>> = {
  items: (share) => ({ items: most.items * share, bytes: 1 }),
  bytes: (share) => ({ items: 1, bytes: most.bytes * share }),
}

describe('the room for usage without an answer', () => {
  for (const measure of ['items', 'bytes'] as const) {
    const of = loads[measure]
    const more = (load: Load): Load => ({ ...load, [measure]: load[measure] + 1 })

    it(`is for one environment half of all, in ${measure}`, () => {
      const room = new WaitingRoom()
      expect([room.hasRoom('a', of(1 / 2)), room.hasRoom('a', more(of(1 / 2)))]).to.deep.equal([true, false])
      room.enter('a', of(1 / 4))
      expect([room.hasRoom('a', of(1 / 4)), room.hasRoom('a', more(of(1 / 4)))]).to.deep.equal([true, false])
    })

    it(`is for another one half of what is left, in ${measure}`, () => {
      const room = new WaitingRoom()
      room.enter('a', of(1 / 4))
      room.enter('a', of(1 / 4))
      expect([room.hasRoom('b', of(1 / 4)), room.hasRoom('b', more(of(1 / 4)))]).to.deep.equal([true, false])
      // Together with it, the first has more than its share until it has less under way.
      room.enter('b', of(1 / 4))
      expect(room.hasRoom('a', of(1 / 40_000))).to.equal(false)
      room.leave('a', of(1 / 4))
      expect([room.hasRoom('a', of(1 / 8)), room.hasRoom('a', more(of(1 / 8)))]).to.deep.equal([true, false])
    })

    it(`is calm while a quarter at most is taken, in ${measure}`, () => {
      const room = new WaitingRoom()
      expect(room.isCalm).to.equal(true)
      room.enter('a', of(1 / 4))
      expect(room.isCalm).to.equal(true)
      room.enter('b', of(1 / 40_000))
      expect(room.isCalm).to.equal(false)
    })
  }

  it('is as it was when all have left, and remembers none of them', () => {
    const room = new WaitingRoom()
    const load = { items: 3, bytes: 500 }
    room.enter('a', load)
    room.enter('a', load)
    room.enter('b', load)
    expect([room.bytes, room.itemsOf('a'), room.itemsOf('b'), room.itemsOf('c')]).to.deep.equal([1_500, 6, 3, 0])
    room.leave('a', load)
    expect([room.bytes, room.itemsOf('a')]).to.deep.equal([1_000, 3])
    room.leave('a', load)
    room.leave('b', load)
    expect([room.bytes, room.itemsOf('a'), room.itemsOf('b')]).to.deep.equal([0, 0, 0])
    expect(() => room.leave('a', load)).to.throw(TypeError)
  })
})
