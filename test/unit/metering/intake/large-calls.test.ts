import { expect } from 'chai'
import type { Problem } from '../../../../src/kernel/problem.js'
import { UsageIntake } from '../../../../src/metering/intake/intake.js'
import { notCountedInTime, toPlainProblem } from '../../../../src/metering/model/problems.js'
import type { UsageEvent, UsageReport } from '../../../../src/metering/model/report.js'
import { eventually } from '../../../support/eventually.js'
import { openDoor } from './open-door.js'

const event = (index: number, characters: number) =>
  ({
    customerId: 'customer',
    resourceId: null,
    eventName: 'used',
    idempotencyKey: `key ${index}`,
    timestamp: null,
    dimensions: { text: 'x'.repeat(characters) },
  }) satisfies UsageEvent

describe('a large call', () => {
  it('of events is stored in parts, one after the other, and answered once', async () => {
    const { parts, jobs, itemsOf, reply } = openDoor()
    const events = [
      ...Array.from({ length: 5 }, (_, index) => event(index, 990_000)),
      ...Array.from({ length: 20 }, (_, n) => event(5 + n, 50_000)),
    ]
    const sent = new UsageIntake(parts).reportEvents('environment', events).catch((error: Problem) => error.details)
    const sizes: number[] = []
    let stored = 0
    while (stored < events.length) {
      await eventually('the next part', () => jobs.length === sizes.length + 1)
      const job = jobs.at(-1)!
      const [size, begin] = [itemsOf(job), stored]
      sizes.push(size)
      stored += size
      reply(job, { refused: begin === 1 || begin >= 15 ? [{ index: 0, code: 'SOME_REASON', message: 'This one.' }] : [] })
    }
    expect(sizes).to.deep.equal([1, 1, 1, 1, 1, 10, 10])
    const items = [1, 15].map((index) => ({ index, code: 'SOME_REASON', message: 'This one.' }))
    expect(await sent).to.deep.include({ items })
  })

  it('of events of which a part is stored says that it is unknown what became of the others, under whose keys it may be sent again', async () => {
    const { parts, jobs, answer, reply } = openDoor()
    const sent = new UsageIntake(parts).reportEvents('environment', [event(0, 600_000), event(1, 600_000), event(2, 600_000)]).then(
      () => 'stored',
      ({ code, reason, details }: Problem) => [code, reason, details],
    )
    await eventually('the first part', () => jobs.length === 1)
    answer(jobs[0]!)
    await eventually('the second part', () => jobs.length === 2)
    reply(jobs[1]!, { problem: toPlainProblem(notCountedInTime()) })
    expect(await sent).to.deep.equal(['UNKNOWN', 'USAGE_OUTCOME_UNKNOWN', { outcome: 'unknown', idempotencyKeys: ['key 1', 'key 2'] }])
  })

  it('of reports is refused, since they are counted all or none', async () => {
    const { parts, jobs } = openDoor()
    const report = {
      customerId: 'customer',
      resourceId: null,
      featureId: 'feature',
      value: 1,
      behavior: 'DELTA',
      timestamp: null,
      idempotencyKey: null,
      dimensions: { text: 'x'.repeat(60_000) },
    } as unknown as UsageReport
    const refused = await new UsageIntake(parts)
      .report(
        'environment',
        Array.from({ length: 17 }, () => report),
      )
      .catch(({ code, message }: Problem) => [code, message])
    expect(refused).to.deep.equal([
      'INVALID_ARGUMENT',
      'the reports of one call have more than 1000000 bytes of dimensions together: send them in several calls',
    ])
    expect(jobs).to.deep.equal([])
  })
})
