import type { ExecutionResult, GraphQLError } from 'graphql'
import type { Problem } from '../../../kernel/problem.js'
import type { Logger } from '../../../platform/logger.js'
import { codeOf, maxErrors, toProblem, toWireError } from '../operations/errors.js'
import type { Operation } from '../operations/operation.js'
import { logProblem } from '../operations/problem-log.js'

/** Logs what went wrong with operations, here and nowhere else, as it goes over the wire. */
export class ErrorLog {
  readonly #log: Logger

  constructor(log: Logger) {
    this.#log = log
  }

  toWire(problem: Problem, operation: Operation, at?: Readonly<GraphQLError | Error>): GraphQLError {
    operation.code ??= codeOf(problem)
    const { environmentId, field, traceId } = operation
    logProblem(this.#log, 'graphql operation', problem, { traceId, environmentId, field })
    return toWireError(problem, traceId, at)
  }

  /** The result with its errors as they go over the wire. */
  ofResult(result: ExecutionResult, operation: Operation): ExecutionResult {
    if (!result.errors) return result
    return { ...result, errors: result.errors.slice(0, maxErrors).map((error) => this.toWire(toProblem(error), operation, error)) }
  }
}
