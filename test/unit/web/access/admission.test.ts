import { expect } from 'chai'
import { Problem } from '../../../../src/kernel/problem.js'
import { createMetrics } from '../../../../src/platform/metrics.js'
import { Admission, maxWaitingCalls, weightOf } from '../../../../src/web/access/admission.js'

describe('the admission of calls', () => {
  let [now, waited] = [0, 0]
  let admission: Admission
  let entered: string[]

  beforeEach(() => {
    ;[now, waited, entered] = [0, 0, []]
    admission = new Admission({ waitedMs: () => waited, now: () => now })
  })

  /** Whether it entered at once. */
  const enter = (owner: string, weight = 1) => {
    const waiting = admission.enter(owner, weight)
    waiting?.then(
      () => entered.push(owner),
      (error) => entered.push(Problem.from(error).code),
    )
    return waiting === undefined
  }
  const settled = () => new Promise(setImmediate)
  /** So long the process waits for a processor for such a share of its time, and two other environments call. */
  const pass = (ms: number, share: number) => {
    for (let at = 0; at < ms; at += 60) {
      now += 60
      waited += 60 * share
      for (const owner of ['quiet', 'other']) if (enter(owner)) admission.leave(owner, 1)
    }
  }
  /** They leave as time passes. */
  const leave = (owner: string, count: number) => {
    for (let n = 0; n < count; n++) {
      admission.leave(owner, 1)
      pass(60, 0.5)
    }
  }
  const enterMany = (owner: string, count: number) => {
    let atOnce = 0
    for (let n = 0; n < count; n++) if (enter(owner)) atOnce++
    return atOnce
  }

  it('lets in whatever comes while there are processors, or while nobody else calls', () => {
    expect(enterMany('loud', 500)).to.equal(500)
    pass(3_000, 0.05)
    expect(enterMany('loud', 500)).to.equal(500)
    const alone = new Admission({ waitedMs: () => (waited += 60), now: () => (now += 60) })
    for (let n = 0; n < 500; n++) expect(alone.enter('loud', 1)).to.equal(undefined)
  })

  it('lets fewer and fewer of the loud one in when the process has to wait, and all of the others', async () => {
    enterMany('loud', 50)
    pass(3_000, 0.5)
    expect(enterMany('quiet', 5)).to.equal(5)
    for (let n = 0; n < 5; n++) admission.leave('quiet', 1)
    expect(enterMany('loud', 3)).to.equal(0)
    leave('loud', 48)
    await settled()
    expect(entered).to.deep.equal([])
    leave('loud', 1)
    await settled()
    expect(entered).to.deep.equal(['loud'])
  })

  it('lets in as many as before when there are processors again', () => {
    enterMany('loud', 50)
    pass(3_000, 0.5)
    for (let n = 0; n < 50; n++) admission.leave('loud', 1)
    pass(15_000, 0)
    expect(enterMany('loud', 500)).to.equal(500)
  })

  it('takes a call of a long body for many, and lets one in when nothing else is under way', async () => {
    expect([weightOf('0'), weightOf('8191'), weightOf('100000'), weightOf(undefined)]).to.deep.equal([1, 1, 13, 9])
    enterMany('loud', 50)
    pass(3_000, 0.5)
    enter('loud', 13)
    enter('loud')
    leave('loud', 49)
    await settled()
    expect(entered).to.deep.equal([])
    leave('loud', 1)
    await settled()
    expect(entered).to.deep.equal(['loud'])
    admission.leave('loud', 13)
    await settled()
    expect(entered).to.deep.equal(['loud', 'loud'])
  })

  it('refuses who waits for too long, and who comes when too many wait', async () => {
    enterMany('loud', 50)
    pass(3_000, 0.5)
    expect(enterMany('loud', maxWaitingCalls)).to.equal(0)
    expect(() => enter('loud')).to.throw('Too many calls of this environment wait')
    now += 6_000
    admission.leave('loud', 1)
    await settled()
    expect(new Set(entered)).to.deep.equal(new Set(['RESOURCE_EXHAUSTED']))
    expect(entered).to.have.length(maxWaitingCalls)
  })

  it('shows how many wait', async () => {
    const metrics = createMetrics('web')
    admission = new Admission({ metrics, waitedMs: () => waited, now: () => now })
    enterMany('loud', 50)
    pass(3_000, 0.5)
    enterMany('loud', 7)
    const [line] = (await metrics.metrics()).split('\n').filter((one) => one.startsWith('tollgate_calls_waiting{'))
    expect(Number(line!.split(' ')[1])).to.be.at.least(7)
  })
})
