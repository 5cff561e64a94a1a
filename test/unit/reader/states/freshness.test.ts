import { expect } from 'chai'
import { toEntry } from '../../../../src/reader/states/cached-state.js'
import { FreshnessJudge, outdatedEpoch } from '../../../../src/reader/states/freshness.js'
import { held, state } from '../states.js'

const limits = { refreshAfterMs: 30, maxStalenessMs: 100 }
/** One whose connection has proved itself for as long as a test lasts. */
const judgeWithProof = () => {
  const judge = new FreshnessJudge(limits)
  judge.prove(0, Number.POSITIVE_INFINITY)
  return judge
}
const readAt = (judge: FreshnessJudge, at: number, validUntil: number | null = null) =>
  toEntry(state(1, [held('a', 1, 1)], { validUntil }), judge.epoch, at)

describe('freshness', () => {
  it('trusts an entry for ever while the connection it was read under lasts', () => {
    const judge = judgeWithProof()
    judge.beginEpoch()
    expect(judge.judge(readAt(judge, 0), 1_000_000)).to.equal('fresh')
  })

  it('trusts an entry for refreshAfter without a connection, then wants it refreshed, and at last does not answer it', () => {
    const judge = new FreshnessJudge(limits)
    const entry = readAt(judge, 0)
    expect([0, 29, 30, 99, 100].map((now) => judge.judge(entry, now))).to.deep.equal(['fresh', 'fresh', 'old', 'old', 'miss'])
  })

  it('counts the age from the last proof of the connection that vouched', () => {
    const judge = judgeWithProof()
    judge.beginEpoch()
    const entry = readAt(judge, 0)
    judge.prove(1_000, 1_020)
    expect(judge.provenAt).to.equal(1_000)
    judge.endEpoch()
    expect([1_029, 1_030, 1_100].map((now) => judge.judge(entry, now))).to.deep.equal(['fresh', 'old', 'miss'])
  })

  it('trusts a connection no longer than its last proof is good for: the process may have been stopped since', () => {
    const judge = judgeWithProof()
    judge.beginEpoch()
    const entry = readAt(judge, 0)
    judge.prove(1_000, 1_020)
    expect([1_019, 1_020, 1_029, 1_030, 1_099, 1_100].map((now) => judge.judge(entry, now))).to.deep.equal([
      'fresh',
      'fresh',
      'fresh',
      'old',
      'old',
      'miss',
    ])
    expect([1_019, 1_020, 1_100].map((now) => judge.ageMs(entry, now))).to.deep.equal([0, 20, 100])
    // What arrives in its order after a long silence is still all that there was.
    judge.prove(1_110, 1_130)
    expect(judge.judge(entry, 1_120)).to.equal('fresh')
  })

  it('suspects every entry after a reconnect, however young', () => {
    const judge = judgeWithProof()
    judge.beginEpoch()
    const entry = readAt(judge, 0)
    judge.endEpoch()
    judge.beginEpoch()
    expect(judge.judge(entry, 11)).to.equal('suspect')
    expect(judge.judge(readAt(judge, 11), 12)).to.equal('fresh')
  })

  it('suspects what was read before the first connection', () => {
    const judge = judgeWithProof()
    const entry = readAt(judge, 0)
    judge.beginEpoch()
    expect(judge.judge(entry, 1)).to.equal('suspect')
    expect(judge.judge(entry, 30)).to.equal('old')
  })

  it('trusts every entry again when all that was missed has been told', () => {
    const judge = judgeWithProof()
    judge.beginEpoch()
    const entry = readAt(judge, 0)
    judge.endEpoch()
    const between = readAt(judge, 11)
    judge.resumeEpoch()
    expect(judge.judge(entry, 1_000)).to.equal('fresh')
    expect(judge.judge(between, 12)).to.equal('suspect')
  })

  it('does not begin to trust when there was no connection to resume, whatever is proved', () => {
    for (const resume of [true, false]) {
      const judge = judgeWithProof()
      const entry = readAt(judge, 0)
      judge.prove(20, 1_000)
      if (resume) judge.resumeEpoch()
      expect([29, 30, 100].map((now) => judge.judge(entry, now))).to.deep.equal(['fresh', 'old', 'miss'])
      expect(judge.ageMs(entry, 60)).to.equal(60)
      expect(judge.epoch).to.equal(0)
    }
  })

  it('takes what somebody here has outdated for old until it is a miss, whoever vouches', () => {
    const judge = judgeWithProof()
    judge.beginEpoch()
    const entry = { ...readAt(judge, 0), epoch: outdatedEpoch }
    expect([0, 29, 99, 100].map((now) => judge.judge(entry, now))).to.deep.equal(['old', 'old', 'old', 'miss'])
  })

  it('ends to trust at the instant to which it was proved', () => {
    const judge = new FreshnessJudge(limits)
    judge.beginEpoch()
    judge.prove(0, 40)
    const entry = readAt(judge, 0)
    expect([39, 40].map((now) => judge.judge(entry, now))).to.deep.equal(['fresh', 'old'])
  })

  it('does not give an entry of an earlier connection the age of a later one', () => {
    const judge = judgeWithProof()
    judge.beginEpoch()
    const entry = readAt(judge, 0)
    judge.endEpoch()
    judge.beginEpoch()
    judge.prove(1_000, 1_020)
    judge.endEpoch()
    expect(judge.judge(entry, 1_000)).to.equal('miss')
  })

  it('never answers past validUntil, vouched for or not', () => {
    const judge = judgeWithProof()
    judge.beginEpoch()
    const entry = readAt(judge, 0, 10)
    expect([9, 10].map((now) => judge.judge(entry, now))).to.deep.equal(['fresh', 'miss'])
  })

  it('suspects an entry whose usage period is over, or that something related changed', () => {
    const judge = judgeWithProof()
    judge.beginEpoch()
    const entry = { ...readAt(judge, 0), usagePeriodEnd: 10 }
    expect([9, 10].map((now) => judge.judge(entry, now))).to.deep.equal(['fresh', 'suspect'])
    expect(judge.judge({ ...readAt(judge, 0), suspectSince: 0 }, 1)).to.equal('suspect')
  })

  it('does not answer what has been suspect for too long, whoever vouches: after a long gap it is what was true before', () => {
    const judge = judgeWithProof()
    judge.beginEpoch()
    const entry = { ...readAt(judge, 0), suspectSince: 1_000 }
    expect([1_099, 1_100].map((now) => judge.judge(entry, now))).to.deep.equal(['suspect', 'miss'])
    expect([judge.ageMs(entry, 1_040), judge.ageMs(readAt(judge, 0), 1_040)]).to.deep.equal([40, 0])
  })
})
