import { Problem, type ProblemCode } from '../../kernel/problem.js'
import type { RefusedItem, UsageOutcome } from '../../metering/model/problems.js'

/** The one place where the sidecar translates the errors of the API, from its GraphQL codes. */

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

/** Whether it is about the key: whoever has it may not ask at all. */
export const isKeyRefused = ({ code }: Problem): boolean => code === 'UNAUTHENTICATED' || code === 'PERMISSION_DENIED'

/** One entry of `errors` in an answer of the API. */
export interface ApiError {
  message?: string
  extensions?: { code?: string; traceId?: string; items?: RefusedItem[]; outcome?: UsageOutcome } | null
}

/** What the API refused, as a problem. A code that this version does not know is INTERNAL. */
export function fromApiError({ message, extensions }: ApiError): Problem {
  const apiCode = extensions?.code ?? 'InternalServerError'
  const details = {
    ...(extensions?.traceId === undefined ? {} : { traceId: extensions.traceId }),
    ...(extensions?.outcome === undefined ? {} : { outcome: extensions.outcome }),
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
