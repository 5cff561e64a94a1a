/** What the thread is asked and answers, beside lists. */
import { jsonLength } from '../../kernel/weight.js'
import type { ReadCatalog } from '../document/parse.js'
import type { CatalogPlan, PlanOptions } from '../document/plan.js'

/**
 * What a document holds, as JSON or as the bytes that `node:v8` makes of it (YAML knows infinite numbers). A thread that gets an object has it written by who asks,
 * and one that answers an object has it read there, which takes either of them as long as parsing does.
 */
export type Written = { json: string } | { bytes: Uint8Array }

/** A document that was sent: what it holds when that is short. */
export type SentCatalog = ReadCatalog | Written

export interface Question {
  /** YAML or JSON. */
  text: string
  /** What applying it comes to; the lists are those of the catalog in force. */
  plan: { sent: SentCatalog; options: PlanOptions }
  /** The lists are those of the document that is to be written. */
  write: null
}

export interface Answer {
  text: SentCatalog
  /** The list is `changes`. */
  plan: Omit<CatalogPlan, 'changes'>
  /** The lists are those that say something. */
  write: { version: string }
}

/** Longer ones take more than some milliseconds: what is wrong in JSON not much less than YAML. */
const longInputLength = 4_000

/** Whether what a document holds is read where it is. */
export const isShort = (input: unknown): boolean => jsonLength(input, longInputLength) <= longInputLength
