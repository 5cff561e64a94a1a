import { expect } from 'chai'
import { createEnvironment, event, eventually, type MeteringBench, openMeteringBench, report } from '../metering/fixture.js'

const day = 86_400_000
const start = Date.parse('2044-01-31T09:00:00Z')

describe('usage where a test clock rules', () => {
  let bench: MeteringBench
  let environmentId: string

  before(async () => {
    bench = await openMeteringBench()
    bench.startIngestion()
    bench.startAggregation()
    environmentId = await createEnvironment(bench)
    await bench.prisma.environment.update({ where: { id: environmentId }, data: { isTest: true } })
    await bench.app.testClocks.create(environmentId, start)
    await bench.app.customers.provision(environmentId, { refId: 'acme', subscription: { planRefId: 'free' } })
  })
  after(async () => expect(await bench.close()).to.deep.equal([]))

  const usage = async (featureId: string) => {
    const { entitlements } = await bench.app.entitlements.state(environmentId, 'acme', null)
    const { currentUsage, periodStart } = entitlements.find(({ feature }) => feature.refId === featureId)!.usage!
    return [currentUsage, new Date(periodStart!).toISOString().slice(0, 10)]
  }

  it('is dated by it, starts again with the period, and goes on from there', async () => {
    const [reported] = await bench.usage.report(environmentId, [report('acme', 3)])
    expect(reported).to.deep.include({ currentUsage: '3' })
    expect(reported!.periodEnd! - start).to.be.within(28 * day, 30 * day)
    await bench.usage.reportEvents(environmentId, [event('acme', 'a'), event('acme', 'b')])
    await eventually(
      () => usage('requests'),
      ([count]) => count === '2',
    )
    expect([await usage('calls'), await usage('requests')]).to.deep.equal([
      ['3', '2044-01-31'],
      ['2', '2044-01-31'],
    ])
    await bench.app.testClocks.advance(environmentId, start + 40 * day)
    expect([await usage('calls'), await usage('requests')]).to.deep.equal([
      ['0', '2044-02-29'],
      ['0', '2044-02-29'],
    ])
    expect((await bench.usage.report(environmentId, [report('acme', 1)]))[0]).to.deep.include({ currentUsage: '1' })
    await bench.usage.reportEvents(environmentId, [event('acme', 'c')])
    const counted = await eventually(
      () => usage('requests'),
      ([count]) => count === '1',
    )
    expect(counted).to.deep.equal(['1', '2044-02-29'])
  })
})
