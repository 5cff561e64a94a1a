import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { type Answer, detailsOf, errorOf, type RunningSidecar, runSidecar } from '../../../../contract/grpc/harness.js'
import { count } from '../../../metering/fixture.js'
import { type GraphqlBody, post } from '../../front-door.js'
import { openWholePlatform, type TestEnvironment, type WholePlatform } from '../../whole-platform.js'

interface Refused {
  usageValueRoundsToNothing: string[]
  usageValueOutOfRange: string[]
  usageValueNotANumber: { values: string[] }
  usageValueOverGrpc: string[]
  usageValueAccepted: [string, string][]
  identifiers: string[]
  acceptedIdentifiers: string[]
  timestamps: { now: string; refused: string[]; accepted: string[] }
}
const cases: Refused = JSON.parse(readFileSync('test/cases/refused.json', 'utf8'))
const written = (text: string) => text.replace(/^x repeated (\d+) times$/, (_, times) => 'x'.repeat(Number(times)))

/** A report or an event as a case changes it; names are those of GraphQL. */
type Item = Record<string, unknown>
/** What a door refuses: `[place in the call, code]` of each bad item; a call of one item has no places. */
type Refusal = [index: number | null, code: string][]

/** One way to send usage. Answers what was refused; null: it was taken. */
interface Door {
  name: string
  report(item: Item): Promise<Refusal | null>
  reportBulk(items: Item[]): Promise<Refusal | null>
  reportEvents(items: Item[]): Promise<Refusal | null>
  /** A time that it cannot even carry is refused by the reader of the request. */
  carriesText: boolean
}

const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
const pascal = (reason: string) => reason.toLowerCase().replace(/(?:^|_)(.)/g, (_, letter: string) => letter.toUpperCase())

const catalog = {
  features: [
    { refId: 'seats', displayName: 'Seats', type: 'NUMBER', meter: 'Fluctuating', units: 'seat', unitsPlural: 'seats' },
    { refId: 'calls', displayName: 'Calls', type: 'NUMBER', meter: 'Incremental', units: 'call', unitsPlural: 'calls' },
    {
      refId: 'requests',
      displayName: 'Requests',
      type: 'NUMBER',
      meter: 'Incremental',
      units: 'request',
      unitsPlural: 'requests',
      events: { aggregation: 'COUNT', filters: [] },
    },
  ],
  products: [{ refId: 'cloud', displayName: 'Cloud' }],
  plans: [{ refId: 'free', product: 'cloud', displayName: 'Free', pricingType: 'FREE', entitlements: [{ feature: 'seats', limit: 5 }] }],
}

describe('usage that must be refused', function () {
  this.timeout(60_000)
  let platform: WholePlatform
  let environment: TestEnvironment
  let sidecar: RunningSidecar

  before(async () => {
    platform = await openWholePlatform()
    environment = await platform.createEnvironment('refused', catalog)
    await platform.app.customers.provision(environment.id, { refId: 'customer', subscription: { planRefId: 'free' } })
    sidecar = await runSidecar({ SERVER_API_KEY: environment.serverKey, API_URL: platform.url, WS_ENABLED: 'FALSE' })
  })
  after(async () => {
    await sidecar.stop()
    expect(await platform.close()).to.deep.equal([])
  })

  /** Numbers go over the wire as they are written: `1e400` is no number that JavaScript could send. */
  const send = async (query: string, variables: object): Promise<GraphqlBody> => {
    const body = JSON.stringify({ query, variables }).replace(/"number:([^"]+)"/g, '$1')
    return (await (await post(platform.url, body, { 'x-api-key': environment.serverKey })).json()) as GraphqlBody
  }
  const refusalOf = ({ errors }: GraphqlBody): Refusal | null => {
    if (!errors) return null
    const { items, code } = errors[0]!.extensions as { code: string; items?: { index: number; code: string }[] }
    return items ? items.map((item) => [item.index, item.code]) : [[null, code]]
  }
  const graphql: Door = {
    name: 'GraphQL',
    carriesText: true,
    report: async (item) =>
      alone(refusalOf(await send('mutation ($input: ReportUsageInput!) { reportUsage(input: $input) { id } }', { input: item }))),
    reportBulk: async (usages) =>
      refusalOf(await send('mutation ($input: ReportUsageBulkInput!) { reportUsageBulk(input: $input) { id } }', { input: { usages } })),
    reportEvents: async (usageEvents) =>
      refusalOf(await send('mutation ($events: UsageEventsReportInput!) { reportEvent(events: $events) }', { events: { usageEvents } })),
  }

  /** A call of one item may name its place or not. */
  const alone = (refusal: Refusal | null): Refusal | null => refusal?.map(([, code]) => [null, code]) ?? null
  const toMessage = ({ createdAt, timestamp = createdAt, value, updateBehavior, ...item }: Item): object => {
    const ms = timestamp === undefined ? null : Date.parse(timestamp as string)
    return {
      ...Object.fromEntries(Object.entries(item).map(([name, given]) => [snake(name), given])),
      ...(value === undefined ? {} : { value: Number(String(value).replace('number:', '')) }),
      ...(updateBehavior === 'SET' ? { update_behavior: 2 } : {}),
      ...(ms === null ? {} : { timestamp: { seconds: Math.floor(ms / 1_000), nanos: (ms % 1_000) * 1_000_000 } }),
    }
  }
  const call = async (method: string, request: object): Promise<Refusal | null> => {
    const answer = await sidecar.call(method, request).then(
      () => null,
      (error) => error,
    )
    if (answer === null) return null
    const { info, violations } = detailsOf(answer)
    if (violations.length === 0) return [[null, pascal(info.reason as string)]]
    return violations.map(({ field, reason }: Answer) => [
      Number(/\[(\d+)\]/.exec(field as string)?.[1] ?? Number.NaN),
      pascal(reason as string),
    ])
  }
  const grpc: Door = {
    name: 'gRPC',
    carriesText: false,
    report: async (item) => alone(await call('ReportUsage', toMessage(item))),
    reportBulk: (items) => call('ReportUsageBulk', { usages: items.map(toMessage) }),
    reportEvents: (items) => call('ReportEvents', { events: items.map(toMessage) }),
  }

  const report = (changes: Item = {}): Item => ({ customerId: 'customer', featureId: 'seats', value: 1, ...changes })
  let serial = 0
  const event = (changes: Item = {}): Item => ({
    customerId: 'customer',
    eventName: 'request',
    idempotencyKey: `key-${++serial}`,
    ...changes,
  })
  const number = (text: string) => (/^-?[\d.e]+$/i.test(text) ? `number:${text}` : Number(text))

  const counts = async () => ({
    measurements: await count(platform.pool, 'usage_measurement', environment.id),
    events: await count(platform.pool, 'raw_event', environment.id),
  })
  /** Changes nothing, but for the good events beside a bad one. */
  const expectCounted = async (work: () => Promise<void>, added: { measurements: number; events: number }) => {
    const before = await counts()
    await work()
    const after = await counts()
    expect({ measurements: after.measurements - before.measurements, events: after.events - before.events }).to.deep.equal(added)
  }

  const refusedValues = [...cases.usageValueOutOfRange, ...cases.usageValueRoundsToNothing]
  /** Between what is good, so that the place is told and the rest of a bulk is seen not to be counted. */
  const between = <T>(bad: T, good: () => T) => [good(), bad, good()]

  for (const door of [graphql, grpc]) {
    describe(`over ${door.name}`, () => {
      const values = door.carriesText ? refusedValues : [...refusedValues, ...cases.usageValueOverGrpc]

      it('is refused for its value, with its place and a code, and none of the call is counted', async () => {
        await expectCounted(
          async () => {
            for (const value of values.map(number)) {
              expect(await door.report(report({ value })), String(value)).to.deep.equal([[null, 'BadUserInput']])
              expect(await door.reportBulk(between(report({ value }), report)), String(value)).to.deep.equal([[1, 'BadUserInput']])
            }
          },
          { measurements: 0, events: 0 },
        )
      })

      it('is refused for an identifier, whichever it is, and the good events beside it are stored', async () => {
        // A resource that is "" is none over gRPC, where absent and empty are one.
        const bad = cases.identifiers.map(written)
        const ofReports = door.carriesText ? ['customerId', 'featureId', 'resourceId', 'idempotencyKey'] : ['customerId', 'featureId']
        const ofEvents = ['customerId', 'eventName', 'idempotencyKey']
        await expectCounted(
          async () => {
            for (const identifier of bad) {
              for (const field of ofReports) {
                const name = `${field} ${JSON.stringify(identifier)}`
                expect(await door.report(report({ [field]: identifier })), name).to.deep.equal([[null, 'BadUserInput']])
                expect(await door.reportBulk(between(report({ [field]: identifier }), report)), name).to.deep.equal([[1, 'BadUserInput']])
              }
              for (const field of ofEvents)
                expect(
                  await door.reportEvents(between(event({ [field]: identifier }), event)),
                  `${field} ${JSON.stringify(identifier)}`,
                ).to.deep.equal([[1, 'BadUserInput']])
            }
          },
          { measurements: 0, events: 2 * bad.length * ofEvents.length },
        )
      })

      it('is refused for its time', async () => {
        const now = Date.now()
        // The window goes on while we ask: a minute of room, where standing still would not be refused, or not be taken.
        const shifted = (text: string, roomMs: number) =>
          new Date(now + Date.parse(text) - Date.parse(cases.timestamps.now) + roomMs).toISOString()
        const isAhead = (text: string) => Date.parse(text) > Date.parse(cases.timestamps.now)
        const isTime = (text: string) => /^\d{4}-\d\d-\d\dT/.test(text) && !text.startsWith('2026-02-30')
        const refused = cases.timestamps.refused.filter(isTime).map((text) => shifted(text, isAhead(text) ? 60_000 : 0))
        const accepted = cases.timestamps.accepted.map((text) => shifted(text, isAhead(text) ? 0 : 60_000))
        expect(refused).to.have.length(2)
        await expectCounted(
          async () => {
            for (const at of refused) {
              expect(await door.report(report({ createdAt: at })), at).to.deep.equal([[null, 'BadUserInput']])
              expect(await door.reportBulk(between(report({ createdAt: at }), report)), at).to.deep.equal([[1, 'BadUserInput']])
              expect(await door.reportEvents(between(event({ timestamp: at }), event)), at).to.deep.equal([[1, 'BadUserInput']])
            }
            for (const at of accepted) {
              expect(await door.report(report({ createdAt: at })), at).to.equal(null)
              expect(await door.reportEvents([event({ timestamp: at })]), at).to.equal(null)
            }
          },
          { measurements: accepted.length, events: 2 * refused.length + accepted.length },
        )
      })

      it('is refused for what only the records can tell, each by its own code', async () => {
        await expectCounted(
          async () => {
            expect(
              await door.reportBulk([
                report(),
                report({ customerId: 'nobody' }),
                report({ featureId: 'nothing' }),
                report({ resourceId: 'nothing' }),
                report({ featureId: 'requests' }),
                report({ featureId: 'calls', value: -1 }),
              ]),
            ).to.deep.equal([
              [1, 'CustomerNotFound'],
              [2, 'FeatureNotFound'],
              [3, 'CustomerResourceNotFound'],
              [4, door.carriesText ? 'CannotReportUsageForEntitlementWithMeterError' : 'CannotReportUsageForEntitlementWithMeter'],
              [5, door.carriesText ? 'UsageMeasurementDiffOutOfRangeError' : 'UsageMeasurementDiffOutOfRange'],
            ])
            expect(await door.reportEvents([event(), event({ customerId: 'nobody' }), event({ resourceId: 'nothing' })])).to.deep.equal([
              [1, 'CustomerNotFound'],
              [2, 'CustomerResourceNotFound'],
            ])
          },
          { measurements: 0, events: 1 },
        )
      })

      it('is refused when a call has more than 1,000 items', async () => {
        await expectCounted(
          async () => {
            expect(await door.reportBulk(Array.from({ length: 1_001 }, () => report()))).to.deep.equal([[null, 'BadUserInput']])
            expect(await door.reportEvents(Array.from({ length: 1_001 }, () => event()))).to.deep.equal([[null, 'BadUserInput']])
          },
          { measurements: 0, events: 0 },
        )
      })

      it('is nothing else: odd values and identifiers are taken as they are', async () => {
        for (const [sent, kept] of cases.usageValueAccepted) {
          expect(await door.report(report({ value: number(sent), updateBehavior: 'SET' })), sent).to.equal(null)
          const { rows } = await platform.pool.query<{ value: string }>(
            'SELECT trim_scale(value)::text AS value FROM usage_measurement WHERE environment_id = $1::uuid ORDER BY sequence DESC LIMIT 1',
            [environment.id],
          )
          expect(rows[0]!.value, sent).to.equal(kept)
        }
        for (const identifier of cases.acceptedIdentifiers.map(written)) {
          await platform.app.customers.provision(environment.id, { refId: identifier, subscription: { planRefId: 'free' } })
          expect(await door.report(report({ customerId: identifier })), identifier).to.equal(null)
          expect(await door.reportEvents([event({ customerId: identifier, eventName: identifier })]), identifier).to.equal(null)
        }
      })
    })
  }

  it('is refused by the reader of GraphQL when it is no number, or no time, and the whole operation with it', async () => {
    const mutation = (input: string) => `mutation { reportUsage(input: { customerId: "customer", featureId: "seats", ${input} }) { id } }`
    await expectCounted(
      async () => {
        for (const value of cases.usageValueNotANumber.values)
          expect(refusalOf(await send(mutation(`value: ${value}`), {})), value).to.deep.equal([[null, 'BadUserInput']])
        for (const at of ['not a date', '2026-02-30T00:00:00.000Z']) {
          expect(cases.timestamps.refused).to.include(at)
          expect(refusalOf(await send(mutation(`value: 1, createdAt: "${at}"`), {})), at).to.deep.equal([[null, 'BadUserInput']])
        }
      },
      { measurements: 0, events: 0 },
    )
  })

  it('says so with a status of gRPC: INVALID_ARGUMENT, NOT_FOUND, FAILED_PRECONDITION', async () => {
    const status = async (changes: Item) => (await errorOf(sidecar.call('ReportUsage', toMessage(report(changes))))).code
    expect(await status({ value: 1e15 })).to.equal(3)
    expect(await status({ customerId: 'nobody' })).to.equal(5)
    expect(await status({ featureId: 'requests' })).to.equal(9)
  })
})
