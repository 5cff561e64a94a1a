import { expect } from 'chai'
import { Backlog } from '../../../../src/metering/intake/backlog.js'
import { silentLogger } from '../../../../src/platform/logger.js'
import { createMetrics } from '../../../../src/platform/metrics.js'

describe('events that wait to be counted', () => {
  const open = (waiting: number) => {
    const batches: Record<string, number> = { loud: waiting, quiet: 1 }
    return new Backlog({
      redis: null,
      queues: [],
      events: { queue: { waiting: async () => waiting }, batchesOf: async (environmentId) => batches[environmentId]! },
      limits: { maxWaitingJobs: 10, maxRedisBytes: null },
      log: silentLogger(),
      metrics: createMetrics('backlog'),
    })
  }
  /** The first look at an environment is begun by its first call. */
  const isRefused = async (backlog: Backlog, environmentId: string, kind: 'reports' | 'events') => {
    await backlog.refresh()
    backlog.isTooLong(environmentId, kind)
    await new Promise((resolve) => setImmediate(resolve))
    return backlog.isTooLong(environmentId, kind)
  }

  for (const { what, waiting, bytes, isMany } of [
    { what: 'few', waiting: 10, bytes: 1_000, isMany: false },
    { what: 'more than may be', waiting: 11, bytes: 1_000, isMany: true },
    { what: 'few large ones', waiting: 5, bytes: 2 ** 31, isMany: true },
  ])
    it(`are refused to ${isMany ? 'who has sent them' : 'nobody'}: ${what}`, async () => {
      const backlog = open(waiting)
      backlog.noteJob(bytes)
      expect(await isRefused(backlog, 'loud', 'events')).to.equal(isMany)
      expect(await isRefused(backlog, 'loud', 'reports')).to.equal(false)
      expect(await isRefused(backlog, 'quiet', 'events')).to.equal(false)
    })
})
