import { Problem } from '../../kernel/problem.js'
import type { EntitlementSource } from './source.js'

/** The reason of the problem that makes every check fall back in offline mode. */
export const offlineReason = 'OFFLINE'

/** Offline mode: nothing is known, nothing is sent, no connection is ever opened. Checks are left to the fallbacks. */
export const offlineSource: EntitlementSource = {
  peek: () => undefined,
  resolve: async () => {
    throw new Problem('UNAVAILABLE', offlineReason, 'Offline mode: nobody is asked')
  },
  reload: async () => null,
  outdate: () => {},
  reportUsage: async () => null,
  reportUsageBulk: async () => null,
  reportEvents: async () => {},
}
