import { expect } from 'chai'
import fc from 'fast-check'
import { newId } from '../../../../src/kernel/id.js'
import { Problem } from '../../../../src/kernel/problem.js'
import { maxItemsPerCall } from '../../../../src/metering/model/report.js'
import { checkedJob } from '../../../../src/metering/wire/checked-job.js'
import { deadlineMs, type IngestionJob } from '../../../../src/metering/wire/jobs.js'

const now = Date.parse('2027-03-01T12:00:00Z')
const id = '0190b9c2-7c50-7000-8000-000000000001'

const reports = (...calls: unknown[]) => ({ kind: 'reports', calls }) as IngestionJob['batch']
const events = (packed: object) =>
  ({
    kind: 'events',
    calls: [
      {
        deadline: now,
        packed: {
          customers: ['c'],
          resources: null,
          names: ['request'],
          named: null,
          keys: ['k'],
          times: null,
          dimensions: [{}],
          ...packed,
        },
      },
    ],
  }) as IngestionJob['batch']
const jobOf = (batch: IngestionJob['batch']): IngestionJob => ({
  v: 1,
  environmentId: id,
  door: `${id}:door`,
  batchId: newId(),
  isRepeat: false,
  batch,
})
const checked = (batch: IngestionJob['batch']) => checkedJob(jobOf(batch), now)

describe('a job of a door outside the platform', () => {
  it('comes through as it is when a door could have sent it', () => {
    const good = [
      reports([now, [id, 'c', 'calls', '1']]),
      reports(
        [now, [id, 'c', 'calls', '2.5', 'SET', 'site', now - 1_000, 'key', { region: 'eu', size: 3, big: true, none: null }]],
        [now + 1, [id, 'd', 'seats', '-1']],
      ),
      events({}),
      events({
        customers: ['c', 'd'],
        resources: ['site', null],
        names: ['a', 'b'],
        named: [0, 1],
        keys: ['k', 'l'],
        times: [now, null],
        dimensions: [{ a: 1 }, {}],
      }),
    ]
    for (const batch of good) expect((checked(batch) as IngestionJob).batch).to.deep.equal(batch)
  })

  it('is late when a door of the platform would be, and announces nothing', () => {
    const job = {
      ...jobOf(reports([Number.MAX_SAFE_INTEGER, [id, 'c', 'calls', '1']])),
      announcement: { sender: 'another process', number: 1 },
    }
    const { batch, announcement } = checkedJob(job, now) as IngestionJob
    expect(batch.calls[0])
      .to.have.property('0')
      .that.is.at.most(now + deadlineMs + 5_000)
    expect(announcement).to.equal(undefined)
  })

  it('is refused when no door could have sent it, whatever it is', () => {
    const many = Array.from({ length: 3 }, () => [now, ...Array.from({ length: 900 }, () => [id, 'c', 'calls', '1'])])
    const bad: Record<string, IngestionJob['batch']> = {
      'an id that is none': reports([now, ['x', 'c', 'calls', '1']]),
      'a number for a customer': reports([now, [id, 7, 'calls', '1']]),
      'a customer without end': reports([now, [id, 'c'.repeat(300), 'calls', '1']]),
      'a feature with a control character': reports([now, [id, 'c', 'ca\0lls', '1']]),
      'a value that is a number': reports([now, [id, 'c', 'calls', 1]]),
      'a value that is no number': reports([now, [id, 'c', 'calls', '1; DROP TABLE']]),
      'a value without end': reports([now, [id, 'c', 'calls', '1e300']]),
      'a behaviour that there is not': reports([now, [id, 'c', 'calls', '1', 'TIMES', null, null, null, null]]),
      'a time far ahead': reports([now, [id, 'c', 'calls', '1', 'DELTA', null, now * 2, null, null]]),
      'dimensions that are lists': reports([now, [id, 'c', 'calls', '1', 'DELTA', null, null, null, { a: [1] }]]),
      'dimensions that are too much together': reports([
        now,
        ...['1', '2', '3'].map((value) => [id, 'c', 'calls', value, 'DELTA', null, null, null, { a: 'a'.repeat(400_000) }]),
      ]),
      'nothing at all': reports([now, null]),
      'no report': reports([now]),
      'too many items': reports(...many),
      'an event without dimensions': events({ dimensions: [] }),
      'an event with a name that there is not': events({ named: [9] }),
      'an event with text that cannot be stored': events({ dimensions: [{ a: '\uD800' }] }),
      'an event with a time that is text': events({ times: ['now'] }),
      'an event of nobody': events({ customers: [] }),
    }
    for (const [what, batch] of Object.entries(bad)) expect(checked(batch), what).to.be.instanceOf(Problem)
  })

  it('never throws, nor lets through what it has not looked at', () => {
    const anything = fc.anything({ maxDepth: 2 })
    const row = fc.array(anything, { maxLength: 10 })
    fc.assert(
      fc.property(fc.array(row, { maxLength: 3 }), anything, (rows, column) => {
        for (const batch of [
          reports([now, ...rows]),
          events({ customers: column }),
          events({ dimensions: [column] }),
          events({ named: column }),
        ]) {
          const answer = checked(batch)
          if (answer instanceof Problem) continue
          expect(checked(answer.batch)).to.have.deep.property('batch', answer.batch)
        }
      }),
    )
  })

  it('may be as many items as a door gathers, and one call more', () => {
    const call = (count: number) => [now, ...Array.from({ length: count }, () => [id, 'c', 'calls', '1'])]
    const most = maxItemsPerCall
    expect(checked(reports(call(most), call(most)))).to.not.be.instanceOf(Problem)
    expect(checked(reports(call(most), call(most - 1), call(2)))).to.be.instanceOf(Problem)
    const keys = Array.from({ length: 2 * most + 1 }, (_, index) => `k${index}`)
    expect(checked(events({ keys })))
      .to.have.property('message')
      .that.includes(`${2 * most} items`)
  })

  it('that is late by a clock of its own keeps its time, as far as clocks differ', () => {
    const at = (deadline: number) => (checked(reports([deadline, [id, 'c', 'calls', '1']])) as IngestionJob).batch.calls[0]
    expect(at(now + deadlineMs + 2_000)).to.have.property('0', now + deadlineMs + 2_000)
    expect(at(now + deadlineMs + 2_001)).to.have.property('0', now + deadlineMs + 2_000)
  })

  it('is told what is wrong with an item, and no more of what no sidecar sends', () => {
    expect(checked(reports([now, [id, 'c', 'calls', '1', 'DELTA', null, now * 2, null, null]])))
      .to.have.property('message')
      .that.does.not.include('none that a sidecar sends')
    expect(checked(reports([now, null]))).to.have.property('message', 'The job is none that a sidecar sends')
  })
})
