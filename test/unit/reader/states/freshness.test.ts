import { expect } from 'chai'
import { toEntry } from '../../../../src/reader/states/cached-state.js'
import { FreshnessJudge } from '../../../../src/reader/states/freshness.js'
import { held, state } from '../states.js'

const limits = { refreshAfterMs: 30, maxStalenessMs: 100 }
const readAt = (judge: FreshnessJudge, at: number, validUntil: number | null = null) =>
  toEntry(state(1, [held('a', 1, 1)], { validUntil }), judge.epoch, at)

describe('freshness', () => {
  it('trusts an entry for ever while the connection it was read under lasts', () => {
    const judge = new FreshnessJudge(limits)
    judge.beginEpoch()
    expect(judge.judge(readAt(judge, 0), 1_000_000)).to.equal('fresh')
  })

  it('trusts an entry for refreshAfter without a connection, then wants it refreshed, and at last does not answer it', () => {
    const judge = new FreshnessJudge(limits)
    const entry = readAt(judge, 0)
    expect([0, 29, 30, 99, 100].map((now) => judge.judge(entry, now))).to.deep.equal(['fresh', 'fresh', 'old', 'old', 'miss'])
  })

  it('counts the age from the end of the connection that vouched', () => {
    const judge = new FreshnessJudge(limits)
    judge.beginEpoch()
    const entry = readAt(judge, 0)
    judge.endEpoch(1_000)
    expect([1_029, 1_030, 1_100].map((now) => judge.judge(entry, now))).to.deep.equal(['fresh', 'old', 'miss'])
  })

  it('suspects every entry after a reconnect, however young', () => {
    const judge = new FreshnessJudge(limits)
    judge.beginEpoch()
    const entry = readAt(judge, 0)
    judge.endEpoch(10)
    judge.beginEpoch()
    expect(judge.judge(entry, 11)).to.equal('suspect')
    expect(judge.judge(readAt(judge, 11), 12)).to.equal('fresh')
  })

  it('suspects what was read before the first connection', () => {
    const judge = new FreshnessJudge(limits)
    const entry = readAt(judge, 0)
    judge.beginEpoch()
    expect(judge.judge(entry, 1)).to.equal('suspect')
    expect(judge.judge(entry, 30)).to.equal('old')
  })

  it('trusts every entry again when all that was missed has been told', () => {
    const judge = new FreshnessJudge(limits)
    judge.beginEpoch()
    const entry = readAt(judge, 0)
    judge.endEpoch(10)
    const between = readAt(judge, 11)
    judge.resumeEpoch()
    expect(judge.judge(entry, 1_000)).to.equal('fresh')
    expect(judge.judge(between, 12)).to.equal('suspect')
  })

  it('does not begin to trust when there was no connection to resume', () => {
    const judge = new FreshnessJudge(limits)
    const entry = readAt(judge, 0)
    judge.resumeEpoch()
    expect(judge.judge(entry, 30)).to.equal('old')
  })

  it('does not give an entry of an earlier connection the age of a later one', () => {
    const judge = new FreshnessJudge(limits)
    judge.beginEpoch()
    const entry = readAt(judge, 0)
    judge.endEpoch(10)
    judge.beginEpoch()
    judge.endEpoch(1_000)
    expect(judge.judge(entry, 1_000)).to.equal('miss')
  })

  it('never answers past validUntil, vouched for or not', () => {
    const judge = new FreshnessJudge(limits)
    judge.beginEpoch()
    const entry = readAt(judge, 0, 10)
    expect([9, 10].map((now) => judge.judge(entry, now))).to.deep.equal(['fresh', 'miss'])
  })

  it('suspects an entry whose usage period is over, or that something related changed', () => {
    const judge = new FreshnessJudge(limits)
    judge.beginEpoch()
    const entry = { ...readAt(judge, 0), usagePeriodEnd: 10 }
    expect([9, 10].map((now) => judge.judge(entry, now))).to.deep.equal(['fresh', 'suspect'])
    expect(judge.judge({ ...readAt(judge, 0), isSuspect: true }, 1)).to.equal('suspect')
  })
})
