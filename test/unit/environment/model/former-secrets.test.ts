import { expect } from 'chai'
import { type FormerSecret, formerOnceReplaced, fromColumns, validSecrets } from '../../../../src/environment/model/former-secrets.js'
import { Problem } from '../../../../src/kernel/problem.js'

const secret = (name: string) => Buffer.from(name)
const former = (...expireAt: number[]): FormerSecret[] => expireAt.map((expiresAt, n) => ({ secret: secret(`former-${n}`), expiresAt }))
const current = secret('current')

describe('former secrets', () => {
  it('are valid until they expire', () => {
    const secrets = { current, former: former(1_000, 2_000, 3_000) }
    expect(validSecrets(secrets, 1_999)).to.deep.equal([current, secret('former-1'), secret('former-2')])
    expect(validSecrets(secrets, 2_000)).to.deep.equal([current, secret('former-2')])
    expect(validSecrets({ current, former: [] }, 0)).to.deep.equal([current])
  })

  it('keep their own end when there is another one, and go when it is over', () => {
    const [over, valid] = former(1_000, 9_000)
    expect(formerOnceReplaced({ current, former: [over!, valid!] }, { now: 1_000, overlapMs: 500 })).to.deep.equal([
      valid,
      { secret: current, expiresAt: 1_500 },
    ])
  })

  it('end all at once with an overlap of 0, however many there are', () => {
    expect(formerOnceReplaced({ current, former: former(...Array(10).fill(9_000)) }, { now: 1_000, overlapMs: 0 })).to.deep.equal([])
  })

  it('are never ended to make room: ten are valid at most', () => {
    const rotation = { now: 1_000, overlapMs: 500 }
    expect(formerOnceReplaced({ current, former: former(...Array(9).fill(9_000)) }, rotation)).to.have.length(10)
    expect(formerOnceReplaced({ current, former: former(1_000, ...Array(9).fill(9_000)) }, rotation)).to.have.length(10)
    expect(() => formerOnceReplaced({ current, former: former(...Array(10).fill(9_000)) }, rotation))
      .to.throw(Problem)
      .with.property('reason', 'TOO_MANY_SECRETS')
  })

  it('are read from their columns', () => {
    expect(fromColumns({ secrets: [secret('former-0'), secret('former-1')], expireAt: [new Date(1_000), new Date(2_000)] })).to.deep.equal(
      former(1_000, 2_000),
    )
  })
})
