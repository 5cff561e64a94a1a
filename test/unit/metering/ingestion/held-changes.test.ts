import { expect } from 'chai'
import * as decimal from '../../../../src/kernel/decimal.js'
import { toHeldChanges } from '../../../../src/metering/ingestion/ingestion.js'
import type { ReportedUsage } from '../../../../src/metering/model/report.js'

const reported = (timestamp: number, more: Partial<ReportedUsage> = {}): ReportedUsage => ({
  id: `m-${timestamp}`,
  customerId: 'c',
  resourceId: null,
  featureId: 'f',
  currentUsage: decimal.fromNumber(timestamp),
  periodStart: null,
  periodEnd: null,
  timestamp,
  ...more,
})

describe('what readers are told of a batch', () => {
  it('is the latest of each usage, in whatever order they were counted', () => {
    const usages = Array.from({ length: 1_000 }, (_, n) => reported(n + 1))
    for (const order of [usages, usages.toReversed()])
      expect(toHeldChanges(order)).to.deep.equal([
        {
          customerId: 'c',
          version: 1_000,
          usage: {
            resourceId: null,
            featureId: 'f',
            usage: { currentUsage: '1000', periodStart: null, periodEnd: null, updatedAt: 1_000 },
          },
        },
      ])
  })

  it('keeps customers, resources and features apart', () => {
    const apart = [reported(1), reported(2, { customerId: 'd' }), reported(3, { resourceId: 'r' }), reported(4, { featureId: 'g' })]
    expect(toHeldChanges(apart).map(({ version }) => version)).to.deep.equal([1, 2, 3, 4])
  })

  it('says that more than usage has changed beside the usage', () => {
    const changes = toHeldChanges([
      reported(1),
      reported(2, { isAccessChanged: true }),
      reported(3),
      reported(4, { isAccessChanged: true }),
    ])
    expect(changes.map(({ version, usage }) => [version, usage?.featureId])).to.deep.equal([
      [3, 'f'],
      [4, undefined],
    ])
  })
})
