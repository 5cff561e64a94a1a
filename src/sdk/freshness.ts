import { invalidInput } from '../kernel/problem.js'
import type { Freshness } from './types.js'

/** @throws INVALID_ARGUMENT: how fresh an answer has to be is nothing to guess */
export function checkFreshness({ consistency, maxStalenessMs }: Freshness): void {
  if (consistency !== undefined && consistency !== 'strong' && consistency !== 'cached')
    throw invalidInput('consistency must be strong or cached', { path: 'consistency' })
  if (maxStalenessMs !== undefined && !(typeof maxStalenessMs === 'number' && maxStalenessMs >= 0))
    throw invalidInput('maxStalenessMs must be a number of milliseconds, 0 or more', { path: 'maxStalenessMs' })
}
