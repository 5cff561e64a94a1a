import { loadTracing } from '../src/platform/cloud/traces.js'
import { clusterProblems, databaseVariables, port, positive, processVariables, redisVariables } from '../src/platform/config.js'
import { Gauge } from '../src/platform/metrics.js'
import { runProcess } from '../src/platform/process.js'
import { every } from '../src/platform/timer.js'
import { createApp } from '../src/wiring/app.js'
import { openStores } from '../src/wiring/stores.js'

const billingSyncConfig = {
  ...processVariables,
  ...databaseVariables,
  ...redisVariables,
  PORT: port({ default: 4106, desc: 'Port of health and metrics' }),
  SWEEP_INTERVAL_MS: positive({ default: 1_000, desc: 'How often calls of the billing provider that wait are looked for' }),
}

/**
 * Makes the calls of the billing provider that changes of subscriptions have written down, ends what nobody has paid in time, and charges
 * usage that came after an end. What one environment keeps waiting holds up no other. Several copies may
 * run: each call is made under a lease, and with a key that makes a second one harmless.
 */
await runProcess({ name: 'billing-sync', spec: billingSyncConfig, check: clusterProblems, loadTracing }, async (config, life) => {
  const { postgres, clock, queues } = await openStores(life, config)
  const { billing } = createApp({ life, postgres, queues, clock })
  const calls = new Gauge({
    name: 'tollgate_billing_calls',
    help: 'Calls of the billing provider that wait, and that were given up',
    labelNames: ['state'],
    registers: [life.metrics],
  })

  every(life, 'sweep of payment deadlines', config.SWEEP_INTERVAL_MS, () => billing.sweepDeadlines())
  every(life, 'sweep of late usage', config.SWEEP_INTERVAL_MS, () => billing.sweepLateUsage())
  every(life, 'billing calls', config.SWEEP_INTERVAL_MS, () =>
    billing.deliverEverywhere({ lookEveryMs: config.SWEEP_INTERVAL_MS, signal: life.signal }),
  )
  every(life, 'count of billing calls', config.SWEEP_INTERVAL_MS, async () => {
    const { waiting, givenUp } = await billing.counts()
    calls.set({ state: 'waiting' }, waiting)
    calls.set({ state: 'given up' }, givenUp)
  })
  await life.serveHealth({ port: config.PORT, host: config.BIND_ADDRESS })
})
