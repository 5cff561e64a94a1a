import type { Life } from '../platform/process.js'

/** Customers per look at what is due: who comes due meanwhile waits for the rest of one. */
const batchSize = 100
/** A customer that could not be worked on is left alone that long: others come first. */
const pauseMs = 60_000

/** A domain that knows which customers have something due, and records it. */
export interface DueWork {
  dueCustomers(limit: number): Promise<{ environmentId: string; customerId: string }[]>
  applyDue(environmentId: string, customerId: string, options: { ifFree: boolean }): Promise<boolean>
}

const failedAt = new WeakMap<DueWork, Map<string, number>>()

/**
 * Works off everything that is due, several customers at a time, until there is nothing left or the process stops. A customer that fails is logged and
 * holds up nobody. Running it in several processes is harmless: each takes a customer's state row, or leaves the customer alone.
 */
export async function sweepDue(
  life: Pick<Life, 'log' | 'signal'>,
  { domain, concurrency, label }: { domain: DueWork; concurrency: number; label: string },
): Promise<number> {
  const failed = failedAt.get(domain) ?? new Map<string, number>()
  failedAt.set(domain, failed)
  for (const [key, at] of failed) if (performance.now() - at > pauseMs) failed.delete(key)
  let applied = 0
  for (;;) {
    // Over-fetched by those that are left alone, so that they never fill a batch.
    const due = await domain.dueCustomers(batchSize + 2 * failed.size)
    const waiting = due.filter(({ environmentId, customerId }) => !failed.has(`${environmentId} ${customerId}`))
    let progress = 0
    const next = waiting.values()
    const work = async () => {
      for (const { environmentId, customerId } of next) {
        if (life.signal.aborted) return
        try {
          if (await domain.applyDue(environmentId, customerId, { ifFree: true })) progress += 1
        } catch (error) {
          failed.set(`${environmentId} ${customerId}`, performance.now())
          life.log.warn({ err: error, environmentId, customerId }, `${label} of a customer could not be applied, trying again later`)
        }
      }
    }
    await Promise.all(Array.from({ length: concurrency }, work))
    applied += progress
    // Nothing moved: what is left is held by others, or was left alone.
    if (life.signal.aborted || progress === 0 || waiting.length < batchSize / 2) break
  }
  if (applied > 0) life.log.info({ customers: applied }, `sweep applied ${label}`)
  return applied
}
