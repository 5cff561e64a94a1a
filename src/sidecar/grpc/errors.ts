import { Metadata, type ServiceError, status } from '@grpc/grpc-js'
import { Problem, type ProblemCode } from '../../kernel/problem.js'
import { errorCodec } from './proto.js'

/** The one place where the sidecar translates errors: from the API's GraphQL codes, and to gRPC statuses. */

const grpcStatus: Readonly<Record<ProblemCode, status>> = {
  INVALID_ARGUMENT: status.INVALID_ARGUMENT,
  UNAUTHENTICATED: status.UNAUTHENTICATED,
  PERMISSION_DENIED: status.PERMISSION_DENIED,
  NOT_FOUND: status.NOT_FOUND,
  ALREADY_EXISTS: status.ALREADY_EXISTS,
  FAILED_PRECONDITION: status.FAILED_PRECONDITION,
  RESOURCE_EXHAUSTED: status.RESOURCE_EXHAUSTED,
  ABORTED: status.ABORTED,
  DEADLINE_EXCEEDED: status.DEADLINE_EXCEEDED,
  UNAVAILABLE: status.UNAVAILABLE,
  UNIMPLEMENTED: status.UNIMPLEMENTED,
  INTERNAL: status.INTERNAL,
}

const codeOfApi: Readonly<Record<string, ProblemCode>> = {
  Unauthenticated: 'UNAUTHENTICATED',
  IdentityForbidden: 'PERMISSION_DENIED',
  AuthCustomerMismatch: 'PERMISSION_DENIED',
  BadUserInput: 'INVALID_ARGUMENT',
  UsageMeasurementDiffOutOfRangeError: 'INVALID_ARGUMENT',
  EntitlementUsageOutOfRangeError: 'INVALID_ARGUMENT',
  CustomerNotFound: 'NOT_FOUND',
  CustomerResourceNotFound: 'NOT_FOUND',
  FeatureNotFound: 'NOT_FOUND',
  DuplicatedEntityNotAllowed: 'ALREADY_EXISTS',
  EntityIsArchivedError: 'FAILED_PRECONDITION',
  CannotReportUsageForEntitlementWithMeterError: 'FAILED_PRECONDITION',
  MeteringNotAvailableForFeatureType: 'FAILED_PRECONDITION',
  RateLimitExceeded: 'RESOURCE_EXHAUSTED',
  ServiceUnavailable: 'UNAVAILABLE',
  Timeout: 'DEADLINE_EXCEEDED',
}

/** An item of a batch that was refused while the others were accepted. */
export interface RefusedItem {
  /** Position in the call. */
  index: number
  /** Upper snake case. */
  code: string
  message: string
}

/** One entry of `errors` in an answer of the API. */
export interface ApiError {
  message?: string
  extensions?: { code?: string; traceId?: string; items?: RefusedItem[] } | null
}

/** What the API refused, as a problem. A code that this version does not know is INTERNAL. */
export function fromApiError({ message, extensions }: ApiError): Problem {
  const apiCode = extensions?.code ?? 'InternalServerError'
  const details = {
    ...(extensions?.traceId === undefined ? {} : { traceId: extensions.traceId }),
    ...(extensions?.items === undefined ? {} : { items: extensions.items.map((item) => ({ ...item, code: upperSnake(item.code) })) }),
  }
  return new Problem(codeOfApi[apiCode] ?? 'INTERNAL', upperSnake(apiCode), message ?? 'The API answered an error without a message', {
    details,
  })
}

/** `CustomerNotFound` and `EntityIsArchivedError` as `CUSTOMER_NOT_FOUND` and `ENTITY_IS_ARCHIVED`. */
const upperSnake = (name: string) =>
  name
    .replace(/(?<=.)Error$/, '')
    .replace(/(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, '_')
    .toUpperCase()

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
