import { expect } from 'chai'
import { Problem } from '../../../../src/kernel/problem.js'
import { createMetrics } from '../../../../src/platform/metrics.js'
import { Admission, maxWaitingCalls, maxWaitMs, weightOf } from '../../../../src/web/access/admission.js'
import { eventually } from '../../../support/eventually.js'

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
    // Those of the test before may still wait.
    const heard = entered
    waiting?.entered.then(
      () => heard.push(owner),
      (error) => heard.push(error instanceof Problem ? error.code : error.message),
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

  it('lets fewer and fewer of each that has many in when the process has to wait, and at once who has few', async () => {
    enterMany('loud', 50)
    enterMany('another', 50)
    pass(3_000, 0.5)
    expect(enterMany('quiet', 16)).to.equal(16)
    for (let n = 0; n < 16; n++) admission.leave('quiet', 1)
    expect([enterMany('loud', 20), enterMany('another', 20)]).to.deep.equal([0, 0])
    leave('loud', 48)
    await settled()
    expect(entered).to.deep.equal([])
    leave('loud', 1)
    await settled()
    expect(entered).to.deep.equal(['loud'])
    // As few as a quiet one has are not held up.
    for (let n = 0; n < 3; n++) admission.leave('loud', 1)
    leave('loud', 2)
    await settled()
    expect(entered).to.have.length(20)
  })

  it('leaves alone who has few, whoever takes the processors', () => {
    enterMany('loud', 16)
    pass(3_000, 0.9)
    admission.leave('loud', 1)
    expect(enterMany('loud', 1)).to.equal(1)
    for (let n = 0; n < 15; n++) admission.leave('loud', 1)
    expect(enterMany('loud', 500)).to.equal(500)
  })

  it('lets in as many as before when there are processors again, those that wait too', async () => {
    enterMany('loud', 50)
    pass(3_000, 0.5)
    enterMany('loud', 300)
    for (let n = 0; n < 40; n++) admission.leave('loud', 1)
    pass(4_000, 0)
    await settled()
    expect(entered.filter((owner) => owner === 'loud').length).to.be.above(20)
    pass(15_000, 0)
    expect(enterMany('loud', 500)).to.equal(500)
  })

  it('takes a call of a long body, or a list, for many, and lets one in when nothing else is under way', async () => {
    expect([weightOf(0, 1), weightOf(8_191, 1), weightOf(100_000, 1), weightOf(100, 25), weightOf(2, 0)]).to.deep.equal([1, 1, 13, 25, 1])
    enterMany('loud', 50)
    pass(3_000, 0.5)
    enter('loud', 100)
    enter('loud')
    leave('loud', 49)
    await settled()
    expect(entered).to.deep.equal([])
    leave('loud', 1)
    await settled()
    expect(entered).to.deep.equal(['loud'])
    admission.leave('loud', 100)
    await settled()
    expect(entered).to.deep.equal(['loud', 'loud'])
  })

  it('lets who gives up wait no more, and takes no place for it', async () => {
    enterMany('loud', 50)
    pass(3_000, 0.5)
    const gone = admission.enter('loud', 1)!
    gone.entered.catch((error) => entered.push(error.message))
    enterMany('loud', 20)
    gone.giveUp(new Error('gone'))
    gone.giveUp(new Error('gone again'))
    await settled()
    expect(entered).to.deep.equal(['gone'])
    for (let n = 0; n < 50; n++) admission.leave('loud', 1)
    await settled()
    for (let n = 0; n < 20; n++) admission.leave('loud', 1)
    await settled()
    expect(entered).to.deep.equal(['gone', ...Array(20).fill('loud')])
    now += 1_000
    enter('quiet')
    expect(() => admission.leave('loud', 1), 'nothing is left of it').to.throw()
  })

  it('refuses who waits for too long, and who comes when too many wait', async () => {
    enterMany('loud', 50)
    pass(3_000, 0.5)
    expect(enterMany('loud', maxWaitingCalls)).to.equal(0)
    expect(() => enter('loud')).to.throw('Too many calls of this environment wait')
    now += maxWaitMs + 1
    // Nobody has to leave for it.
    await eventually('those that waited are refused', () => entered.length > 0)
    await settled()
    expect(entered).to.have.length(maxWaitingCalls)
    expect(new Set(entered)).to.deep.equal(new Set(['RESOURCE_EXHAUSTED']))
  }).timeout(10_000)

  it('shows how many wait', async () => {
    const metrics = createMetrics('web')
    admission = new Admission({ metrics, waitedMs: () => waited, now: () => now })
    enterMany('loud', 50)
    pass(3_000, 0.5)
    enterMany('loud', 7)
    const [line] = (await metrics.metrics()).split('\n').filter((one) => one.startsWith('tollgate_calls_waiting{'))
    expect(Number(line!.split(' ')[1])).to.equal(7)
  })
})
