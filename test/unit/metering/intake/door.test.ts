import { mock } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import type { Redis } from 'ioredis'
import type { Listeners } from '../../../../src/changes/wire/holders.js'
import { Problem } from '../../../../src/kernel/problem.js'
import { Backlog } from '../../../../src/metering/intake/backlog.js'
import type { EventItem } from '../../../../src/metering/model/report.js'
import type { Logger } from '../../../../src/platform/logger.js'
import { createMetrics } from '../../../../src/platform/metrics.js'
import { eventually } from '../../../support/eventually.js'
import { openDoor } from './open-door.js'

describe('a door', () => {
  /** Nothing takes long, however busy the machine is. */
  const stopTimers = () => mock.timers.enable({ apis: ['setTimeout'] })
  afterEach(() => mock.timers.reset())

  it('sends calls of one turn together, and keeps few that come meanwhile for the next batch', async () => {
    stopTimers()
    const { jobs, send, answer, itemsOf, settle } = openDoor()
    const first = [send(1), send(2)]
    await settle()
    expect(jobs.map(itemsOf)).to.deep.equal([3])
    const second = Array.from({ length: 19 }, () => send(1))
    await settle()
    expect(jobs).to.have.length(1)
    answer(jobs[0]!)
    expect(await Promise.all(first)).to.deep.equal([{ refused: [] }, { refused: [] }])
    await settle()
    expect(jobs.map(itemsOf)).to.deep.equal([3, 19])
    answer(jobs[1]!)
    await Promise.all(second)
  })

  it('sends a second batch beside the first when it is worth a job, and no third', async () => {
    stopTimers()
    const { jobs, send, answer, itemsOf, settle } = openDoor()
    const calls = [send(1)]
    await settle()
    for (const count of [10, 10, 40]) calls.push(send(count))
    await settle()
    // The call of 40 does not fit beside the others.
    expect(jobs.map(itemsOf)).to.deep.equal([1, 20])
    answer(jobs[0]!)
    await settle()
    expect(jobs.map(itemsOf)).to.deep.equal([1, 20, 40])
    answer(jobs[1]!)
    answer(jobs[2]!)
    await Promise.all(calls)
  })

  it('sends one batch of an environment at a time while another one sends too', async () => {
    const { jobs, send, answer, settle } = openDoor()
    const calls = [send(1, undefined, 'customer', 'quiet')]
    await settle()
    for (let n = 0; n < 4; n++) calls.push(send(40, undefined, 'customer', 'loud'))
    await settle()
    expect(jobs.map(({ environmentId }) => environmentId)).to.deep.equal(['quiet', 'loud'])
    answer(jobs[0]!)
    for (let answered = 1; answered < 5; answered++) {
      await eventually('the next one', () => jobs.length > answered)
      expect(jobs).to.have.length(answered + 1)
      answer(jobs[answered]!)
    }
    await Promise.all(calls)
    expect(jobs.map(({ environmentId }) => environmentId)).to.deep.equal(['quiet', 'loud', 'loud', 'loud', 'loud'])
  })

  it('rests after a batch of many items while another environment sends too, and not when it is alone', async () => {
    for (const isAlone of [true, false]) {
      const { jobs, send, answer, settle } = openDoor()
      const calls = [send(1, undefined, 'customer', isAlone ? 'loud' : 'quiet')]
      await settle()
      answer(jobs[0]!)
      calls.push(send(1_000, undefined, 'customer', 'loud'))
      await eventually('the batch', () => jobs.length === 2)
      if (isAlone) calls.push(send(1_000, undefined, 'customer', 'loud'))
      calls.push(send(1_000, undefined, 'customer', 'loud'))
      await sleep(200)
      const sent = jobs.length
      answer(jobs[sent - 1]!)
      await settle()
      expect(jobs.length - sent, isAlone ? 'alone' : 'beside another').to.equal(isAlone ? 1 : 0)
      for (let next = 1; next < calls.length; next++) {
        await eventually('the next one', () => jobs.length > next)
        answer(jobs[next]!)
      }
      await Promise.all(calls)
    }
  })

  it('has no more than two slow ones of an environment without an answer while another one sends too', async () => {
    const { jobs, send, answer, settle } = openDoor()
    const calls = [send(1, undefined, 'customer', 'quiet')]
    await settle()
    for (let n = 0; n < 4; n++) calls.push(send(40, undefined, 'customer', 'loud'))
    // Each leaves its slot to the next after 100 ms.
    await eventually('a second one', () => jobs.length === 3)
    await sleep(250)
    expect(jobs.map(({ environmentId }) => environmentId)).to.deep.equal(['quiet', 'loud', 'loud'])
    for (let answered = 0; answered < 5; answered++) {
      await eventually('the next one', () => jobs.length > answered)
      answer(jobs[answered]!)
      await settle()
    }
    await Promise.all(calls)
  })

  it('takes a batch of many items for slow later than one of few', async () => {
    const { jobs, send, answer, itemsOf, settle } = openDoor()
    const calls = [send(1_000, undefined, 'customer', 'loud'), send(40, undefined, 'customer', 'other')]
    await settle()
    calls.push(send(1_000, undefined, 'customer', 'loud'), send(50, undefined, 'customer', 'other'))
    await eventually('the second one of the other', () => jobs.length === 3)
    expect(jobs.map(itemsOf)).to.deep.equal([1_000, 40, 50])
    // Those that are asked for again are the same ones.
    const sent = () => jobs.filter(({ isRepeat }) => !isRepeat)
    await eventually('the second one of many', () => sent().length === 4)
    for (const job of sent()) answer(job)
    await Promise.all(calls)
  })

  it('does not keep the next few of an environment waiting for few that take long, while another one sends too', async () => {
    const { jobs, send, answer, settle } = openDoor()
    const calls = [send(40, undefined, 'customer', 'loud')]
    for (let n = 1; n <= 4; n++) {
      calls.push(send(1, undefined, 'customer', 'quiet'))
      await eventually('the next one', () => jobs.length === 1 + n)
    }
    for (const job of jobs) answer(job)
    await settle()
    await Promise.all(calls)
  })

  it('waits a moment under load for a batch as large as usual, and goes with half of it at once', async () => {
    const { jobs, send, answer, itemsOf, settle } = openDoor()
    const many = (count: number) => Promise.all(Array.from({ length: count }, () => send(1)))
    const first = many(30)
    await settle()
    answer(jobs[0]!)
    await first
    const few = many(2)
    expect(jobs.map(itemsOf)).to.deep.equal([30])
    const others = many(13)
    await settle()
    expect(jobs.map(itemsOf)).to.deep.equal([30, 15])
    answer(jobs[1]!)
    await Promise.all([few, others])
    const last = send(1)
    await eventually('the batch of one', () => jobs.length === 3)
    expect(itemsOf(jobs[2]!)).to.equal(1)
    answer(jobs[2]!)
    await last
  })

  it('sends few calls together whose customers they are of, and many by customer', async () => {
    const { jobs, queues, send, answer, settle } = openDoor({ shards: 2 })
    const few = Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map((customerId) => send(1, undefined, customerId)))
    await settle()
    expect(jobs).to.have.length(1)
    answer(jobs[0]!)
    await few
    const many = Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map((customerId) => send(30, undefined, customerId)))
    for (let answered = 1; answered < 7; answered++) {
      await eventually('another batch', () => jobs.length > answered)
      answer(jobs[answered]!)
    }
    await many
    expect(queues.map(({ length }) => length)).to.not.include(0)
  })

  it('does not keep others waiting for a batch that takes long', async () => {
    const { jobs, send, answer, itemsOf, settle } = openDoor()
    const slow = [send(20)]
    await settle()
    slow.push(send(20))
    await settle()
    const next = send(30)
    await settle()
    expect(jobs.map(itemsOf)).to.deep.equal([20, 20])
    await eventually('the next batch', () => jobs.length === 3)
    answer(jobs[2]!)
    await next
    answer(jobs[0]!)
    answer(jobs[1]!)
    await Promise.all(slow)
  })

  it('answers callers when what they did is known to those who must know, and expects no more of it', async () => {
    const happened: string[] = []
    const ticket = { sender: 'web', number: 1 }
    const expectAnnouncement = () => ({
      ticket,
      heardBy: async ({ holders }: Listeners) => {
        await settle()
        happened.push(`heard by ${holders.length}`)
      },
      forget: () => void happened.push('forgotten'),
    })
    const { jobs, send, answer, settle } = openDoor({ expectAnnouncement })
    const sent = send(1).then(() => happened.push('answered'))
    await settle()
    expect(jobs[0]!.announcement).to.equal(ticket)
    answer(jobs[0]!, ['a', 'b', 'c'])
    await sent
    expect(happened).to.have.members(['heard by 3', 'forgotten', 'answered'])
    expect(happened[0]).to.equal('heard by 3')
    // It is not announced: there is nobody to wait for.
    const alone = send(1).then(() => happened.push('answered alone'))
    await settle()
    answer(jobs[1]!)
    await alone
    expect(happened.slice(3)).to.have.members(['forgotten', 'answered alone'])
  })

  it('refuses what would be too much without an answer, says so, and says when most of it is answered', async () => {
    const lines: string[] = []
    const note = (_facts: object, line: string) => void lines.push(line)
    const metrics = createMetrics('door')
    const backlog = new Backlog({
      redis: { info: async () => '' } as unknown as Redis,
      queues: [],
      limits: { maxWaitingJobs: 10, maxRedisBytes: null },
      log: { warn: note, info: note } as unknown as Logger,
      metrics,
    })
    const refusedFor = async () =>
      (await metrics.getSingleMetric('tollgate_usage_refused_for_backlog')!.get()).values
        .filter(({ value }) => value === 1)
        .map(({ labels }) => labels.reason)
    const { jobs, send, answer } = openDoor({ backlog })
    const calls = Array.from({ length: 20 }, () => send(1_000))
    const answerAll = async (count: number) => {
      for (let answered = count - 10; answered < count; answered++) {
        await eventually('another batch', () => jobs.length > answered)
        answer(jobs[answered]!)
        await calls[answered]
      }
    }
    await eventually('a batch', () => jobs.length > 0)
    expect(await refusedFor()).to.deep.equal([])
    for (let again = 0; again < 3; again++) {
      const refused = await send(1).catch((error: unknown) => error)
      expect(refused).to.be.instanceOf(Problem).and.include({ code: 'RESOURCE_EXHAUSTED' })
      expect(await refusedFor()).to.deep.equal(['items'])
    }
    await answerAll(10)
    await answerAll(20)
    expect(await refusedFor()).to.deep.equal([])
    expect(lines).to.deep.equal(['usage is refused: too much of it waits', 'usage is taken again'])
  })

  const refusal = (sent: Promise<unknown>) => sent.then(() => null).catch((error: Problem) => error.code)

  it('leaves room to others whatever one environment sends', async () => {
    const { jobs, send, answer } = openDoor()
    const calls = Array.from({ length: 30 }, () => send(1_000, undefined, 'customer', 'loud').catch(() => null))
    const quiet = [1, 2, 3].map(() => send(286, undefined, 'customer', 'quiet'))
    const done = Promise.all(quiet)
    let isDone = false
    void done.then(() => (isDone = true))
    for (let next = 0; !isDone; next++) {
      await eventually('the next job', () => jobs.length > next || isDone)
      if (jobs[next]) answer(jobs[next]!)
    }
    expect(await done).to.have.length(3)
    expect((await Promise.all(calls.slice(-1)))[0]).to.equal(null)
  })

  it('has no more jobs of one environment on the way than others may wait for', async () => {
    const { jobs, send, answer } = openDoor()
    const calls = Array.from({ length: 12 }, () => send(50))
    const sent = () => jobs.filter(({ isRepeat }) => !isRepeat)
    await eventually('all that may be', () => sent().length === 6)
    await new Promise((resolve) => setTimeout(resolve, 250))
    expect(sent()).to.have.length(6)
    for (let next = 0; next < 12; next++) {
      await eventually('the next job', () => sent().length > next)
      answer(sent()[next]!)
    }
    await Promise.all(calls)
  })

  it('is bounded in bytes, those of a job and those that wait', async () => {
    const { door, jobs, answer } = openDoor()
    const event = { customerId: 'customer', idempotencyKey: 'key', dimensions: { note: 'x'.repeat(300_000) } } as unknown as EventItem
    const send = (count: number, environmentId: string) =>
      door.send(
        environmentId,
        Array.from({ length: count }, () => ({ ...event })),
      )
    const loud = Array.from({ length: 300 }, () => refusal(send(1, 'loud')))
    await eventually('a job', () => jobs.length > 0)
    const quiet = send(5, 'quiet')
    await eventually('the job of the other', () => jobs.some(({ environmentId }) => environmentId === 'quiet'))
    expect(door.waitingBytes).to.be.within(30_000_000, 36_000_000)
    for (let next = 0; door.waitingBytes > 0; next++) {
      await eventually('the next job', () => jobs.length > next || door.waitingBytes === 0)
      if (!jobs[next]) break
      expect(JSON.stringify(jobs[next]).length).to.be.below(1_600_000)
      answer(jobs[next]!)
      await new Promise((resolve) => setImmediate(resolve))
    }
    await quiet
    const outcomes = await Promise.all(loud)
    expect(outcomes.filter((outcome) => outcome === null)).to.have.length.within(100, 112)
    expect(outcomes).to.include('RESOURCE_EXHAUSTED')
  })

  it('keeps no room for callers that have gone, once what they sent is done', async () => {
    const { door, jobs, send, answer, settle } = openDoor()
    const caller = new AbortController()
    const calls = Array.from({ length: 5 }, () => refusal(send(50, caller.signal)))
    await settle()
    caller.abort()
    expect(await Promise.all(calls)).to.deep.equal(Array(5).fill('DEADLINE_EXCEEDED'))
    expect(door.waitingBytes).to.be.above(0)
    for (const job of jobs) answer(job)
    await eventually('it is empty', () => door.waitingBytes === 0)
  })

  it('fails the calls of a job that cannot be sent, and takes others', async () => {
    let error: Error | undefined = Problem.from(new TypeError('no JSON'))
    const { jobs, send, answer } = openDoor({
      add: async () => {
        if (error) throw error
      },
    })
    expect(await refusal(send(1))).to.equal('INTERNAL')
    error = undefined
    const sent = send(1)
    await eventually('the next job', () => jobs.length === 1)
    answer(jobs[0]!)
    await sent
  })
})
