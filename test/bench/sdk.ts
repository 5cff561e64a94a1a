import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '../../src/sdk/server/index.js'
import { changesPerSecond, featureId, measureChanges, startChanges } from './changes.js'
import type { Comparison } from './figures/compare.js'
import type { Benchmark, BenchmarkContext } from './harness/benchmark.js'
import { compareChecks } from './sdk-checks.js'

/** What a change may take until the client answers with it. */
const targetMs = 150

/** Checks first, while nothing else runs; then, for as long, how soon changes are seen. */
export const sdk: Benchmark = {
  name: 'sdk',
  about: `warm checks of the server SDK in process; reference: bare maps. And commit to visible, at ${changesPerSecond} changes per second; reference: ${targetMs} ms`,
  async run({ seconds, life, note }) {
    const half = { seconds: seconds / 2, life, note }
    return [...(await compareChecks(half)), ...(await changesSeen(half))]
  },
}

async function changesSeen({ seconds, life, note }: Pick<BenchmarkContext, 'seconds' | 'life' | 'note'>): Promise<Comparison[]> {
  const { stack, web } = await startChanges(life)
  const client = life.open('client', await createClient({ apiKey: stack.serverKey, apiUrl: web.url, timeoutMs: 5_000 }), (c) => c.close())
  while (!client.figures().isRealTime) await sleep(50)
  const usageOf = async (customerId: string) => {
    const { isFallback, entitlement } = await client.getMeteredEntitlement({ customerId, featureId })
    return isFallback ? null : (entitlement?.currentUsage ?? 0)
  }
  return measureChanges({ name: 'sdk-changes', targetMs, stack, web, usageOf, seconds, life, note })
}
