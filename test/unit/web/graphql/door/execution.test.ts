import { expect } from 'chai'
import { type ExecutionResult, GraphQLError } from 'graphql'
import { Problem } from '../../../../../src/kernel/problem.js'
import { Execution } from '../../../../../src/web/graphql/door/execution.js'
import type { Asked } from '../../../../../src/web/graphql/door/preparation.js'
import { toProblem } from '../../../../../src/web/graphql/operations/errors.js'
import { Operation } from '../../../../../src/web/graphql/operations/operation.js'

describe('an operation that takes too long', () => {
  const execution = new Execution({ timeoutMs: 10, announce: async () => {} })

  /** What it is answered when it ends so as soon as it is given up. */
  async function reasonsOf(end: (resolve: (result: ExecutionResult) => void, reject: (error: unknown) => void) => void): Promise<string[]> {
    const operation = new Operation()
    const asked = { request: { onHangUp: () => {} }, operation, kind: 'mutation' } as unknown as Asked
    const result = new Promise<ExecutionResult>((resolve, reject) => {
      operation.signal.addEventListener('abort', () => end(resolve, reject))
    })
    const { errors } = await execution.within(asked, result)
    return errors!.map((error) => toProblem(error).reason)
  }
  const failed = (thrown: Error) => new GraphQLError(thrown.message, { originalError: thrown, path: ['provisionCustomer'] })

  it('is told so, whatever the libraries make of being cut off', async () => {
    const cutOff = new Error('Invalid `prisma.feature.findMany()` invocation: The operation was not done within 10 ms.')
    expect(await reasonsOf((resolve) => resolve({ data: null, errors: [failed(cutOff)] }))).to.deep.equal(['TIMEOUT'])
    expect(await reasonsOf((_, reject) => reject(cutOff))).to.deep.equal(['TIMEOUT'])
    expect(await reasonsOf(() => {})).to.deep.equal(['TIMEOUT'])
  })

  it('says more itself where it knows more', async () => {
    const unknown = new Problem('UNKNOWN', 'USAGE_OUTCOME_UNKNOWN', 'It is not known whether the usage was counted.')
    expect(await reasonsOf((resolve) => resolve({ data: null, errors: [failed(unknown)] }))).to.deep.equal(['USAGE_OUTCOME_UNKNOWN'])
  })
})
