import { expect } from 'chai'
import * as decimal from '../../../../src/kernel/decimal.js'
import { Problem } from '../../../../src/kernel/problem.js'
import type { UsageReport } from '../../../../src/metering/model/report.js'
import { DirectQueue } from '../../../../src/sidecar/source/direct-queue.js'

describe('direct queue', () => {
  const taken: UsageReport[] = []
  const queue = new DirectQueue('environment', {
    report: async (_environmentId, reports) => {
      taken.push(...reports)
      return reports.map(({ customerId, resourceId, featureId, value }, index) => {
        const usage = { customerId, resourceId, featureId, currentUsage: value, periodStart: 0, periodEnd: null, timestamp: 1_000 }
        return { id: `m-${index}`, ...usage }
      })
    },
    reportEvents: async () => {},
  })
  const report = (value: number) => ({
    customerId: 'c',
    resourceId: null,
    featureId: 'f',
    idempotencyKey: `key of ${value}`,
    value,
    updateBehavior: null,
    dimensions: null,
    createdAt: null,
  })
  const { signal } = new AbortController()

  beforeEach(() => taken.splice(0))

  it('hands each report over under its key, and answers as the API does', async () => {
    const answers = await queue.reportUsageBulk([report(1), report(2.5)], signal)
    expect(taken.map(({ value, behavior }) => [value, behavior])).to.deep.equal([
      [decimal.fromNumber(1), 'DELTA'],
      [decimal.fromNumber(2.5), 'DELTA'],
    ])
    expect(taken.map(({ idempotencyKey }) => idempotencyKey)).to.deep.equal(['key of 1', 'key of 2.5'])
    expect(answers[1]).to.deep.equal({
      id: 'm-1',
      customerId: 'c',
      resourceId: null,
      featureId: 'f',
      currentUsage: 2.5,
      timestamp: '1970-01-01T00:00:01.000Z',
      usagePeriodStart: '1970-01-01T00:00:00.000Z',
      usagePeriodEnd: null,
    })
  })

  it('sends none when one has a value that cannot be kept, and names each of those', async () => {
    const problem = await queue.reportUsageBulk([report(1e15), report(1), report(1e-12)], signal).catch((error: unknown) => error)
    expect(problem).to.be.instanceOf(Problem)
    expect((problem as Problem).details.items).to.have.lengthOf(2)
    expect((problem as Problem).details.items).to.have.nested.property('[1].index', 2)
    expect(taken).to.deep.equal([])
  })
})
