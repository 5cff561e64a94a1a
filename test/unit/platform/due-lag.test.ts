import { expect } from 'chai'
import { measureLag } from '../../../src/platform/due-sweep.js'
import { createMetrics } from '../../../src/platform/metrics.js'

describe('the lag of what is due', () => {
  it('is told by kind, and stays as it was while it cannot be looked at', async () => {
    const metrics = createMetrics('worker')
    const lags: Record<string, () => Promise<number>> = { subscription: async () => 12.5, promotion: async () => 0 }
    measureLag(metrics, { subscription: () => lags.subscription!(), promotion: () => lags.promotion!() })
    const told = async () =>
      (await metrics.getSingleMetric('tollgate_transition_lag_seconds')!.get()).values.map(({ labels, value }) => [labels.kind, value])
    expect(await told()).to.deep.equal([
      ['subscription', 12.5],
      ['promotion', 0],
    ])
    lags.subscription = () => Promise.reject(new Error('away'))
    lags.promotion = async () => 3
    expect(await told()).to.deep.equal([
      ['subscription', 12.5],
      ['promotion', 3],
    ])
  })
})
