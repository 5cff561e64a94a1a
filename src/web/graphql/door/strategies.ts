import type { ExecutionResult } from 'graphql'
import type { AnswerBody } from '../../access/answer-body.js'
import { answerTooLarge, shortTextOf } from '../operations/answer-text.js'
import { toGraphqlError } from '../operations/errors.js'
import type { Operation } from '../operations/operation.js'
import { answerAsSpecified } from './as-specified.js'
import type { ErrorLog } from './error-log.js'
import type { Execution } from './execution.js'
import type { KeptAnswers } from './kept-answers.js'
import { hold, type LongAnswerLimits, writeLong } from './long-answers.js'
import type { Asked, Preparation } from './preparation.js'
import { type GraphqlAnswer, type GraphqlRequest, jsonHeaders } from './request.js'

/** A request that may be answered. */
interface Exchange {
  request: GraphqlRequest
  operation: Operation
  /** Null: the request is not plain (`isPlain`), so it is not even known whether it asks for anything. */
  asked: Asked | null
}

/** Null: it is not for this request. */
export type Strategy = (exchange: Exchange) => GraphqlAnswer | Promise<GraphqlAnswer> | null

interface StrategyParts {
  preparation: Preparation
  execution: Execution
  errors: ErrorLog
  kept: KeptAnswers
  limits: LongAnswerLimits
}

/** `written`: settles when the answer is; null: that is not waited for. */
type Execute = (asked: Asked, written: Promise<void> | null) => ExecutionResult | Promise<ExecutionResult>

/** The ways to an answer. The first one that is for a request answers it. */
export function createStrategies({ preparation, execution, errors, kept, limits }: StrategyParts): readonly Strategy[] {
  /** Of a document that is one report of usage, when what is reported is just as the schema says: without graphql-js. */
  const report: Strategy = ({ asked }) => (asked?.report ? answered(asked, reported) : null)

  /** Of any query or mutation, when it is sent and wanted as JSON: by graphql-js, without the way of graphql-http there, which is a fifth of an answer. */
  const general: Strategy = ({ asked }) => (asked?.kind === 'query' || asked?.kind === 'mutation' ? answered(asked, executed) : null)

  /** Of everything else, well-formed or not: what graphql-http makes of it, and for what is to be executed the two ways above. */
  const asSpecified: Strategy = ({ request, operation, asked: known }) =>
    answerAsSpecified(request, operation, {
      prepare: async (params) => known ?? preparation.prepare(request, params, operation),
      execute: (asked) => written(asked, asked.report ? reported : executed),
      errors,
    })

  const reported: Execute = (asked) => execution.within(asked, asked.report!(asked.args.contextValue))
  const executed: Execute = (asked, written) => execution.execute(asked, written)

  async function answered(asked: Asked, execute: Execute): Promise<GraphqlAnswer> {
    return plainAnswer(await written(asked, execute))
  }

  async function written(asked: Asked, execute: Execute): Promise<AnswerBody> {
    const { operation, state, request, kind, args } = asked
    let end: (() => void) | undefined
    const hasPlace = asked.isLarge && execute === executed
    const ended = hasPlace ? new Promise<void>((resolve) => (end = resolve)) : null
    try {
      const result = await resultOf(() => execute(asked, ended))
      // Of an answer without room there are errors in places that would only hide why.
      if (operation.room.isExceeded) throw answerTooLarge(kind === 'mutation')
      const value = errors.ofResult(result, operation)
      const text = shortTextOf(value, operation.room, { isOfFew: asked.isOfFew && !result.errors })
      if (text === null) {
        const { identity } = args.contextValue
        return hold(await writeLong(value, { ...asked, identity, address: request.address, hasPlace }, limits), operation, limits)
      }
      // The state that is held now may be a newer one than was read: then it does not know this answer.
      if (state && !result.errors) kept.keep(state, request.bodyText, text)
      return text
    } catch (error) {
      const refused = operation.room.isExceeded ? answerTooLarge(kind === 'mutation') : error
      return JSON.stringify(errors.ofResult({ errors: [toGraphqlError(refused)] }, operation))
    } finally {
      end?.()
    }
  }

  return [report, general, asSpecified]
}

export const plainAnswer = (body: AnswerBody): GraphqlAnswer => ({ status: 200, headers: jsonHeaders, body })

async function resultOf(execute: () => ExecutionResult | Promise<ExecutionResult>): Promise<ExecutionResult> {
  try {
    return await execute()
  } catch (error) {
    return { errors: [toGraphqlError(error)] }
  }
}
