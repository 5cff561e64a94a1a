import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { buildSchema, execute, GraphQLError, type GraphQLSchema, parse } from 'graphql'
import { invalidInput, Problem, type ProblemCode, timedOut, unavailable } from '../../../../../src/kernel/problem.js'
import { codeOf, graphqlCodes, toProblem, toWireError } from '../../../../../src/web/graphql/operations/errors.js'
import { packageRoot } from '../../../../../src/web/pages/package-files.js'

describe('errors of the GraphQL door', () => {
  const table: [ProblemCode, string, string][] = [
    ['UNAUTHENTICATED', 'UNAUTHENTICATED', 'Unauthenticated'],
    ['PERMISSION_DENIED', 'IDENTITY_FORBIDDEN', 'IdentityForbidden'],
    ['PERMISSION_DENIED', 'AUTH_CUSTOMER_MISMATCH', 'AuthCustomerMismatch'],
    ['INVALID_ARGUMENT', 'BAD_USER_INPUT', 'BadUserInput'],
    ['NOT_FOUND', 'CUSTOMER_NOT_FOUND', 'CustomerNotFound'],
    ['NOT_FOUND', 'CUSTOMER_RESOURCE_NOT_FOUND', 'CustomerResourceNotFound'],
    ['NOT_FOUND', 'PLAN_NOT_FOUND', 'PlanNotFound'],
    ['NOT_FOUND', 'ADDON_NOT_FOUND', 'AddonNotFound'],
    ['NOT_FOUND', 'SUBSCRIPTION_NOT_FOUND', 'SubscriptionNotFound'],
    ['NOT_FOUND', 'FEATURE_NOT_FOUND', 'FeatureNotFound'],
    ['NOT_FOUND', 'COUPON_NOT_FOUND', 'CouponNotFound'],
    ['ALREADY_EXISTS', 'DUPLICATED_ENTITY_NOT_ALLOWED', 'DuplicatedEntityNotAllowed'],
    ['FAILED_PRECONDITION', 'ENTITY_IS_ARCHIVED', 'EntityIsArchivedError'],
    ['FAILED_PRECONDITION', 'INCOMPATIBLE_SUBSCRIPTION_ADDON', 'IncompatibleSubscriptionAddon'],
    ['FAILED_PRECONDITION', 'INVALID_SUBSCRIPTION_STATUS', 'InvalidSubscriptionStatus'],
    ['FAILED_PRECONDITION', 'SUBSCRIPTION_ALREADY_CANCELED_OR_EXPIRED', 'SubscriptionAlreadyCanceledOrExpired'],
    ['FAILED_PRECONDITION', 'TRIAL_MUST_BE_CANCELLED_IMMEDIATELY', 'TrialMustBeCancelledImmediately'],
    ['INVALID_ARGUMENT', 'INVALID_CANCELLATION_DATE', 'InvalidCancellationDate'],
    ['FAILED_PRECONDITION', 'CANNOT_REPORT_USAGE_FOR_ENTITLEMENT_WITH_METER', 'CannotReportUsageForEntitlementWithMeterError'],
    ['FAILED_PRECONDITION', 'METERING_NOT_AVAILABLE_FOR_FEATURE_TYPE', 'MeteringNotAvailableForFeatureType'],
    ['INVALID_ARGUMENT', 'USAGE_MEASUREMENT_DIFF_OUT_OF_RANGE', 'UsageMeasurementDiffOutOfRangeError'],
    ['INVALID_ARGUMENT', 'ENTITLEMENT_USAGE_OUT_OF_RANGE', 'EntitlementUsageOutOfRangeError'],
    ['RESOURCE_EXHAUSTED', 'ANYTHING', 'RateLimitExceeded'],
    ['DEADLINE_EXCEEDED', 'TIMEOUT', 'Timeout'],
    ['UNAVAILABLE', 'UNAVAILABLE', 'ServiceUnavailable'],
    ['INTERNAL', 'INTERNAL', 'InternalServerError'],
  ]
  for (const [code, reason, expected] of table) {
    it(`gives ${code} ${reason} the code ${expected}`, () => {
      expect(codeOf(new Problem(code, reason, 'text'))).to.equal(expected)
    })
  }

  it('are cut where they quote what is long', () => {
    const long = new Problem('NOT_FOUND', 'PLAN_NOT_FOUND', `Plan "${'😀'.repeat(5_000)}" was not found.`)
    const items = [{ index: 0, code: 'BAD_USER_INPUT', message: 'x'.repeat(5_000) }]
    const { message } = toWireError(long, 't')
    expect(message).to.have.length(501)
    expect(message.isWellFormed()).to.equal(true)
    const [item] = toWireError(invalidInput('no', { items }), 't').extensions.items as { message: string }[]
    expect(item!.message).to.have.length(501)
    expect(toWireError(invalidInput('x'.repeat(500)), 't').message).to.have.length(500)
  })

  it('are all described in the docs, and no others', () => {
    const text = readFileSync(join(packageRoot, 'src/web/docs/errors.md'), 'utf8')
    const rows = text.split('\n').flatMap((line) => (line.startsWith('| `') ? [line.split('|')[1]!] : []))
    const documented = rows.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name!))
    expect(documented.sort()).to.deep.equal([...graphqlCodes])
  })

  describe('made by graphql-js', () => {
    let resolve: () => unknown
    const schema: GraphQLSchema = buildSchema('enum Kind { A B } scalar Odd type Query { text(kind: Kind, odd: Odd): String! kind: Kind }')
    const run = async (query: string, variableValues?: Record<string, unknown>) => {
      const { errors } = await execute({
        schema,
        document: parse(query),
        rootValue: { text: () => resolve(), kind: () => 'C' },
        variableValues,
      })
      return { error: errors![0]!, problem: toProblem(errors![0]!) }
    }

    it('keep a problem that a resolver threw', async () => {
      const thrown = timedOut('later')
      resolve = () => {
        throw thrown
      }
      expect((await run('{ text }')).problem).to.equal(thrown)
    })

    it('hide whatever else a resolver threw', async () => {
      resolve = () => {
        throw new TypeError('secret')
      }
      const { problem } = await run('{ text }')
      expect(problem.code).to.equal('INTERNAL')
      expect(problem.message).to.not.include('secret')
      expect((problem.cause as Error).message).to.equal('secret')
    })

    it('hide answers that break our own schema', async () => {
      resolve = () => null
      expect((await run('{ text }')).problem.code).to.equal('INTERNAL')
      expect((await run('{ kind }')).problem.code).to.equal('INTERNAL')
    })

    it('are the caller’s when an argument or variable is wrong', async () => {
      resolve = () => 'fine'
      expect((await run('query($k: Kind) { text(kind: $k) }', { k: 'C' })).problem.reason).to.equal('BAD_USER_INPUT')
      expect((await run('{ text(kind: C) }')).problem.reason).to.equal('BAD_USER_INPUT')
    })

    it('are the caller’s when a scalar refuses a variable with an error of any class', async () => {
      const odd = schema.getType('Odd') as unknown as { parseValue: () => never }
      odd.parseValue = () => {
        throw new TypeError('odd')
      }
      expect((await run('query($o: Odd) { text(odd: $o) }', { o: 1 })).problem.reason).to.equal('BAD_USER_INPUT')
    })
  })

  it('carry details, code and trace id as extensions, and their place', () => {
    const at = new GraphQLError('original', { path: ['reportUsage'] })
    const { message, path, extensions } = toWireError(invalidInput('no', { path: 'value' }), 'trace', at)
    expect({ message, path, extensions }).to.deep.equal({
      message: 'no',
      path: ['reportUsage'],
      extensions: { path: 'value', code: 'BadUserInput', traceId: 'trace' },
    })
  })

  it('never let details pass for the code', () => {
    const problem = new Problem('UNAVAILABLE', 'UNAVAILABLE', 'x', { details: { code: 'Other', traceId: 'other' } })
    expect(toWireError(problem, 'trace').extensions).to.deep.equal({ code: 'ServiceUnavailable', traceId: 'trace' })
  })

  it('translate the codes of refused items too', () => {
    const details = { items: [{ index: 2, code: 'CUSTOMER_NOT_FOUND', message: 'm' }] }
    const { extensions } = toWireError(new Problem('INVALID_ARGUMENT', 'BAD_USER_INPUT', 'x', { details }), 't')
    expect(extensions.items).to.deep.equal([{ index: 2, code: 'CustomerNotFound', message: 'm' }])
  })

  it('show no cause', () => {
    expect(JSON.stringify(toWireError(unavailable('try again', new Error('secret')), 't'))).to.not.include('secret')
  })
})
