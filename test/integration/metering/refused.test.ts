import 'reflect-metadata'
import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { Problem } from '../../../src/kernel/problem.js'
import { toWireError } from '../../../src/web/graphql/operations/errors.js'
import { fromReportUsageBulkInput, fromReportUsageInput } from '../../../src/web/graphql/usage/usage.inputs.js'
import { count, createEnvironment, event, type MeteringBench, openMeteringBench, problemOf, report } from './fixture.js'

interface Refused {
  usageValueRoundsToNothing: string[]
  usageValueOutOfRange: string[]
  usageValueOverGrpc: string[]
  usageValueAccepted: [string, string][]
  identifiers: string[]
  acceptedIdentifiers: string[]
}
const cases: Refused = JSON.parse(readFileSync('test/cases/refused.json', 'utf8'))
const written = (text: string) => text.replace(/^x repeated (\d+) times$/, (_, times) => 'x'.repeat(Number(times)))

describe('usage that must be refused', () => {
  let bench: MeteringBench
  let environmentId: string

  before(async () => {
    bench = await openMeteringBench()
    bench.startIngestion()
    environmentId = await createEnvironment(bench)
    await bench.app.customers.provision(environmentId, { refId: 'customer', subscription: { planRefId: 'free' } })
  })
  after(async () => expect(await bench.close()).to.deep.equal([]))

  /** As a GraphQL caller sees it. */
  const itemsOf = (problem: Problem) => toWireError(problem, 'trace').extensions.items as { index: number; code: string }[]
  const bulk = async (values: number[]) => {
    const usages = values.map((value) => ({ customerId: 'customer', featureId: 'calls', value }))
    return bench.usage.report(environmentId, fromReportUsageBulkInput({ usages }))
  }

  it('by its value: named by its place, with a code, and none of the call is counted', async () => {
    const bad = [...cases.usageValueOutOfRange, ...cases.usageValueRoundsToNothing, ...cases.usageValueOverGrpc].map(Number)
    for (const value of bad) {
      const problem = await problemOf(bulk([1, value, 2]))
      expect(problem.code, String(value)).to.equal('INVALID_ARGUMENT')
      expect(itemsOf(problem)).to.have.length(1)
      expect(itemsOf(problem)[0]).to.include({ index: 1, code: 'BadUserInput' })
    }
    expect(await count(bench.pool, 'usage_measurement', environmentId)).to.equal(0)
  })

  it('by an identifier, whichever it is', async () => {
    for (const identifier of cases.identifiers.map(written)) {
      for (const field of ['customerId', 'featureId', 'resourceId', 'idempotencyKey'] as const) {
        const problem = await problemOf(
          bench.usage.report(environmentId, [report('customer', 1), { ...report('customer', 1), [field]: identifier }]),
        )
        expect(itemsOf(problem)[0], `${field} ${JSON.stringify(identifier)}`).to.include({ index: 1, code: 'BadUserInput' })
      }
      for (const field of ['customerId', 'eventName', 'idempotencyKey'] as const) {
        const problem = await problemOf(bench.usage.reportEvents(environmentId, [{ ...event('customer', 'a'), [field]: identifier }]))
        expect(itemsOf(problem)[0], `${field} ${JSON.stringify(identifier)}`).to.include({ index: 0, code: 'BadUserInput' })
      }
    }
    expect(await count(bench.pool, 'raw_event', environmentId)).to.equal(0)
  })

  it('with the code of each item, and the good events of the call are stored', async () => {
    const events = [
      event('customer', 'good'),
      event('nobody', 'a'),
      event('customer', 'b', { resourceId: 'nothing' }),
      event('customer', ' '),
    ]
    const problem = await problemOf(bench.usage.reportEvents(environmentId, events))
    expect(itemsOf(problem).map(({ index, code }) => [index, code])).to.deep.equal([
      [1, 'CustomerNotFound'],
      [2, 'CustomerResourceNotFound'],
      [3, 'BadUserInput'],
    ])
    expect(await count(bench.pool, 'raw_event', environmentId)).to.equal(1)
    const ofFeatures = await problemOf(
      bench.usage.report(environmentId, [report('customer', 1), report('customer', 1, { featureId: 'requests' }), report('customer', -1)]),
    )
    expect(itemsOf(ofFeatures).map(({ index, code }) => [index, code])).to.deep.equal([
      [1, 'CannotReportUsageForEntitlementWithMeterError'],
      [2, 'UsageMeasurementDiffOutOfRangeError'],
    ])
  })

  it('and no other: accepted values are kept as they should be, and odd identifiers are theirs', async () => {
    for (const [sent, kept] of cases.usageValueAccepted)
      expect(fromReportUsageInput({ customerId: 'a', featureId: 'b', value: Number(sent) }).value).to.equal(kept)
    for (const identifier of cases.acceptedIdentifiers.map(written)) {
      await bench.app.customers.provision(environmentId, { refId: identifier, subscription: { planRefId: 'free' } })
      const [usage] = await bench.usage.report(environmentId, [report(identifier, 1)])
      expect(usage).to.include({ customerId: identifier, currentUsage: '1' })
      await bench.usage.reportEvents(environmentId, [event(identifier, identifier)])
    }
  })
})
