import { Problem, unavailable } from '../../kernel/problem.js'
import type { ReloadMessage } from '../wire/queue-message.js'
import type { FetchState } from './apply.js'
import type { EntityId } from './keys.js'
import { mend } from './mend.js'
import { questionFailed } from './state-api.js'
import type { ExternalCacheWriter } from './writer.js'

/** As many as the API is asked at the same time. */
const atOnce = 4

/**
 * Begins an epoch: reads everything that the cache holds anew, and replaces each entry once what is true now is known; what it does not hold is a miss, for
 * which readers ask the API. Usage without an entry is read anew, too: it would count once the entry comes. Answers whether anything was written. Harmless twice. An entry that the API fails on holds up no other: what is thrown for it
 * is thrown at the end.
 */
export async function reload(
  { epoch }: Pick<ReloadMessage, 'epoch'>,
  { cache, fetchState, signal, settleMs }: { cache: ExternalCacheWriter; fetchState: FetchState; signal: AbortSignal; settleMs?: number },
): Promise<boolean> {
  if (!(await cache.beginEpoch(epoch))) return false
  let isNews = false
  let failure: unknown
  const readAnew = async (id: EntityId) => {
    try {
      const state = await fetchState(id, epoch, signal)
      // What is of the very instant of the epoch may be undone as well; when it is not, the state knows it.
      if (await cache.writeState(state, { epoch, replacesBefore: epoch + 1 })) isNews = true
      // What is later than the epoch is news, or of a history that was ahead of this one.
      if ((await cache.held(id)).version > epoch) await mend(id, { cache, fetchState, signal }, settleMs)
    } catch (error) {
      const { code, reason } = Problem.from(error)
      if (reason === questionFailed) failure = error
      // A name that the platform does not take is no customer's.
      else if (code !== 'INVALID_ARGUMENT') throw error
    }
  }
  for await (const entities of cache.entities({ alsoWithoutEntry: true }))
    for (let start = 0; start < entities.length; start += atOnce) {
      if (signal.aborted) throw unavailable('The process stops')
      await Promise.all(entities.slice(start, start + atOnce).map(readAnew))
    }
  if (failure !== undefined) throw failure
  return isNews
}
