import { runImport } from '../customer/jobs.js'
import type { Clock } from '../kernel/clock.js'
import { fillUsage } from '../metering/wire/jobs.js'
import type { Life } from '../platform/process.js'
import { openQueue, type QueueConnection } from '../platform/queue.js'
import type { AfterCommit } from '../subscription/records/frame.js'
import { applyDueTransitions } from '../subscription/time/jobs.js'
import { deliverChanges } from '../updates/deliver/jobs.js'
import { createNudges } from '../updates/deliver/nudges.js'

/** What workers are woken for after a commit. Never throws: the sweeps of the workers find what nobody was woken for. */
export interface WakeUps extends AfterCommit {
  unfilled(environmentId: string, of: { customerId: string; resourceId: string | null }): void
  importDue(environmentId: string, importId: string): void
  /** How many of those wait for a worker. Fails with UNAVAILABLE while Redis is away. */
  importsWaiting(): Promise<number>
}

/** A little more than the longest month. */
const farOffMs = 32 * 86_400_000

/** Wake-ups over the queues. */
export function openWakeUps(life: Life, queues: QueueConnection, clock: Clock): WakeUps {
  const deliveries = openQueue(life, queues, deliverChanges)
  const transitions = openQueue(life, queues, applyDueTransitions)
  const imports = openQueue(life, queues, runImport)
  const fillings = openQueue(life, queues, fillUsage)
  const isLost = (error: unknown) => life.log.warn({ err: error }, 'wake-up lost, the sweep will find the work')
  return {
    changed: createNudges(life, (environmentId) => {
      deliveries.add({ v: 1, environmentId }).catch(isLost)
    }),
    dueAt: (environmentId, customerId, at) => {
      // What is due in a distant month is left to the sweep, and so is the future of a test clock: Redis need not hold it all that time.
      const delay = Math.max(0, at - clock.now())
      if (delay > farOffMs) return
      transitions.add({ v: 1, environmentId, customerId }, { delay }).catch(isLost)
    },
    unfilled: (environmentId, { customerId, resourceId }) => {
      // Readers may ask many times before it is done.
      const onceAtATime = `${customerId}-${resourceId ?? 'own'}`
      fillings.add({ v: 1, environmentId, customerId, resourceId }, { onceAtATime }).catch(isLost)
    },
    importDue: (environmentId, importId) => {
      imports.add({ v: 1, environmentId, importId }).catch(isLost)
    },
    importsWaiting: () => imports.waiting(),
  }
}
