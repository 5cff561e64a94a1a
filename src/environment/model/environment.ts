/**
 * environment      the tenant: the scope of an API key; every row, job, cache key and metric belongs to one
 * server key       may do everything in its environment
 * client key       may read what belongs to the customer whose signed token it carries
 * customer token   a customer's id signed with the environment's signing secret by the host application
 */
import type { EpochMs } from '../../kernel/clock.js'

/** What time it is in an environment (our id): the database's time, unless the environment's test clock is ahead of it. */
export interface EnvironmentTime {
  now(environmentId: string): Promise<EpochMs>
}

/** The clock of a test environment: time stands still at it until it is moved on. Once the real time has passed it, the real time counts. */
export interface TestClock {
  /** The time in the environment. */
  now: EpochMs
}

export interface Environment {
  id: string
  refId: string
  displayName: string
  /** Only a test environment may have a clock of its own. */
  isTest: boolean
  /** Changes also go to a queue, for its persistent cache. */
  hasPersistentCache: boolean
  /** That queue, where it is one of SQS; null: the environment's own. */
  persistentCacheQueueUrl: string | null
  /** Client keys may read without a customer token. */
  allowsUnsignedClientReads: boolean
  createdAt: EpochMs
}

export const keyKinds = ['SERVER', 'CLIENT'] as const
export type KeyKind = (typeof keyKinds)[number]

/** Where the changes of an environment go besides, for its persistent cache. */
export interface PersistentCacheTarget {
  /** A queue of SQS; null: the environment's own, in the Redis of the platform. */
  queueUrl: string | null
}

/** A key without what makes it one. */
export interface ApiKey {
  id: string
  environmentId: string
  kind: KeyKind
  name: string
  /** The last four characters. */
  hint: string
  createdAt: EpochMs
  /** Not valid from this instant on; null: no end. */
  expiresAt: EpochMs | null
  revokedAt: EpochMs | null
}

/** Whom a key speaks for. */
export interface KeyIdentity {
  environmentId: string
  environmentRefId: string
  hasPersistentCache: boolean
  allowsUnsignedClientReads: boolean
  kind: KeyKind
  keyId: string
  keyName: string
}

export function isValidKey({ expiresAt, revokedAt }: Pick<ApiKey, 'expiresAt' | 'revokedAt'>, now: EpochMs): boolean {
  return revokedAt === null && (expiresAt === null || expiresAt > now)
}
