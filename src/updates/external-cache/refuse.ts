import { unavailable } from '../../kernel/problem.js'

/** Rejects in the place of a Redis that did not answer, or not so. */
export const refuse = (cause: unknown): never => {
  throw unavailable('The external cache does not answer', cause)
}
