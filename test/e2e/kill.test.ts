import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { eventually } from '../support/eventually.js'
import { usePlatform } from '../support/platform.js'
import { byCallers, Doors } from './doors.js'

/** The door answers within 6.5 s, whatever happens behind it; the rest is for a busy machine. */
const longestAnswerMs = 8_000
/** It was not counted, or it is not known whether it was: Timeout, ServiceUnavailable, and the sidecar's statuses for them. */
const retryable = /^(Timeout|ServiceUnavailable):|^(2 UNKNOWN|4 DEADLINE_EXCEEDED|14 UNAVAILABLE):/
/** Said by whoever has seen to it. */
const certain = /\bit will not be\b|Nothing was\b/

interface Sent {
  door: 'graphql' | 'sidecar'
  customerId: string
  /** In tenths, so that the sums of this test are exact whatever the platform does. */
  tenths: number
  idempotencyKey: string
}

const sumOf = (sent: readonly Sent[]) => sent.reduce((sum, { tenths }) => sum + tenths, 0) / 10

describe('a worker that is killed in the middle', function () {
  this.timeout(45_000)
  const platform = usePlatform()
  const doors = new Doors(platform)

  it('leaves every acknowledged report counted exactly once, and none of which that is said', async () => {
    // given some customers, and 2,000 reports of theirs
    const customers = await Promise.all(Array.from({ length: 5 }, () => doors.provision('business')))
    const reports = Array.from({ length: 2_000 }, (_, index): Sent => {
      const door = index % 2 ? 'sidecar' : 'graphql'
      return { door, customerId: customers[index % customers.length]!, tenths: 1 + (index % 17), idempotencyKey: randomUUID() }
    })
    const acknowledged: Sent[] = []
    const refused: Sent[] = []
    let unknown = 0
    let longestMs = 0
    let killed: { back: () => Promise<void> } | undefined
    const send = async (sent: Sent) => {
      const { door, customerId, tenths, idempotencyKey } = sent
      const report = { customerId, featureId: 'api-calls', value: tenths / 10, idempotencyKey }
      const startedAt = performance.now()
      try {
        await (door === 'graphql' ? doors.report(report) : doors.reportToSidecar(report))
        acknowledged.push(sent)
      } catch (error) {
        expect((error as Error).message).to.match(retryable)
        refused.push(sent)
        if (!certain.test((error as Error).message)) unknown += 1
      }
      // A sidecar goes on until it knows, as long as its caller waits.
      if (door === 'graphql') longestMs = Math.max(longestMs, performance.now() - startedAt)
      if (acknowledged.length === 600) killed ??= platform().kill('usage-ingestion')
    }

    // when the worker is killed after the first 600
    const of = (door: Sent['door']) => reports.filter((sent) => sent.door === door)
    // A sidecar sends 16 requests at a time; more callers would wait for each other.
    await Promise.all([byCallers(32, of('graphql'), send), byCallers(16, of('sidecar'), send)])
    expect(killed, 'was killed').to.not.equal(undefined)

    // then everybody was answered in time, and the sums are those of the acknowledged reports
    expect(acknowledged.length + refused.length).to.equal(reports.length)
    expect(longestMs).to.be.below(longestAnswerMs)
    await killed!.back()
    const expectUsages = async () => {
      for (const customerId of customers) {
        const sum = sumOf(acknowledged.filter((sent) => sent.customerId === customerId))
        expect((await doors.entitlement(customerId, 'api-calls')).currentUsage).to.equal(sum)
        await eventually('the sidecar to know', async () => (await doors.usages(customerId, 'api-calls')).sidecar === sum)
      }
    }
    if (unknown === 0) await expectUsages()

    // and a repeat counts what was refused, and nothing else
    const repeated = [...acknowledged.slice(590, 640), ...refused.splice(0)]
    const alreadyCounted = new Set(acknowledged)
    await byCallers(16, repeated, async (sent) => {
      await send(sent)
      if (alreadyCounted.has(sent)) acknowledged.splice(acknowledged.lastIndexOf(sent), 1)
    })
    expect(refused).to.deep.equal([])
    expect(acknowledged).to.have.length(reports.length)
    await expectUsages()
  })

  it('leaves every acknowledged event counted exactly once', async () => {
    // given two customers, and 200 calls of five events each
    const customers = await Promise.all([doors.provision('business'), doors.provision('business')])
    const calls = Array.from({ length: 200 }, (_, index) => ({
      door: index % 2 ? 'sidecar' : 'graphql',
      customerId: customers[(index >> 1) % 2]!,
      events: Array.from({ length: 5 }, (_, event) => ({ key: randomUUID(), tokens: (index + event) / 4 })),
    }))
    type EventCall = (typeof calls)[number]
    const send = ({ door, customerId, events }: EventCall): Promise<unknown> =>
      door === 'graphql'
        ? platform().api.call(`mutation ($events: UsageEventsReportInput!) { reportEvent(events: $events) }`, {
            events: {
              usageEvents: events.map(({ key, tokens }) => ({
                customerId,
                eventName: 'completion',
                idempotencyKey: key,
                dimensions: { tokens, status: 'ok' },
              })),
            },
          })
        : platform().sidecar.call('ReportEvents', {
            events: events.map(({ key, tokens }) => ({
              customer_id: customerId,
              event_name: 'completion',
              idempotency_key: key,
              dimensions: { tokens: { number_value: tokens }, status: { string_value: 'ok' } },
            })),
          })
    const sums = (counted: readonly EventCall[]) =>
      customers.map((customerId) =>
        counted
          .filter((call) => call.customerId === customerId)
          .flatMap(({ events }) => events)
          .reduce((sum, { tokens }) => sum + tokens, 0),
      )
    const untilCounted = async (expected: number[]) => {
      for (const [index, customerId] of customers.entries()) {
        const isCounted = async () => {
          const { graphql, sidecar } = await doors.usages(customerId, 'ai-tokens')
          return graphql === expected[index] && sidecar === expected[index]
        }
        await eventually(`${expected[index]} tokens`, isCounted, 30_000)
      }
    }

    // when the worker that counts them is killed after the first 60 calls
    let acknowledged = 0
    let killed: { back: () => Promise<void> } | undefined
    await byCallers(16, calls, async (call) => {
      await send(call)
      acknowledged += 1
      if (acknowledged === 60) killed = platform().kill('event-aggregation')
    })

    // then all are counted: what it had in hand is found again
    await killed!.back()
    await untilCounted(sums(calls))

    // and a repeat counts nothing: a new event after it shows that it was through
    await byCallers(16, calls.slice(50, 90), async (call) => void (await send(call)))
    const last = customers.map((customerId) => ({ door: 'graphql', customerId, events: [{ key: randomUUID(), tokens: 1_000_000 }] }))
    for (const call of last) await send(call)
    await untilCounted(sums([...calls, ...last]))
  })
})
