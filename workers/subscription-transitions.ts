import { runImport } from '../src/customer/jobs.js'
import { loadTracing } from '../src/platform/cloud/traces.js'
import { clusterProblems, databaseVariables, port, positive, processVariables, redisVariables } from '../src/platform/config.js'
import { groupSize, measureLag, sweepDue } from '../src/platform/due-sweep.js'
import { runProcess } from '../src/platform/process.js'
import { consume } from '../src/platform/queue/consume.js'
import { every } from '../src/platform/timer.js'
import { trialVariables } from '../src/subscription/time/config.js'
import { DueWakeUps, wakeUpOwners } from '../src/subscription/time/due-wake-ups.js'
import { applyDueTransitions } from '../src/subscription/time/jobs.js'
import { createApp } from '../src/wiring/app.js'
import { openStores } from '../src/wiring/stores.js'

const subscriptionTransitionsConfig = {
  ...processVariables,
  ...databaseVariables,
  ...redisVariables,
  ...trialVariables,
  PORT: port({ default: 4103, desc: 'Port of health and metrics' }),
  CONCURRENCY: positive({ default: 4, desc: 'Groups of up to 25 customers whose transitions are applied at the same time' }),
  SWEEP_INTERVAL_MS: positive({ default: 5_000, desc: 'How often due transitions without a job are looked for' }),
}

/** Each of another environment: of one that holds up its own, another goes on. More would take the connections of transitions. */
const importsAtATime = 2

/**
 * Records what time has made due: trial ends, scheduled cancellations, end dates, ends of promotional entitlements; and works off imports. A delayed job makes it punctual, the sweep makes it certain.
 * Several copies may run: each takes the customer's state row, and what one has recorded is not due for the next.
 */
await runProcess(
  { name: 'subscription-transitions', spec: subscriptionTransitionsConfig, check: clusterProblems, loadTracing },
  async (config, life) => {
    const { postgres, clock, queues } = await openStores(life, config)
    const { dueTransitions, promotional, imports, packageMigrations, trialReminders } = createApp({
      life,
      postgres,
      queues,
      clock,
      trialEndingSoonDays: config.TRIAL_ENDING_SOON_DAYS,
    })

    measureLag(life.metrics, { subscription: () => dueTransitions.lagSeconds(), promotion: () => promotional.lagSeconds() })
    const wakeUps = new DueWakeUps(dueTransitions, { lanes: config.CONCURRENCY })
    consume(life, queues, applyDueTransitions, {
      concurrency: config.CONCURRENCY * groupSize,
      owners: wakeUpOwners,
      handler: async ({ environmentId, customerId }) => {
        await wakeUps.apply(environmentId, customerId)
        await promotional.applyDue(environmentId, customerId)
      },
    })
    consume(life, queues, runImport, {
      concurrency: importsAtATime,
      handler: ({ environmentId, importId }, { signal }) => imports.run(environmentId, importId, signal),
    })
    every(life, 'transition sweep', config.SWEEP_INTERVAL_MS, () =>
      sweepDue(life, { domain: dueTransitions, concurrency: config.CONCURRENCY, label: 'due transitions' }),
    )
    every(life, 'promotion sweep', config.SWEEP_INTERVAL_MS, () =>
      sweepDue(life, { domain: promotional, concurrency: config.CONCURRENCY, label: 'ends of promotional entitlements' }),
    )
    every(life, 'migration sweep', config.SWEEP_INTERVAL_MS, async () => {
      const migrated = await packageMigrations.run(life.signal, ({ error, ...of }) =>
        life.log.warn({ err: error, ...of }, 'subscriptions could not be moved to a new version, trying again later'),
      )
      if (migrated > 0) life.log.info({ subscriptions: migrated }, 'subscriptions moved to a new version')
    })
    every(life, 'trial reminders', config.SWEEP_INTERVAL_MS, async () => {
      while (!life.signal.aborted && (await trialReminders.tellDue()) > 0);
    })
    every(life, 'import sweep', config.SWEEP_INTERVAL_MS, () => imports.sweep())
    await life.serveHealth({ port: config.PORT, host: config.BIND_ADDRESS })
  },
)
