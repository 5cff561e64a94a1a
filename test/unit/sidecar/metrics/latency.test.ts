import { expect } from 'chai'
import { Histogram, Registry } from '../../../../src/platform/metrics.js'
import { LatencyHistogram } from '../../../../src/sidecar/metrics/latency.js'

describe('latency histogram', () => {
  it('tells Prometheus the same as an ordinary one', async () => {
    const times = [0, 0.00005, 0.0001, 0.0002, 0.003, 0.2, 9, 11]
    const ours = new Registry()
    const method = new LatencyHistogram('x_seconds', 'Times', ours).method('Get')
    const ordinary = new Registry()
    const buckets = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
    const histogram = new Histogram({ name: 'x_seconds', help: 'Times', labelNames: ['method'], buckets, registers: [ordinary] })
    for (const time of times) {
      method.observe(time)
      histogram.observe({ method: 'Get' }, time)
    }
    const sorted = async (registry: Registry) =>
      (await registry.metrics())
        .split('\n')
        .map((line) => line.replace(/\{(.*)\}/, (_, labels: string) => `{${labels.split(',').sort().join()}}`))
        .sort()
    expect(await sorted(ours)).to.deep.equal(await sorted(ordinary))
  })
})
