import { expect } from 'chai'
import { KeyLookups, lookupsPerSecond } from '../../../src/environment/key-lookups.js'
import type { StoredIdentity } from '../../../src/environment/records/environments.js'
import { FrozenClock } from '../../../src/kernel/clock.js'
import type { Problem } from '../../../src/kernel/problem.js'

const keyOf = (name: string) => ({ name, hash: () => Buffer.from(name) })
const stored = (keyId: string) => ({ identity: { keyId }, expiresAt: null, revokedAt: null }) as StoredIdentity
/** More than an address has, whatever it has saved. */
const many = lookupsPerSecond.address * 10

describe('look-ups of keys', () => {
  const clock = new FrozenClock(0)
  let looked: string[]
  let existing: Set<string>
  let keys: KeyLookups

  beforeEach(() => {
    clock.set(0)
    looked = []
    existing = new Set(['valid'])
    keys = new KeyLookups({
      clock,
      load: async (hash) => {
        looked.push(String(hash))
        return existing.has(String(hash)) ? stored(String(hash)) : null
      },
    })
  })

  const outcome = (name: string, from: string) =>
    keys.get(keyOf(name), from).then(
      (found) => (found ? 'found' : 'none'),
      ({ reason }: Problem) => reason,
    )
  const flood = (from: string, count = many) => Promise.all(Array.from({ length: count }, (_, n) => outcome(`${from} ${n}`, from)))

  it('are one for a key that is none, however often it is shown', async () => {
    for (let n = 0; n < 50; n++) expect(await outcome('made up', 'somewhere')).to.equal('none')
    expect(looked).to.deep.equal(['made up'])
  })

  it('are bounded for an address, which is told to wait', async () => {
    const outcomes = await flood('loud')
    expect(new Set(outcomes)).to.deep.equal(new Set(['none', 'RATE_LIMIT_EXCEEDED']))
    expect(looked.length).to.be.below(many)
  })

  it('are bounded for all addresses together', async () => {
    const startedAt = performance.now()
    await Promise.all(Array.from({ length: 50 }, (_, n) => flood(`place ${n}`, 100)))
    const seconds = (performance.now() - startedAt) / 1_000
    expect(looked.length).to.be.below(lookupsPerSecond.all * (4 + 2 * seconds))
  })

  it('are never refused for a key that was seen, from the same address and after what was known of it is outdated', async () => {
    expect(await outcome('valid', 'loud')).to.equal('found')
    await flood('loud')
    await Promise.all(Array.from({ length: 50 }, (_, n) => flood(`place ${n}`, 100)))
    clock.set(6_000)
    expect(await outcome('valid', 'loud')).to.equal('found')
    expect(looked.filter((name) => name === 'valid')).to.have.length(2)
  })

  it('are made for an address that showed none, whatever others show', async () => {
    await Promise.all(Array.from({ length: 90 }, (_, n) => flood(`place ${n}`, 100)))
    expect(await outcome('valid', 'elsewhere')).to.equal('found')
  })

  it('are given back when there is such a key: many new ones may come from one address', async () => {
    for (let n = 0; n < many; n++) {
      existing.add(`key ${n}`)
      expect(await outcome(`key ${n}`, 'a proxy')).to.equal('found')
    }
  })

  it('are made again for a key that is created, also when it is being looked up', async () => {
    expect(await outcome('late', 'somewhere')).to.equal('none')
    existing.add('late')
    expect(await outcome('late', 'somewhere')).to.equal('none')
    keys.created(Buffer.from('late'))
    expect(await outcome('late', 'somewhere')).to.equal('found')

    const early = outcome('later', 'somewhere')
    keys.created(Buffer.from('later'))
    existing.add('later')
    await early
    expect(await outcome('later', 'somewhere')).to.equal('found')
  })

  it('are made again after nothing was heard of keys for a while', async () => {
    expect(await outcome('late', 'somewhere')).to.equal('none')
    existing.add('late')
    keys.forgetUnknown()
    expect(await outcome('late', 'somewhere')).to.equal('found')
  })

  it('are made once for those who ask at the same time', async () => {
    expect(await Promise.all([outcome('valid', 'a'), outcome('valid', 'b')])).to.deep.equal(['found', 'found'])
    expect(looked).to.deep.equal(['valid'])
  })

  it('are made again for a key in use while it is known, so that nobody waits for them', async () => {
    let answer: (found: StoredIdentity | null) => void = () => {}
    const slow = new KeyLookups({
      clock,
      load: (hash) => {
        looked.push(String(hash))
        return looked.length === 1 ? Promise.resolve(stored('first')) : new Promise((resolve) => (answer = resolve))
      },
    })
    const keyId = async () => (await slow.get(keyOf('valid'), 'somewhere'))?.identity.keyId
    expect(await keyId()).to.equal('first')
    clock.set(3_000)
    expect([await keyId(), await keyId()]).to.deep.equal(['first', 'first'])
    expect(looked).to.have.length(2)
    clock.set(5_000)
    const waiting = keyId()
    answer(stored('second'))
    expect(await waiting).to.equal('second')
    clock.set(7_900)
    expect(await keyId()).to.equal('second')
  })

  it('that fail while a key is known are heard of when it is not any more', async () => {
    let isAway = false
    const failing = new KeyLookups({ clock, load: () => (isAway ? Promise.reject(new Error('away')) : Promise.resolve(stored('valid'))) })
    const get = () =>
      failing.get(keyOf('valid'), 'somewhere').then(
        (found) => found?.identity.keyId,
        ({ message }: Error) => message,
      )
    expect(await get()).to.equal('valid')
    isAway = true
    clock.set(4_000)
    expect(await get()).to.equal('valid')
    clock.set(5_000)
    expect(await get()).to.equal('away')
  })
})
