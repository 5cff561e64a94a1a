import { expect } from 'chai'
import { Problem } from '../../../../src/kernel/problem.js'
import { waitsWithin } from '../../../../src/metering/intake/exchange.js'
import { notCounted as asNotCounted, notCountedInTime, outcomeUnknown, toPlainProblem } from '../../../../src/metering/model/problems.js'
import { eventually } from '../../../support/eventually.js'
import { openDoor } from './open-door.js'

/** What a call that was not acknowledged says: its code, and what became of it. */
const saidOf = (sent: Promise<unknown>) =>
  sent.then(
    () => 'counted',
    (error: Problem) => [error.code, error.reason, error.details],
  )
const notCounted = (code: string, reason: string) => [code, reason, { outcome: 'notCounted' }]
const unknown = (...keys: string[]) => [
  'DEADLINE_EXCEEDED',
  'USAGE_OUTCOME_UNKNOWN',
  { outcome: 'unknown', ...(keys.length === 1 ? { idempotencyKey: keys[0] } : { idempotencyKeys: keys }) },
]

describe('a call that a door does not acknowledge', () => {
  it('was not counted when its caller went before it was handed over; and it never is', async () => {
    const { door, jobs, send, answer, settle } = openDoor()
    const first = send(1)
    await settle()
    const caller = new AbortController()
    const second = saidOf(send(1, caller.signal))
    await settle()
    caller.abort()
    expect(await second).to.deep.equal(notCounted('DEADLINE_EXCEEDED', 'TIMEOUT'))
    answer(jobs[0]!)
    await first
    await eventually('it is empty', () => door.waitingBytes === 0)
    expect(jobs).to.have.length(1)
  })

  it('was not counted when its caller had gone before it came', async () => {
    const { jobs, send, settle } = openDoor()
    expect(await saidOf(send(1, AbortSignal.abort()))).to.deep.equal(notCounted('DEADLINE_EXCEEDED', 'TIMEOUT'))
    await settle()
    expect(jobs).to.deep.equal([])
  })

  it('may have been when its caller went afterwards', async () => {
    const { jobs, send, answer, settle } = openDoor()
    const caller = new AbortController()
    const [one, several] = [saidOf(send(1, caller.signal)), saidOf(send(3, caller.signal))]
    await settle()
    caller.abort()
    expect(await one).to.deep.equal(unknown('key 0'))
    expect(await several).to.deep.equal(unknown('key 0', 'key 1', 'key 2'))
    answer(jobs[0]!)
  })

  it('is acknowledged after all when the answer was there and had not been read', async () => {
    const { jobs, send, answer, settle } = openDoor()
    const caller = new AbortController()
    const sent = saidOf(send(1, caller.signal))
    await settle()
    caller.abort()
    answer(jobs[0]!)
    expect(await sent).to.equal('counted')
  })

  it('is acknowledged when its caller goes while others are still to hear of it', async () => {
    const expectAnnouncement = () => ({
      ticket: { sender: 'web', number: 1 },
      heardBy: () => new Promise<void>(() => undefined),
      forget: () => undefined,
    })
    const { jobs, send, answer, settle } = openDoor({ expectAnnouncement })
    const caller = new AbortController()
    const sent = saidOf(send(1, caller.signal))
    await settle()
    answer(jobs[0]!, ['a', 'b'])
    await settle()
    caller.abort()
    expect(await sent).to.equal('counted')
  })

  const away = new Problem('UNAVAILABLE', 'UNAVAILABLE', 'away')
  const full = new Problem('RESOURCE_EXHAUSTED', 'RATE_LIMIT_EXCEEDED', 'full')
  for (const problem of [away, full]) {
    it(`was not counted when the queue refused it: ${problem.reason}`, async () => {
      const { send } = openDoor({ add: () => Promise.reject(problem) })
      expect(await saidOf(send(1))).to.deep.equal(notCounted(problem.code, problem.reason))
    })
  }

  it('was not counted when no job could be made of it, and others are', async () => {
    let error: Error | undefined = Problem.from(new TypeError('no JSON'))
    const { jobs, send, answer } = openDoor({
      add: async () => {
        if (error) throw error
      },
    })
    expect(await saidOf(send(1))).to.deep.equal(notCounted('INTERNAL', 'INTERNAL'))
    error = undefined
    const sent = send(1)
    await eventually('the next job', () => jobs.length === 1)
    answer(jobs[0]!)
    await sent
  })

  it('may have been when the connection to the queue broke, and nobody answers', async () => {
    const { send } = openDoor({ answerWithinMs: 100, add: () => Promise.reject(new Error('read ECONNRESET')) })
    expect(await saidOf(send(1))).to.deep.equal(unknown('key 0'))
  })

  describe('in time', () => {
    it('has its answer before its callers give up, and ten seconds are enough for a deadline and all questions', () => {
      for (const callersMs of [1, 50, 400, 3_000, 10_000, 60_000]) {
        const { answerMs, questionMs } = waitsWithin(callersMs)
        expect(answerMs + questionMs).to.be.below(callersMs)
      }
      expect(waitsWithin(10_000)).to.deep.equal({ answerMs: 6_000, questionMs: 500 })
      expect(waitsWithin(60_000)).to.deep.equal(waitsWithin(10_000))
    })

    it('is asked for once more, and only for what is stored: then it is not known', async () => {
      const { jobs, send } = openDoor({ answerWithinMs: 300 })
      expect(await saidOf(send(1))).to.deep.equal(unknown('key 0'))
      expect(jobs.map(({ isRepeat, onlyStored }) => [isRepeat, onlyStored])).to.deep.equal([
        [false, undefined],
        [true, true],
      ])
      expect(new Set(jobs.map(({ batchId }) => batchId)).size).to.equal(1)
    })

    it('is acknowledged when it turns out to be stored', async () => {
      const { jobs, send, answer } = openDoor({ answerWithinMs: 300 })
      const sent = saidOf(send(1))
      await eventually('the question', () => jobs.length === 2)
      answer(jobs[1]!)
      expect(await sent).to.equal('counted')
    })

    it('is said to be unknown as soon as it turns out that it cannot be seen', async () => {
      const { jobs, send, reply } = openDoor({ answerWithinMs: 1_000 })
      const sent = saidOf(send(2))
      await eventually('the question', () => jobs.some(({ onlyStored }) => onlyStored))
      const askedAt = performance.now()
      reply(jobs.at(-1)!, { problem: toPlainProblem(outcomeUnknown([])) })
      expect(await sent).to.deep.equal(unknown('key 0', 'key 1'))
      expect(performance.now() - askedAt).to.be.below(100)
    })
  })

  describe('and was sent again', () => {
    /** A queue that says of the first job later what became of it. */
    const slowQueue = (repeats: () => Promise<void>, answerWithinMs?: number) => {
      let refuse!: (problem: Problem) => void
      const first = new Promise<void>((_, reject) => {
        refuse = reject
      })
      let sentAgain = 0
      const door = openDoor({
        answerWithinMs,
        add: (job) => {
          if (!job.isRepeat) return first
          sentAgain += 1
          return repeats()
        },
      })
      return { ...door, refuse, wasSentAgain: () => eventually('the repeat', () => sentAgain > 0, 10_000) }
    }
    for (const problem of [away, full]) {
      it(`is acknowledged by what was sent again, though the queue refuses what was sent first: ${problem.reason}`, async () => {
        const { jobs, send, answer, refuse, wasSentAgain } = slowQueue(async () => undefined)
        const sent = saidOf(send(1))
        await wasSentAgain()
        refuse(problem)
        await eventually('the job', () => jobs.length === 1)
        await new Promise(setImmediate)
        answer(jobs[0]!)
        expect(await sent).to.equal('counted')
      })
    }

    it('may have been when nobody answers what was sent again, though the queue has refused what was sent first', async () => {
      const { send, refuse, wasSentAgain } = slowQueue(async () => undefined, 2_000)
      const sent = saidOf(send(1))
      await wasSentAgain()
      refuse(away)
      expect(await sent).to.deep.equal(unknown('key 0'))
    })

    it('was not counted when the queue has refused all of them', async () => {
      const { jobs, send, refuse, wasSentAgain } = slowQueue(() => Promise.reject(full))
      const sent = saidOf(send(1))
      await wasSentAgain()
      refuse(away)
      expect(await sent).to.deep.equal(notCounted('UNAVAILABLE', 'UNAVAILABLE'))
      expect(jobs).to.deep.equal([])
    })

    it('may have been when a worker could not count it, unless that was too late: another worker may', async () => {
      const broken = asNotCounted(Problem.from(new Error('broken')))
      for (const [problem, said] of [
        [broken, unknown('key 0')],
        [notCountedInTime(), notCounted('DEADLINE_EXCEEDED', 'TIMEOUT')],
      ] as const) {
        const { jobs, send, reply } = openDoor()
        const sent = saidOf(send(1).then((answer) => ('problem' in answer ? Promise.reject(answer.problem) : answer)))
        await eventually('the repeat', () => jobs.length === 2, 10_000)
        reply(jobs[0]!, { problem: toPlainProblem(problem) })
        expect(await sent).to.deep.equal(said)
      }
    })

    it('may have been when a worker refuses it, or some of it: another one may find it right, as what was missing has come', async () => {
      const refusal = toPlainProblem(new Problem('NOT_FOUND', 'CUSTOMER_NOT_FOUND', 'none'))
      const item = { index: 1, code: 'CUSTOMER_NOT_FOUND', message: 'none' }
      for (const refused of [{ problem: refusal }, { refused: [item] }]) {
        const { jobs, send, reply } = openDoor()
        const sent = saidOf(send(2))
        await eventually('the repeat', () => jobs.length === 2, 10_000)
        reply(jobs[1]!, refused)
        expect(await sent).to.deep.equal(unknown('key 0', 'key 1'))
        const once = openDoor()
        const answer = once.send(2)
        await eventually('the job', () => once.jobs.length === 1)
        once.reply(once.jobs[0]!, refused)
        expect(await answer).to.deep.equal(refused)
      }
    })
  })

  it('is sent again until the queue takes it', async () => {
    let refusals = 0
    const { jobs, send, answer } = openDoor({
      add: async ({ isRepeat }) => {
        if (!isRepeat) throw new Error('Connection is closed.')
        refusals += 1
        if (refusals < 3) throw away
      },
    })
    const sent = send(1)
    await eventually('the job', () => jobs.length === 1, 5_000)
    answer(jobs[0]!)
    await sent
    expect(refusals).to.equal(3)
  })
})
