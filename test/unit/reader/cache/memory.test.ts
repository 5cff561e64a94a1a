import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect } from 'chai'
import * as decimal from '../../../../src/kernel/decimal.js'
import { entryKey } from '../../../../src/reader/cache/cache.js'
import { MemoryCache } from '../../../../src/reader/cache/memory.js'
import { toEntry } from '../../../../src/reader/states/cached-state.js'
import { held, state } from '../states.js'

function put(cache: MemoryCache, customerId: string, resourceId: string | null, entitlements = 1) {
  const entry = toEntry(
    state(
      1,
      Array.from({ length: entitlements }, (_, n) => held(`f${n}`, 1, 1)),
      { customerId, resourceId },
    ),
    0,
    0,
  )
  cache.set(entryKey(customerId, resourceId), entry)
}

const resourcesOf = (cache: MemoryCache, customerId: string) => cache.entriesOf(customerId).map((entry) => entry.state.resourceId)

describe('memory cache', () => {
  it('keeps keys apart whatever characters identifiers have', () => {
    const owners = [
      ['a', 'b'],
      ['a/b', null],
      ['a', null],
      ['a', ''],
      ['1:a', null],
      ['', 'a'],
      ['a/', 'b'],
      ['a', '/b'],
    ] as const
    expect(new Set(owners.map(([customerId, resourceId]) => entryKey(customerId, resourceId))).size).to.equal(owners.length)
  })

  it('finds the entries of a customer and of its resources, and of no other', () => {
    const cache = new MemoryCache(1_000_000)
    put(cache, 'c', null)
    put(cache, 'c', 'r1')
    put(cache, 'c', 'r2')
    put(cache, 'c', 'r2')
    put(cache, 'd', 'r1')
    expect(resourcesOf(cache, 'c')).to.have.members([null, 'r1', 'r2'])
    expect(resourcesOf(cache, 'd')).to.deep.equal(['r1'])
    expect(resourcesOf(cache, 'e')).to.deep.equal([])
  })

  it('drops the least recently used, and forgets that they belonged to a customer', () => {
    const cache = new MemoryCache(5_000)
    for (let n = 0; n < 100; n++) put(cache, 'c', `r${n}`)
    expect(cache.sizeBytes).to.be.at.most(5_000)
    expect(resourcesOf(cache, 'c')).to.have.length(cache.entryCount)
    expect(resourcesOf(cache, 'c').at(-1)).to.equal('r99')
  })

  it('counts what many customers hold once, and what only one holds for that one', () => {
    const sizeOf = (limit: (n: number) => number) => {
      const cache = new MemoryCache(10_000_000)
      for (let n = 0; n < 100; n++) {
        const entitlements = Array.from({ length: 20 }, (_, feature) =>
          held(`f${feature}`, 1, 1, { usageLimit: decimal.fromNumber(limit(n)) }),
        )
        cache.set(entryKey(`c${n}`, null), toEntry(state(1, entitlements, { customerId: `c${n}` }), 0, 0))
      }
      return cache.sizeBytes / 100
    }
    expect(sizeOf(() => 5)).to.be.below(2_048)
    expect(sizeOf((n) => n)).to.be.above(8_000)
  })

  it('does not keep an entry that is larger than itself, nor what it replaced', () => {
    const cache = new MemoryCache(5_000)
    put(cache, 'c', 'r')
    put(cache, 'c', 'r', 100)
    expect(cache.get(entryKey('c', 'r'))).to.equal(undefined)
    expect(resourcesOf(cache, 'c')).to.deep.equal([])
    expect(cache.sizeBytes).to.equal(0)
  })

  it('answers the entry of a key', () => {
    const cache = new MemoryCache(5_000)
    put(cache, 'c', null)
    expect(cache.get(entryKey('c', null))?.state.customerId).to.equal('c')
    expect(cache.get(entryKey('d', null))).to.equal(undefined)
  })

  it('drops first what was not used for longest, and looking through all of a customer is no use', () => {
    const cache = new MemoryCache(100_000)
    put(cache, 'a', null, 0)
    const bytesOfOne = cache.sizeBytes
    const small = new MemoryCache(3.5 * bytesOfOne)
    const left = () => ['a', 'b', 'c', 'd', 'e'].filter((customerId) => small.entriesOf(customerId).length > 0).join('')
    for (const customerId of ['a', 'b', 'c']) put(small, customerId, null, 0)
    small.get(entryKey('a', null))
    small.entriesOf('b')
    put(small, 'd', null, 0)
    expect(left()).to.equal('acd')
    // Once more, after something was put in since.
    small.get(entryKey('a', null))
    small.get(entryKey('c', null))
    put(small, 'e', null, 0)
    expect(left()).to.equal('ace')
  })

  it('has no memory of customers, resources and rights that are gone', () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const heapBytes = () => {
      collect()
      return process.memoryUsage().heapUsed
    }
    const entryOf = (n: number) => ({ ...toEntry(state(1, [], { customerId: `c${n}`, resourceId: 'r' }), 0, 0) })
    const fill = (cache: MemoryCache, count: number) => {
      for (let n = 0; n < count; n++) {
        const entry = entryOf(n)
        const rights = { ...entry.state.rights }
        cache.set(entryKey(entry.state.customerId, 'r'), { ...entry, state: { ...entry.state, rights } })
      }
    }
    const cache = new MemoryCache(10_000)
    fill(cache, 1_000)
    const before = heapBytes()
    fill(cache, 11_000)
    // Each of them takes some hundred bytes, and ten thousand came and went.
    expect((heapBytes() - before) / 10_000).to.be.below(20)
    expect(cache.entryCount).to.be.below(20)
  })

  describe('counts an entry', () => {
    const entryOf = (customerId: string, resourceId: string | null = null) =>
      toEntry(state(1, [held('shared', 1, 1), held(`only-${'x'.repeat(40)}`, 1, 1)], { customerId, resourceId }), 0, 0)
    const sizeOf = (key: string, { state }: ReturnType<typeof entryOf>, sharers: number) =>
      Math.ceil(560 + 2 * key.length + 8 * state.usages.length + state.rights.bytes / sharers)

    it('with its key, its usages, and its part of what others hold too', () => {
      const cache = new MemoryCache(100_000)
      const [a, b] = [entryOf('a'), entryOf('b')]
      expect(a.state.rights).to.equal(b.state.rights)
      cache.set(entryKey('a', null), a)
      const alone = sizeOf(entryKey('a', null), a, 1)
      expect(cache.sizeBytes).to.equal(alone)
      cache.set(entryKey('b', null), b)
      expect(cache.sizeBytes).to.equal(alone + sizeOf(entryKey('b', null), b, 2))
    })

    it('with what comes next for it, whose rights others have', () => {
      const cache = new MemoryCache(100_000)
      const one = entryOf('a')
      const next = { validFrom: 100, state: state(2, [held('x', 1, 1), held('y', 1, 1), held('z', 1, 1)]) }
      cache.set(entryKey('a', null), { ...one, state: { ...one.state, next } })
      expect(cache.sizeBytes).to.equal(sizeOf(entryKey('a', null), one, 1) + 560 + 8 * 15)
    })

    it('without one that was too large to be kept', () => {
      const cache = new MemoryCache(5_000)
      cache.set(entryKey('x'.repeat(5_000), null), entryOf('x'.repeat(5_000)))
      const [key, one] = [entryKey('a', null), entryOf('a')]
      cache.set(key, one)
      expect(cache.sizeBytes).to.equal(sizeOf(key, one, 1))
    })

    it('alone again when the others are gone', () => {
      const one = entryOf('a')
      const key = entryKey('a', null)
      const whole = sizeOf(key, one, 1)
      const cache = new MemoryCache(Math.ceil(whole * 1.2))
      // Each drives out the one before.
      for (const customerId of ['a', 'b', 'c', 'd', 'e', 'f']) cache.set(entryKey(customerId, null), entryOf(customerId))
      expect(cache.entryCount).to.equal(1)
      // With its predecessor, which it then drove out.
      expect(cache.sizeBytes).to.equal(sizeOf(key, one, 2))
      const replaced = new MemoryCache(100_000)
      for (let n = 0; n < 3; n++) replaced.set(key, entryOf('a'))
      expect(replaced.sizeBytes).to.equal(sizeOf(key, one, 2))
    })
  })
})
