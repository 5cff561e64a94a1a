import { Metadata, type ServiceError, status } from '@grpc/grpc-js'
import { Problem, type ProblemCode } from '../../kernel/problem.js'
import type { RefusedItem } from '../../metering/model/problems.js'
import { errorCodec } from './proto.js'

/** The one place where the sidecar translates problems to gRPC statuses. */

const grpcStatus: Readonly<Record<ProblemCode, status>> = {
  INVALID_ARGUMENT: status.INVALID_ARGUMENT,
  UNAUTHENTICATED: status.UNAUTHENTICATED,
  PERMISSION_DENIED: status.PERMISSION_DENIED,
  NOT_FOUND: status.NOT_FOUND,
  ALREADY_EXISTS: status.ALREADY_EXISTS,
  FAILED_PRECONDITION: status.FAILED_PRECONDITION,
  RESOURCE_EXHAUSTED: status.RESOURCE_EXHAUSTED,
  ABORTED: status.ABORTED,
  CANCELLED: status.CANCELLED,
  DEADLINE_EXCEEDED: status.DEADLINE_EXCEEDED,
  UNAVAILABLE: status.UNAVAILABLE,
  UNIMPLEMENTED: status.UNIMPLEMENTED,
  UNKNOWN: status.UNKNOWN,
  INTERNAL: status.INTERNAL,
}

/** Trailers have to stay below what HTTP/2 peers accept (8 KB for some), so only the first refused items are spelled out. */
const mostItemsSpelledOut = 20

/** A problem as gRPC carries it: status, public message, and the standard details (google.rpc.ErrorInfo, google.rpc.BadRequest). */
export function toServiceError(thrown: unknown): ServiceError {
  const problem = Problem.from(thrown)
  const code = grpcStatus[problem.code]
  const items = (problem.details.items as RefusedItem[] | undefined)?.slice(0, mostItemsSpelledOut) ?? []
  const encode = errorCodec()
  const facts = Object.entries(problem.details).filter(([, value]) => typeof value === 'string')
  const details = [
    any('google.rpc.ErrorInfo', encode.errorInfo({ reason: problem.reason, domain: 'tollgate', metadata: Object.fromEntries(facts) })),
    ...(items.length === 0
      ? []
      : [
          any(
            'google.rpc.BadRequest',
            encode.badRequest({ field_violations: items.map((item) => toFieldViolation(item, problem.details.list)) }),
          ),
        ]),
  ]
  const metadata = new Metadata()
  metadata.set('grpc-status-details-bin', encode.status({ code, message: problem.message, details }))
  return Object.assign(new Error(problem.message), { code, details: problem.message, metadata })
}

const any = (type: string, value: Buffer) => ({ type_url: `type.googleapis.com/${type}`, value })

/** `list`: the field of the request that the items are in. */
const toFieldViolation = ({ index, code, message }: RefusedItem, list: unknown = 'events') => ({
  field: `${list}[${index}]`,
  description: message.slice(0, 200),
  reason: code,
})
