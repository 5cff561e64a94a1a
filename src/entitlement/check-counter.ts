import { Counter, type Registry } from '../platform/metrics.js'
import type { DenialReason } from './rules/denial.js'

/** Counts the checks that SDKs answered from what they hold, and reported: how often a feature is asked for is otherwise only known to them. */
export class CheckCounter {
  readonly #checks: Counter

  constructor(metrics: Registry) {
    this.#checks = new Counter({
      name: 'tollgate_reported_checks_total',
      help: 'Entitlement checks that clients reported, by result: granted, or the reason of the denial',
      labelNames: ['environment', 'result'],
      registers: [metrics],
    })
  }

  record(environmentId: string, check: { granted: boolean; reason?: DenialReason | null }): void {
    this.#checks.inc({ environment: environmentId, result: check.granted ? 'granted' : (check.reason ?? 'Unknown') })
  }
}
