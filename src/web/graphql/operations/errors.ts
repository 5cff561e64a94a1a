import { GraphQLError } from 'graphql'
import { Problem, type ProblemCode } from '../../../kernel/problem.js'
import { itemLists } from '../schema/item-lists.js'

/** The one place where the GraphQL door translates errors. Codes are PascalCase and stable: programs read them. */

/** For problems whose reason has no code of its own. */
const codeOfProblem: Readonly<Record<ProblemCode, string>> = {
  INVALID_ARGUMENT: 'BadUserInput',
  UNAUTHENTICATED: 'Unauthenticated',
  PERMISSION_DENIED: 'IdentityForbidden',
  NOT_FOUND: 'BadUserInput',
  ALREADY_EXISTS: 'DuplicatedEntityNotAllowed',
  FAILED_PRECONDITION: 'BadUserInput',
  RESOURCE_EXHAUSTED: 'RateLimitExceeded',
  ABORTED: 'ServiceUnavailable',
  // Nobody hears it: the caller hung up.
  CANCELLED: 'ServiceUnavailable',
  DEADLINE_EXCEEDED: 'Timeout',
  UNAVAILABLE: 'ServiceUnavailable',
  UNIMPLEMENTED: 'BadUserInput',
  UNKNOWN: 'Timeout',
  INTERNAL: 'InternalServerError',
}

const codeOfReason: Readonly<Record<string, string>> = {
  ADDON_NOT_FOUND: 'AddonNotFound',
  AUTH_CUSTOMER_MISMATCH: 'AuthCustomerMismatch',
  BAD_USER_INPUT: 'BadUserInput',
  CANNOT_REPORT_USAGE_FOR_ENTITLEMENT_WITH_METER: 'CannotReportUsageForEntitlementWithMeterError',
  CATALOG_VERSION_MISMATCH: 'CatalogVersionMismatch',
  COUPON_NOT_FOUND: 'CouponNotFound',
  CUSTOMER_NOT_FOUND: 'CustomerNotFound',
  CUSTOMER_RESOURCE_NOT_FOUND: 'CustomerResourceNotFound',
  DUPLICATED_ENTITY_NOT_ALLOWED: 'DuplicatedEntityNotAllowed',
  ENTITLEMENT_USAGE_OUT_OF_RANGE: 'EntitlementUsageOutOfRangeError',
  ENTITY_IS_ARCHIVED: 'EntityIsArchivedError',
  FEATURE_NOT_FOUND: 'FeatureNotFound',
  INCOMPATIBLE_SUBSCRIPTION_ADDON: 'IncompatibleSubscriptionAddon',
  INVALID_CANCELLATION_DATE: 'InvalidCancellationDate',
  INVALID_SUBSCRIPTION_STATUS: 'InvalidSubscriptionStatus',
  METERING_NOT_AVAILABLE_FOR_FEATURE_TYPE: 'MeteringNotAvailableForFeatureType',
  PLAN_NOT_FOUND: 'PlanNotFound',
  PRODUCT_NOT_FOUND: 'ProductNotFoundError',
  PROMOTIONAL_ENTITLEMENT_NOT_FOUND: 'PromotionalEntitlementNotFoundError',
  SUBSCRIPTION_ALREADY_ON_LATEST_PLAN: 'SubscriptionAlreadyOnLatestPlanError',
  SUBSCRIPTION_ALREADY_CANCELED_OR_EXPIRED: 'SubscriptionAlreadyCanceledOrExpired',
  SUBSCRIPTION_NOT_FOUND: 'SubscriptionNotFound',
  TIMEOUT: 'Timeout',
  USAGE_OUTCOME_UNKNOWN: 'Timeout',
  TRIAL_MUST_BE_CANCELLED_IMMEDIATELY: 'TrialMustBeCancelledImmediately',
  USAGE_MEASUREMENT_DIFF_OUT_OF_RANGE: 'UsageMeasurementDiffOutOfRangeError',
}

/** Every code that an answer may carry (the docs list the same; a test compares them). */
export const graphqlCodes: readonly string[] = [...new Set([...Object.values(codeOfProblem), ...Object.values(codeOfReason)])].sort()

export const codeOf = (problem: Problem): string => codeOfReason[problem.reason] ?? codeOfProblem[problem.code]

/** Of a problem of which only the reason was kept. */
export const codeOfStoredReason = (reason: string): string =>
  codeOfReason[reason] ?? (reason === 'INTERNAL' ? codeOfProblem.INTERNAL : codeOfProblem.INVALID_ARGUMENT)

/** The problem behind an error of graphql-js: one of ours, refused input, or INTERNAL with its text hidden. */
export function toProblem(error: Readonly<GraphQLError | Error>): Problem {
  let thrown: Error = error
  while (thrown instanceof GraphQLError && thrown.originalError) thrown = thrown.originalError
  if (!(thrown instanceof GraphQLError)) {
    // Scalars refuse variables with errors of any class; only what a resolver threw has a path.
    const isRefusedVariable = error instanceof GraphQLError && error.path === undefined && !(thrown instanceof Problem)
    return isRefusedVariable ? refused(error) : Problem.from(thrown)
  }
  // A value of ours that a type could not represent: has a place in the answer and none in the document.
  const isOurFault = error instanceof GraphQLError && error.path !== undefined && thrown.nodes === undefined
  return isOurFault ? Problem.from(new Error(thrown.message, { cause: thrown })) : refused(error)
}

/** Where a variable is refused for one of the items of a call, as graphql-js says it. */
const refusedItemPath = new RegExp(`at "\\w+\\.(?:${itemLists.join('|')})\\[(\\d+)\\]`)

/** An item of a call is named by its place, like those that are found wrong later. */
function refused({ message }: Error): Problem {
  const index = refusedItemPath.exec(message)?.[1]
  const details = index === undefined ? {} : { items: [{ index: Number(index), code: 'BAD_USER_INPUT', message }] }
  return new Problem('INVALID_ARGUMENT', 'BAD_USER_INPUT', message, { details })
}

/** Whatever was thrown, as an error of graphql-js. */
export function toGraphqlError(error: unknown): GraphQLError {
  const problem = Problem.from(error)
  return new GraphQLError(problem.message, { originalError: problem })
}

/** An answer has no more errors. As many as a document has operations by aliases: whoever sends many is told of each. */
export const maxErrors = 100
const maxMessageLength = 500

/** Long messages quote what was sent. */
const cut = (message: string): string =>
  message.length <= maxMessageLength ? message : `${message.slice(0, maxMessageLength).toWellFormed()}…`

/** As it goes over the wire. `details` of the problem (`items`, `problems`, ids) become extensions. */
export function toWireError(problem: Problem, traceId: string, at?: Readonly<GraphQLError | Error>): GraphQLError {
  const { nodes, source, positions, path } = at instanceof GraphQLError ? at : {}
  const extensions = { ...toWireDetails(problem.details), code: codeOf(problem), traceId }
  return new GraphQLError(cut(problem.message), { nodes, source, positions, path, extensions })
}

function toWireDetails(details: Problem['details']): Record<string, unknown> {
  if (!Array.isArray(details.items)) return details
  return {
    ...details,
    items: details.items.map((item: { code: string; message: string }) => ({
      ...item,
      code: codeOfReason[item.code] ?? 'BadUserInput',
      message: cut(item.message),
    })),
  }
}
