import type { IncomingHttpHeaders } from 'node:http'
import type { AnswerBody } from '../../access/answer-body.js'
import type { Identity } from '../../access/auth.js'

/** What is known of a request before its body. */
export interface RequestHead {
  url: string
  headers: IncomingHttpHeaders
  /** Of the caller. */
  address: string
}

/** Who asks. */
export interface Asker {
  identity: Identity
  isOperator: boolean
}

export interface GraphqlRequest extends RequestHead {
  method: string
  /** Absent: nobody has looked yet. */
  asker?: Asker
  /** Parsed JSON; undefined: there was no body. */
  body: unknown
  /** The body as it came; empty: there was none. */
  bodyText: string
  /** The body has further operations. */
  isOfList?: boolean
  /** Calls the listener when the client hangs up before it is answered. */
  onHangUp(listener: () => void): void
}

export interface GraphqlAnswer {
  status: number
  headers: Readonly<Record<string, string>>
  /** Null: there is none. */
  body: AnswerBody | null
  /** Whose it is; absent: nobody's that is known. */
  environmentId?: string
  /** It tells what was changed, so it is given however much its readers have not read. Absent: it may be refused. */
  isOfChange?: boolean
  /** To be called when it is written, or given up: what it has is counted until then. Absent: it is short. */
  release?: () => void
}

/** What a request asks for, as GraphQL over HTTP has it. */
export interface OperationParams {
  query: string
  operationName?: string | null
  variables?: Readonly<Record<string, unknown>> | null
}

export const jsonHeaders = { 'content-type': 'application/json; charset=utf-8' }

/** Whether a request that is posted is sent and wanted as JSON. */
export function isPlainHead({ accept, 'content-type': type }: IncomingHttpHeaders): boolean {
  if (type !== 'application/json' && type !== 'application/json; charset=utf-8') return false
  return accept === undefined || accept === '*/*' || accept === 'application/json'
}

/** Whether the request is one that GraphQL over HTTP has no more to say about: well-formed, sent and wanted as JSON. Nearly all are. */
export function isPlain(request: GraphqlRequest): request is GraphqlRequest & { body: OperationParams } {
  const { method, headers, body } = request
  if (method !== 'POST' || !isPlainHead(headers)) return false
  if (typeof body !== 'object' || body === null) return false
  const { query, operationName, variables, extensions } = body as Record<string, unknown>
  const isRecord = (value: unknown) => value === undefined || value === null || (typeof value === 'object' && !Array.isArray(value))
  const isName = operationName === undefined || operationName === null || typeof operationName === 'string'
  return typeof query === 'string' && isName && isRecord(variables) && isRecord(extensions)
}
