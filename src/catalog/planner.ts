import { setImmediate as nextTurn } from 'node:timers/promises'
import { atOnceLength, jsonPieces } from '../kernel/json-pieces.js'
import { jsonLength } from '../kernel/weight.js'
import type { CatalogDocument } from './document/document.js'
import { exportCatalog, type WrittenCatalog } from './document/export.js'
import { readCatalogText } from './document/parse.js'
import { type CatalogPlan, type PlannedChange, type PlanOptions, planCatalog } from './document/plan.js'
import { textFault } from './document/text-limits.js'
import { Lane } from './thread/lane.js'
import { isShort, type SentCatalog } from './thread/messages.js'

/** Longer ones take more than some milliseconds: YAML takes some microseconds for each character. */
const longTextLength = 2_000
/** Of the catalog in force, where nothing is wrong: as much of it is compared in some milliseconds, and a thread takes longer to start. */
const longCatalogLength = 120_000

/**
 * Reads documents of catalogs, finds what they change, and writes the catalog in force as a document; what is long on threads of its own, so that nobody else
 * waits for it.
 */
export class CatalogPlanner {
  readonly #texts = new Lane({ maxWaiting: 20, maxMs: 60_000 })
  // What is planned is planned in a transaction, which has a connection of the database and must come to its end.
  readonly #plans = new Lane({ maxWaiting: 4, maxMs: 10_000 })
  readonly #writing = new Lane({ maxWaiting: 20, maxMs: 60_000 })

  /** `input` is what JSON holds, or YAML or JSON text. */
  async take(input: unknown): Promise<SentCatalog> {
    if (typeof input !== 'string') return isShort(input) ? { input } : { json: await jsonOf(input) }
    const isShortText = input.length <= longTextLength || textFault(input) !== null
    return isShortText ? readCatalogText(input) : (await this.#texts.ask('text', input)).head
  }

  /** `current`: the catalog in force. */
  async plan(sent: SentCatalog, current: CatalogDocument, options: PlanOptions): Promise<CatalogPlan> {
    const isLong = 'json' in sent || 'bytes' in sent
    const isPlain = 'problems' in sent && options.expectedVersion === null
    if (isPlain || (!isLong && isShortCatalog(current))) return planCatalog(sent, current, options)
    const { head, lists } = await this.#plans.ask('plan', { sent, options }, { ...current })
    return { ...head, changes: (lists.changes ?? []) as PlannedChange[] }
  }

  /** See exportCatalog. */
  async write(document: CatalogDocument): Promise<WrittenCatalog> {
    if (isShortCatalog(document)) return exportCatalog(document)
    const { head, lists } = await this.#writing.ask('write', null, { ...document })
    return { ...head, ...lists }
  }
}

const isShortCatalog = (catalog: CatalogDocument): boolean => jsonLength(catalog, longCatalogLength) <= longCatalogLength

/** Written in steps, between which others are served. */
async function jsonOf(input: unknown): Promise<string> {
  let json = ''
  let lengthOfSteps = 0
  for (const piece of jsonPieces(input)) {
    json += piece
    if (json.length - lengthOfSteps < atOnceLength) continue
    lengthOfSteps = json.length
    await nextTurn()
  }
  return json
}
