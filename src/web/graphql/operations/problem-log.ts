import type { Problem } from '../../../kernel/problem.js'
import type { Logger } from '../../../platform/logger.js'
import { codeOf } from './errors.js'

/**
 * Says in one line of the log what became of `what` ("edge request"), as severely as it is: what the caller can mend is information, what passes by itself
 * a warning, what nobody waits for is for who looks closely, and all else an error with its private cause.
 */
export function logProblem(log: Logger, what: string, problem: Problem, facts: object): void {
  const line = { ...facts, code: codeOf(problem) }
  if (problem.code === 'INTERNAL') log.error({ ...line, err: problem.cause }, `${what} failed`)
  else if (problem.code === 'CANCELLED') log.debug(line, `${what} was given up: nobody waits for it`)
  // Callers make as many of these lines as they like.
  else if (problem.reason === 'RATE_LIMIT_EXCEEDED') log.info({ ...line, reason: problem.reason }, `${what} refused`)
  else if (problem.isRetryable) log.warn({ ...line, err: problem }, `${what} could not be done now`)
  else log.info({ ...line, reason: problem.reason }, `${what} refused`)
}
