import { expect } from 'chai'
import * as decimal from '../../../../src/kernel/decimal.js'
import { newId } from '../../../../src/kernel/id.js'
import { Problem } from '../../../../src/kernel/problem.js'
import {
  checkEvent,
  checkReport,
  checkTogether,
  type EventItem,
  eventIdentity,
  keyOfMeasurement,
  maxDimensionBytesPerCall,
  measurementOfKey,
  type ReportItem,
  reportBody,
  reportIdentity,
  type UsageEvent,
  type UsageReport,
} from '../../../../src/metering/model/report.js'

const now = Date.parse('2026-01-15T00:00:00.000Z')

const event: EventItem = { customerId: 'c', resourceId: null, eventName: 'e', idempotencyKey: 'k', timestamp: null, dimensions: {} }
const report: ReportItem = {
  id: 'id',
  customerId: 'c',
  resourceId: null,
  featureId: 'f',
  value: decimal.fromNumber(1),
  behavior: 'DELTA',
  timestamp: null,
  idempotencyKey: 'k',
  dimensions: null,
}
const hex = (hash: Buffer) => hash.toString('hex')
/** The place of what is wrong; undefined: nothing is. */
function refused(check: () => unknown): unknown {
  try {
    check()
  } catch (error) {
    const { path, field } = Problem.from(error).details
    return path ?? field
  }
  return undefined
}

describe('the identity of usage', () => {
  it('differs in every part of an event but its dimensions', () => {
    const others: Partial<EventItem>[] = [
      { customerId: 'd' },
      { resourceId: '' },
      { eventName: 'f' },
      { idempotencyKey: 'l' },
      { timestamp: 0 },
      { timestamp: 1 },
    ]
    const hashes = [event, ...others.map((change) => ({ ...event, ...change }))].map((e) => hex(eventIdentity('env', e)))
    expect(new Set([...hashes, hex(eventIdentity('other', event))]).size).to.equal(others.length + 2)
    expect(hex(eventIdentity('env', { ...event, dimensions: { a: 1 } }))).to.equal(hashes[0])
  })

  it('never mistakes the border between two parts', () => {
    const of = (customerId: string, eventName: string) => hex(eventIdentity('env', { ...event, customerId, eventName }))
    expect(of('ab', 'c')).not.to.equal(of('a', 'bc'))
    expect(of('1:a', 'b')).not.to.equal(of('1', 'a1:b'))
    expect(hex(reportIdentity('env', 'k'))).not.to.equal(hex(reportIdentity('en', 'vk')))
  })

  it('of a report is its key; its body is everything else that the caller sent', () => {
    const others: Partial<ReportItem>[] = [
      { customerId: 'd' },
      { resourceId: 'r' },
      { featureId: 'g' },
      { value: decimal.zero },
      { behavior: 'SET' },
      { timestamp: 1 },
      { dimensions: {} },
    ]
    const bodies = [report, ...others.map((change) => ({ ...report, ...change }))].map((r) => hex(reportBody(r)))
    expect(new Set(bodies).size).to.equal(others.length + 1)
    expect(hex(reportBody({ ...report, id: 'another' }))).to.equal(bodies[0])
    const dimensions = (entries: [string, number][]) => hex(reportBody({ ...report, dimensions: Object.fromEntries(entries) }))
    expect(
      dimensions([
        ['a', 1],
        ['b', 2],
      ]),
    ).to.equal(
      dimensions([
        ['b', 2],
        ['a', 1],
      ]),
    )
  })
})

describe('usage at the door', () => {
  const refusals: [string, Partial<EventItem>][] = [
    ['an empty identifier', { customerId: '' }],
    ['a blank event name', { eventName: ' ' }],
    ['a control character in a key', { idempotencyKey: 'a\nb' }],
    ['an empty resource', { resourceId: '' }],
    ['a time beyond the window', { timestamp: now + 5 * 60_000 + 1 }],
    ['dimensions that are a list', { dimensions: [] as never }],
    ['a dimension that is an object', { dimensions: { a: {} as never } }],
    ['a dimension that is not a number', { dimensions: { a: Number.NaN } }],
    ['text that PostgreSQL cannot hold', { dimensions: { a: 'a\u0000b' } }],
    ['half a character', { dimensions: { a: '\ud800' } }],
    ['more than 1 MB', { dimensions: { a: 'x'.repeat(1_000_001) } }],
  ]
  for (const [title, change] of refusals) {
    it(`refuses ${title}`, () => {
      expect(() => checkEvent({ ...event, ...change }, now))
        .to.throw(Problem)
        .with.property('code', 'INVALID_ARGUMENT')
    })
  }

  it('is refused with the place of what is wrong', () => {
    const ofReports: [Partial<Record<keyof UsageReport, unknown>>, string][] = [
      [{ customerId: '' }, 'customerId'],
      [{ featureId: '' }, 'featureId'],
      [{ resourceId: '' }, 'resourceId'],
      [{ idempotencyKey: '' }, 'idempotencyKey'],
      [{ value: decimal.fromText('1e15') }, 'value'],
      [{ dimensions: [] }, 'dimensions'],
      [{ timestamp: 'never' }, 'timestamp'],
    ]
    for (const [change, path] of ofReports)
      expect(
        refused(() => checkReport({ ...report, ...change } as UsageReport, 'id', now)),
        path,
      ).to.equal(path)
    const ofEvents: [Partial<Record<keyof UsageEvent, unknown>>, string][] = [
      [{ customerId: '' }, 'customerId'],
      [{ eventName: '' }, 'eventName'],
      [{ resourceId: '' }, 'resourceId'],
      [{ idempotencyKey: '' }, 'idempotencyKey'],
      [{ timestamp: 'never' }, 'timestamp'],
      ...[null, undefined, 7, 'text', []].map((dimensions): [object, string] => [{ dimensions }, 'dimensions']),
      [{ dimensions: { a: {} } }, 'dimensions.a'],
      [{ dimensions: { a: Number.NaN } }, 'dimensions.a'],
      [{ dimensions: { a: () => 1 } }, 'dimensions.a'],
      [{ dimensions: { a: '\u0000' } }, 'dimensions.a'],
      [{ dimensions: { a: 'x'.repeat(1_000_000) } }, 'dimensions'],
    ]
    for (const [change, path] of ofEvents)
      expect(
        refused(() => checkEvent({ ...event, ...change } as UsageEvent, now)),
        JSON.stringify(change).slice(0, 50),
      ).to.equal(path)
    expect(refused(() => checkEvent({ ...event, dimensions: { a: 'x'.repeat(999_999) } }, now))).to.equal(undefined)
    for (const change of [{}, { resourceId: 'r' }, { idempotencyKey: null }, { dimensions: {} }])
      expect(checkReport({ ...report, ...change }, 'id', now)).to.deep.equal({ ...report, ...change })
    expect(checkReport({ ...report, timestamp: now - 1 }, 'id', now).timestamp).to.equal(now - 1)
    expect(checkEvent(event, now)).to.deep.equal(event)
  })

  it('of one call is refused when its dimensions take more memory together than is allowed', () => {
    // Beside its characters a text, and what holds it, takes 48 bytes.
    const half = (more = 0) => ({ ...report, dimensions: { a: 'x'.repeat(maxDimensionBytesPerCall / 2 - 48 + more) } })
    for (const reports of [[], [report], [half(), half()], [half(), report, half()]])
      expect(
        refused(() => checkTogether(reports)),
        String(reports.length),
      ).to.equal(undefined)
    for (const reports of [
      [half(), half(1)],
      [half(), { ...report, dimensions: { a: 1 } }, half()],
    ])
      expect(refused(() => checkTogether(reports))).to.equal('dimensions')
  })

  it('without a key can be sent again under its measurement’s', () => {
    const id = newId()
    expect(keyOfMeasurement(id)).to.equal(`measurement:${id}`)
    expect(measurementOfKey(keyOfMeasurement(id))).to.equal(id)
    for (const key of [
      null,
      '',
      id,
      'measurement:',
      'measurement:x',
      `x${keyOfMeasurement(id)}`,
      `${keyOfMeasurement(id)}x`,
      `${id}measurement:`,
      id.padStart(48, 'x'),
    ])
      expect(measurementOfKey(key), String(key)).to.equal(null)
  })

  it('of one kind is never one of the other, and the order of dimensions is nobody’s', () => {
    const key = hex(reportIdentity('e', 'k'))
    expect(key).to.match(/^[\da-f]{64}$/)
    const body = (dimensions: ReportItem['dimensions'], timestamp: number | null = null) =>
      hex(reportBody({ ...report, dimensions, timestamp }))
    expect(body({ a: 1, b: 2, c: 3 })).to.equal(body({ c: 3, a: 1, b: 2 }))
    expect(new Set([body(null), body({}), body({ a: 1 }), body(null, 0), body(null, 1), body({ a: '1' })]).size).to.equal(6)
  })

  it('keeps 0, false and "" as values, and null as a missing one', () => {
    const dimensions = { zero: 0, no: false, empty: '', missing: null, word: '客户 🙂' }
    expect(checkEvent({ ...event, dimensions, timestamp: new Date(now) as never }, now)).to.deep.include({ dimensions, timestamp: now })
  })

  it('refuses a value that cannot be kept', () => {
    expect(() => checkReport({ ...report, value: decimal.fromText('1e15') }, 'id', now)).to.throw(Problem)
    expect(checkReport({ ...report, value: decimal.fromText('-999999999999999') }, 'id', now)).to.deep.include({
      id: 'id',
      timestamp: null,
    })
  })
})
