import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import { Problem } from '../../src/kernel/problem.js'
import type { Comparison } from './figures/compare.js'
import { quantile, significant } from './figures/statistics.js'
import type { BenchmarkContext } from './harness/benchmark.js'
import { addCustomers, type Stack, startStack } from './stack/stack.js'
import type { StackProcess } from './stack/stack-process.js'

export const changesPerSecond = 200
const customers = 400
/** How exactly it is seen. */
const lookEveryMs = 3
const warmUpSeconds = 3

export const featureId = 'calls'
const catalog = {
  features: [{ refId: featureId, displayName: 'Calls', type: 'NUMBER', meter: 'Incremental', units: 'call', unitsPlural: 'calls' }],
  products: [{ refId: 'cloud', displayName: 'Cloud' }],
  plans: [
    {
      refId: 'free',
      product: 'cloud',
      displayName: 'Free',
      pricingType: 'FREE',
      entitlements: [{ feature: featureId, limit: 1_000_000, resetPeriod: 'MONTH' }],
    },
  ],
}

/** The processes of the platform through which a change goes, with customers that are to change. */
export async function startChanges(life: BenchmarkContext['life']): Promise<{ stack: Stack; web: StackProcess }> {
  const stack = await startStack(life, catalog)
  await addCustomers(stack, customers, 'free')
  const web = await stack.start('web')
  await stack.start('usage-ingestion')
  await stack.start('cache-invalidation')
  return { stack, web }
}

interface ChangesPlan extends Pick<BenchmarkContext, 'seconds' | 'life' | 'note'> {
  /** Of the measures. */
  name: string
  /** What a change may take until it is seen. */
  targetMs: number
  stack: Stack
  web: StackProcess
  /** As whoever is measured tells it; null: it could not. */
  usageOf: (customerId: string) => Promise<number | null>
}

/** From the acknowledgement of a change by the API until whoever is measured answers with it. */
export async function measureChanges({ name, targetMs, stack, web, usageOf, seconds, life, note }: ChangesPlan): Promise<Comparison[]> {
  const pool = life.open('pool', new Pool(web.url, { connections: 32 }), (p) => p.destroy())
  /** Null: not counted in time, so nothing changed. */
  const report = async (customerId: string): Promise<number | null> => {
    const query = 'mutation ($input: ReportUsageInput!) { reportUsage(input: $input) { currentUsage } }'
    const { body } = await pool.request({
      method: 'POST',
      path: '/graphql',
      headers: { 'content-type': 'application/json', 'x-api-key': stack.serverKey },
      body: JSON.stringify({ query, variables: { input: { customerId, featureId, value: 1 } } }),
    })
    const { data, errors } = (await body.json()) as {
      data?: { reportUsage: { currentUsage: number } }
      errors?: { message: string; extensions: { code: string } }[]
    }
    if (errors?.[0]?.extensions.code === 'Timeout') return null
    if (!data) throw new Problem('ABORTED', 'WRONG_ANSWERS', `A report was not acknowledged: ${errors?.[0]?.message}`)
    return data.reportUsage.currentUsage
  }
  const names = Array.from({ length: customers }, (_, n) => `customer-${n}`)
  for (const customerId of names) await usageOf(customerId)

  const delays: number[] = []
  const answers: number[] = []
  let lateReports = 0
  const change = async (customerId: string, isCounted: boolean) => {
    const sentAt = performance.now()
    const usage = await report(customerId)
    const committedAt = performance.now()
    if (usage === null) {
      lateReports++
      return
    }
    while (((await usageOf(customerId)) ?? 0) < usage) {
      if (performance.now() - committedAt > 10_000)
        throw new Problem('ABORTED', 'WRONG_ANSWERS', `${customerId} is not seen to have used ${usage}`)
      await sleep(lookEveryMs)
    }
    if (!isCounted) return
    delays.push(performance.now() - committedAt)
    answers.push(committedAt - sentAt)
  }
  const running: Promise<void>[] = []
  const beganAt = performance.now()
  const total = Math.round((seconds + warmUpSeconds) * changesPerSecond)
  for (let n = 0; n < total; n++) {
    const wait = beganAt + (n * 1_000) / changesPerSecond - performance.now()
    if (wait > 0) await sleep(wait)
    const changed = change(names[n % customers]!, n >= warmUpSeconds * changesPerSecond)
    changed.catch(() => undefined)
    running.push(changed)
  }
  await Promise.all(running)
  const rate = (total / (performance.now() - beganAt)) * 1_000
  if (lateReports > 0) note(`${lateReports} reports were not counted in time: this machine is too slow, or busy`)
  note(
    `${Math.round(rate)} changes per second; reports were answered in ${quantile(answers, 0.5).toFixed(1)} ms (p50), ${quantile(answers, 0.99).toFixed(1)} ms (p99)`,
  )
  const measure = (of: string, q: number): Comparison => {
    const subject = significant(quantile(delays, q))
    return { name: `${name}-${of}`, subject, reference: targetMs, ratio: significant(subject / targetMs), unit: 'ms', spread: 0 }
  }
  return [measure('p99', 0.99), measure('p50', 0.5)]
}
