import type { EpochMs } from '../../kernel/clock.js'
import type { ChangeMessage } from '../wire/change-message.js'
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
  message: ChangeMessage,
  { cache, fetchState, signal }: { cache: ExternalCacheWriter; fetchState: FetchState; signal: AbortSignal },
): Promise<boolean> {
  const { kind, customerId, resourceId = null, version, state, usage } = message
  const id = { customerId, resourceId }
  switch (kind) {
    case 'entitlements':
      return cache.writeState(state ?? (await fetchState(id, version, signal)))
    case 'usage':
      return usage ? cache.writeUsage(id, usage) : cache.writeState(await fetchState(id, version, signal))
    case 'purge':
      return cache.purge(id, version)
    case 'package':
      // The cache holds nothing of the catalog. Whose entitlements it changed is told by messages of their own.
      return false
  }
}
