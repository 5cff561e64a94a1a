import { GraphQLError } from 'graphql'
import { createHandler, type OperationArgs } from 'graphql-http'
import { invalidInput, type Problem } from '../../../kernel/problem.js'
import type { AnswerBody } from '../../access/answer-body.js'
import type { RequestContext } from '../operations/context.js'
import { toGraphqlError, toProblem } from '../operations/errors.js'
import type { Operation } from '../operations/operation.js'
import type { ErrorLog } from './error-log.js'
import type { Asked } from './preparation.js'
import type { GraphqlAnswer, GraphqlRequest, OperationParams } from './request.js'

/** graphql-http asks for a record; ours is an interface. */
type Context = RequestContext & Record<PropertyKey, unknown>

/** Has graphql-http judge the request: methods, types of content, status codes. What it lets through is prepared and executed as other requests are. */
export async function answerAsSpecified(
  request: GraphqlRequest,
  operation: Operation,
  door: {
    prepare(params: OperationParams): Promise<Asked | readonly GraphQLError[]>
    execute(asked: Asked): Promise<AnswerBody>
    errors: ErrorLog
  },
): Promise<GraphqlAnswer> {
  let asked: Asked
  let answer: AnswerBody | undefined
  const handle = createHandler<GraphqlRequest, undefined, Context>({
    onSubscribe: async (_, params) => {
      try {
        const prepared = await door.prepare(params)
        if (!('args' in prepared)) return prepared
        asked = prepared
        return asked.args as OperationArgs<Context>
      } catch (error) {
        return [toGraphqlError(error)]
      }
    },
    execute: async () => {
      answer = await door.execute(asked)
      // What is in it does not change its status.
      return { data: {} }
    },
    formatError: (error) => door.errors.toWire(requestProblem(error), operation, error),
  })
  const { method, url, headers } = request
  const body = request.body as Record<string, unknown> | null
  const [text, { status, headers: answerHeaders = {} }] = await handle({ method, url, headers, body, raw: request, context: undefined })
  return { status, headers: answerHeaders, body: answer ?? text }
}

/** An error of graphql-http itself is about the request: unparsable JSON, no query. */
function requestProblem(error: Readonly<GraphQLError | Error>): Problem {
  return error instanceof GraphQLError ? toProblem(error) : invalidInput(error.message)
}
