/**
 * Secrets that were replaced: each is valid until its own overlap is over, whatever becomes current meanwhile. Who did not learn whether a rotation was made makes it
 * again, and that must not end the secret that is in use.
 */
import type { EpochMs } from '../../kernel/clock.js'
import { tooManySecrets } from './problems.js'

/** Each of them is tried, and signed with. */
const maxFormer = 10

export interface FormerSecret {
  secret: Uint8Array
  expiresAt: EpochMs
}

/** The current secret, and former ones, oldest first. */
export interface Secrets {
  current: Uint8Array
  former: readonly FormerSecret[]
}

/** As it is stored. */
interface FormerColumns {
  secrets: readonly Uint8Array[]
  expireAt: readonly Date[]
}

export const fromColumns = ({ secrets, expireAt }: FormerColumns): FormerSecret[] =>
  secrets.map((secret, n) => ({ secret, expiresAt: expireAt[n]!.getTime() }))

export const validSecrets = ({ current, former }: Secrets, now: EpochMs): Uint8Array[] => [
  current,
  ...former.filter(({ expiresAt }) => expiresAt > now).map(({ secret }) => secret),
]

/**
 * The former secrets once there is another current one. An overlap of 0 leaves none: a secret has leaked, and it may be any of them.
 * @throws Problem when too many would be valid: which of them is in use is not known, so none is ended before its time
 */
export function formerOnceReplaced({ current, former }: Secrets, { now, overlapMs }: { now: EpochMs; overlapMs: number }): FormerSecret[] {
  if (overlapMs === 0) return []
  const valid = former.filter(({ expiresAt }) => expiresAt > now)
  if (valid.length >= maxFormer) throw tooManySecrets(maxFormer)
  return [...valid, { secret: current, expiresAt: now + overlapMs }]
}
