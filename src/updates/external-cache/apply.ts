import type { EpochMs } from '../../kernel/clock.js'
import type { QueuedChange } from '../wire/queue-message.js'
import type { EntityId } from './keys.js'
import type { WritableState } from './value.js'
import type { ExternalCacheWriter } from './writer.js'

/** Reads a state that a message does not carry; it is at least as new as `version`. */
export type FetchState = (id: EntityId, version: EpochMs, signal: AbortSignal) => Promise<WritableState>

/**
 * Applies a change to the external cache; answers whether it was news. Harmless twice and out of order (see ExternalCacheWriter). Fails when Redis,
 * or the API where it is needed, is away: the message is to be tried again.
 */
export async function applyChange(
  message: QueuedChange,
  { cache, fetchState, signal }: { cache: ExternalCacheWriter; fetchState: FetchState; signal: AbortSignal },
): Promise<boolean> {
  const { kind, customerId, resourceId = null, version, state, usage, epoch } = message
  const id = { customerId, resourceId }
  switch (kind) {
    case 'entitlements':
      return cache.writeState(state ?? (await fetchState(id, version, signal)), { epoch })
    case 'usage':
      return usage ? cache.writeUsage(id, usage, { epoch }) : cache.writeState(await fetchState(id, version, signal), { epoch })
    case 'purge':
      return cache.purge(id, version, { epoch })
    case 'package':
      // The cache holds nothing of the catalog. Whose entitlements it changed is told by messages of their own.
      return false
  }
}
