import type { EntitlementState } from '../../entitlement/rules/state.js'
import type { DatabaseEpoch } from '../../platform/epoch/database-epoch.js'
import { sendAll } from '../../platform/redis/cluster.js'
import { loosePrefix } from '../../platform/redis/slots.js'
import type { Redis } from '../../platform/redis.js'

// Writes unless another writer came between the read and this write. KEYS: entry. ARGV: revision that was read, body, ttl in seconds.
const storeScript = `
if (redis.call('HGET', KEYS[1], 'revision') or '0') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'revision', ARGV[1] + 1, 'body', ARGV[2])
redis.call('EXPIRE', KEYS[1], ARGV[3])
return 1`

const ttlSeconds = 7 * 86_400

/** Whose state it is. */
export type StateOwner = Pick<EntitlementState, 'environmentId' | 'customerId' | 'resourceId'>

/**
 * Entitlement states in Redis, by environment, customer and resource, and by epoch of the database: versions of another history say nothing. A cache: losing
 * it costs a rebuild from PostgreSQL.
 */
export class StateCache {
  readonly #redis: Redis
  readonly #prefix: string
  readonly #epoch: Pick<DatabaseEpoch, 'current'>

  constructor(redis: Redis, prefix: string, epoch: Pick<DatabaseEpoch, 'current'>) {
    redis.defineCommand('storeState', { numberOfKeys: 1, lua: storeScript })
    this.#redis = redis
    this.#prefix = loosePrefix(prefix)
    this.#epoch = epoch
  }

  /** `updateAll` of one. */
  async update(of: StateOwner, change: (stored: EntitlementState | null) => EntitlementState | null): Promise<EntitlementState | null> {
    const [changed] = await this.updateAll([of], change)
    return changed!
  }

  /**
   * Replaces each stored state by what `change` makes of it (null: none is stored), and again when another writer came between. Answers what is
   * stored now, in the order of the owners, of whom none is named twice; `change` may answer null to leave it alone.
   */
  async updateAll<Owner extends StateOwner>(
    owners: readonly Owner[],
    change: (stored: EntitlementState | null, owner: Owner) => EntitlementState | null,
  ): Promise<(EntitlementState | null)[]> {
    const answers: (EntitlementState | null)[] = owners.map(() => null)
    let open = owners.map((owner, index) => ({ owner, index, key: this.#key(owner) }))
    while (open.length > 0) {
      const stored = await sendAll<[string | null, string | null]>(
        this.#redis,
        open.map(({ key }) => ['hmget', key, 'revision', 'body']),
      )
      const writes = open.flatMap((one, position) => {
        const [revision, body] = stored[position]!
        const changed = change(body ? (JSON.parse(body) as EntitlementState) : null, one.owner)
        answers[one.index] = changed
        return changed === null ? [] : [{ ...one, command: ['storeState', one.key, revision ?? '0', JSON.stringify(changed), ttlSeconds] }]
      })
      const isStored = await sendAll<0 | 1>(
        this.#redis,
        writes.map(({ command }) => command),
      )
      open = writes.filter((_, position) => isStored[position] === 0)
    }
    return answers
  }

  /** Null: none is stored. It may be older than what PostgreSQL has. */
  async read(of: StateOwner): Promise<EntitlementState | null> {
    const body = await this.#redis.hget(this.#key(of), 'body')
    return body ? (JSON.parse(body) as EntitlementState) : null
  }

  /** The same for many at once, in their order. */
  async readAll(owners: readonly StateOwner[]): Promise<(EntitlementState | null)[]> {
    const bodies = await sendAll<string | null>(
      this.#redis,
      owners.map((of) => ['hget', this.#key(of), 'body']),
    )
    return bodies.map((body) => (body ? (JSON.parse(body) as EntitlementState) : null))
  }

  // v2: a state has a `basis`. The length of the customer's id keeps customer "a", resource "b:c" apart from customer "a:b", resource "c".
  #key({ environmentId, customerId, resourceId }: StateOwner): string {
    return `${this.#prefix}:state:v2:${this.#epoch.current}:${environmentId}:${customerId.length}:${customerId}${resourceId === null ? '' : `:${resourceId}`}`
  }
}
