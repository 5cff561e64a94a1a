import { setTimeout as sleep } from 'node:timers/promises'
import type { EpochMs } from '../../kernel/clock.js'
import type { FetchState } from './apply.js'
import { differencesOf } from './held.js'
import type { EntityId } from './keys.js'
import type { ExternalCacheWriter } from './writer.js'

interface Parts {
  cache: ExternalCacheWriter
  fetchState: FetchState
  signal: AbortSignal
}

/** A message of what has just changed is written by then. */
const settlingMs = 1_000
/** With each try what came between reading and writing is seen. */
const mostTries = 3

/**
 * What the cache says otherwise than the platform. What is only late is none: it is looked at twice. May fail as `fetchState` does.
 */
export async function compareWithTruth(id: EntityId, { cache, fetchState, signal }: Parts, settleMs = settlingMs): Promise<string[]> {
  for (let isLate = false; ; isLate = true) {
    const held = await cache.held(id)
    if (held.entry === null) return []
    const differences = differencesOf(held, await fetchState(id, held.version, signal))
    if (differences.length === 0 || isLate) return differences
    await sleep(settleMs, undefined, { signal })
  }
}

/**
 * Writes the truth over what differs, whatever its version: what is there is not to be had from the platform, which was asked after it had been written. Nothing that
 * is written meanwhile is lost: what is newer than what differed stays, and it is looked at again. Answers whether cache and truth agree.
 */
export async function mend(id: EntityId, parts: Parts, settleMs = settlingMs): Promise<boolean> {
  const { cache, fetchState, signal } = parts
  for (let tries = 0; tries < mostTries; tries++) {
    const differences = await compareWithTruth(id, parts, settleMs)
    if (differences.length === 0) return true
    const { version } = await cache.held(id)
    // What holds nothing tells no version: it counts as later than what it replaces, but not than now, as what comes next has to be later still.
    const told: EpochMs = Math.min(version + 1, Date.now())
    await cache.writeState(await fetchState(id, told, signal), { replacesBefore: version + 1 })
  }
  return (await compareWithTruth(id, parts, settleMs)).length === 0
}
