import type { IncomingMessage, ServerResponse } from 'node:http'
import { expect } from 'chai'
import { Problem, type ProblemCode } from '../../../../src/kernel/problem.js'
import type { Logger } from '../../../../src/platform/logger.js'
import { TrustedProxies } from '../../../../src/web/access/address.js'
import { type EdgeOptions, openEdge } from '../../../../src/web/edge/edge.js'

/** What an edge answers and logs when whoever it asks about the key fails so. */
async function refusedWith(thrown: unknown) {
  const lines: { level: string; text: string; err?: unknown; environmentId?: string }[] = []
  const note = (level: string) => (facts: object, text: string) => void lines.push({ level, text, ...facts })
  const log = { info: note('info'), warn: note('warn'), error: note('error') } as unknown as Logger
  const environments = {
    authenticate: () => {
      throw thrown
    },
  }
  const edge = openEdge({ app: { environments }, trusted: new TrustedProxies([]), log } as unknown as EdgeOptions)
  let status = 0
  const res = {
    writeHead: (code: number) => {
      status = code
      return res
    },
    end: () => res,
  }
  const req = { method: 'GET', url: '/v1/c/acme/entitlements.json', socket: {}, headers: { 'x-api-key': 'server-1' } }
  await edge.answer(req as unknown as IncomingMessage, res as unknown as ServerResponse)
  return { status, lines }
}

describe('a refusal of the edge', () => {
  const cases: [code: ProblemCode, status: number, level: string][] = [
    ['UNAUTHENTICATED', 401, 'info'],
    ['PERMISSION_DENIED', 403, 'info'],
    ['NOT_FOUND', 404, 'info'],
    ['INVALID_ARGUMENT', 400, 'info'],
    ['RESOURCE_EXHAUSTED', 429, 'warn'],
    ['UNAVAILABLE', 503, 'warn'],
    ['ABORTED', 503, 'warn'],
    ['DEADLINE_EXCEEDED', 504, 'warn'],
  ]
  for (const [code, expected, level] of cases) {
    it(`${expected} for ${code} is logged once, at ${level}`, async () => {
      const { status, lines } = await refusedWith(new Problem(code, 'REASON', 'why'))
      expect(status).to.equal(expected)
      expect(lines.map((line) => line.level)).to.deep.equal([level])
    })
  }

  it('500 for what nobody expected is an error with its private cause', async () => {
    const cause = new Error('a secret of ours')
    const { status, lines } = await refusedWith(cause)
    expect(status).to.equal(500)
    expect(lines.map(({ level, err }) => [level, err])).to.deep.equal([['error', cause]])
  })
})
