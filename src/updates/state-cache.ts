import type { EntitlementState } from '../entitlement/state.js'
import type { Redis } from '../platform/redis.js'

// Writes unless another writer came between the read and this write. KEYS: entry. ARGV: revision that was read, body, ttl in seconds.
const storeScript = `
if (redis.call('HGET', KEYS[1], 'revision') or '0') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'revision', ARGV[1] + 1, 'body', ARGV[2])
redis.call('EXPIRE', KEYS[1], ARGV[3])
return 1`

const ttlSeconds = 7 * 86_400

interface ScriptedRedis extends Redis {
  storeState(key: string, revision: string, body: string, ttlSeconds: number): Promise<0 | 1>
}

/** Entitlement states in Redis, by environment, customer and resource. A cache: losing it costs a rebuild from PostgreSQL. */
export class StateCache {
  readonly #redis: ScriptedRedis
  readonly #prefix: string

  constructor(redis: Redis, prefix: string) {
    redis.defineCommand('storeState', { numberOfKeys: 1, lua: storeScript })
    this.#redis = redis as ScriptedRedis
    this.#prefix = prefix
  }

  /**
   * Replaces the stored state by what `change` makes of it (null: none is stored), and again when another writer came between. Answers what is
   * stored now; `change` may answer null to leave it alone.
   */
  async update(
    of: Pick<EntitlementState, 'environmentId' | 'customerId' | 'resourceId'>,
    change: (stored: EntitlementState | null) => EntitlementState | null,
  ): Promise<EntitlementState | null> {
    const key = this.#key(of)
    for (;;) {
      const [revision, body] = await this.#redis.hmget(key, 'revision', 'body')
      const changed = change(body ? (JSON.parse(body) as EntitlementState) : null)
      if (changed === null) return null
      if ((await this.#redis.storeState(key, revision ?? '0', JSON.stringify(changed), ttlSeconds)) === 1) return changed
    }
  }

  /** Null: none is stored. It may be older than what PostgreSQL has. */
  async read(of: Pick<EntitlementState, 'environmentId' | 'customerId' | 'resourceId'>): Promise<EntitlementState | null> {
    const body = await this.#redis.hget(this.#key(of), 'body')
    return body ? (JSON.parse(body) as EntitlementState) : null
  }

  // The length of the customer's id keeps customer "a", resource "b:c" apart from customer "a:b", resource "c".
  #key({ environmentId, customerId, resourceId }: Pick<EntitlementState, 'environmentId' | 'customerId' | 'resourceId'>): string {
    return `${this.#prefix}:state:${environmentId}:${customerId.length}:${customerId}${resourceId === null ? '' : `:${resourceId}`}`
  }
}
