import { loadSync, type MessageTypeDefinition } from '@grpc/proto-loader'
import { expect } from 'chai'
import { Problem, type ProblemCode } from '../../../../src/kernel/problem.js'
import { toServiceError } from '../../../../src/sidecar/grpc/errors.js'

const definitions = loadSync(['google/rpc/status.proto', 'google/rpc/error_details.proto'], { includeDirs: ['proto'], keepCase: true })
const read = <Message extends object>(type: string, bytes: Buffer) =>
  (definitions[type] as MessageTypeDefinition<object, Message>).deserialize(bytes)

interface Status {
  code: number
  message: string
  details: { type_url: string; value: Buffer }[]
}
interface Detail {
  reason?: string
  field_violations?: object[]
}

function detailsOf(thrown: unknown) {
  const { metadata } = toServiceError(thrown)
  const { details, ...status } = read<Status>('google.rpc.Status', metadata.get('grpc-status-details-bin')[0] as Buffer)
  const decoded = details.map(({ type_url: url, value }) => {
    expect(url).to.match(/^type\.googleapis\.com\/google\.rpc\.(ErrorInfo|BadRequest)$/)
    return read<Detail>(url.replace('type.googleapis.com/', ''), value)
  })
  return { status, details: decoded }
}

/** As gRPC numbers them. */
const numbers: Readonly<Record<ProblemCode, number>> = {
  CANCELLED: 1,
  UNKNOWN: 2,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  ABORTED: 10,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  UNAUTHENTICATED: 16,
}

describe('a problem as gRPC carries it', () => {
  for (const [code, number] of Object.entries(numbers) as [ProblemCode, number][])
    it(`has for ${code} the status ${number}`, () => {
      const problem = new Problem(code, 'REASON', 'What to do.')
      const error = toServiceError(problem)
      expect(error).to.include({ code: number, details: 'What to do.', message: 'What to do.' })
      expect(detailsOf(problem).status).to.deep.include({ code: number, message: 'What to do.' })
    })

  it('has its reason and its facts that are text, and no other', () => {
    const problem = new Problem('NOT_FOUND', 'FEATURE_NOT_FOUND', 'No.', { details: { featureId: 'f', index: 3, of: { a: 'b' } } })
    expect(detailsOf(problem).details).to.deep.equal([{ reason: 'FEATURE_NOT_FOUND', domain: 'tollgate', metadata: { featureId: 'f' } }])
  })

  it('has nothing of what was thrown when that is not ours', () => {
    const { status, details } = detailsOf(new TypeError('password is hunter2'))
    expect(status.code).to.equal(13)
    expect(details[0]!.reason).to.equal('INTERNAL')
    expect(JSON.stringify({ status, details })).to.not.contain('hunter2')
  })

  it('names the first twenty items that were refused, by their place in the list that is named', () => {
    const items = Array.from({ length: 25 }, (_, index) => ({ index: index * 2, code: 'BAD', message: 'x'.repeat(300) }))
    const violationsOf = (details: Record<string, unknown>) =>
      detailsOf(new Problem('INVALID_ARGUMENT', 'BAD', 'Some are bad.', { details })).details.slice(1)
    const violations = violationsOf({ items })[0]!.field_violations
    expect(violations).to.have.length(20)
    expect(violations![1]).to.deep.include({ field: 'events[2]', reason: 'BAD', description: 'x'.repeat(200) })
    expect(violationsOf({ items, list: 'usages' })[0]!.field_violations![0]).to.deep.include({ field: 'usages[0]' })
    expect(violationsOf({ items: [] })).to.deep.equal([])
  })
})
