import { expect } from 'chai'
import { invalidInput, Problem, unavailable } from '../../../../../src/kernel/problem.js'
import type { Logger } from '../../../../../src/platform/logger.js'
import { logProblem } from '../../../../../src/web/graphql/operations/problem-log.js'

describe('what the log says of a problem', () => {
  const linesOf = (problem: Problem) => {
    const lines: [level: string, facts: object, text: string][] = []
    const level = (name: string) => (facts: object, text: string) => lines.push([name, facts, text])
    const log = { debug: level('debug'), info: level('info'), warn: level('warn'), error: level('error') } as unknown as Logger
    logProblem(log, 'request', problem, { operation: 'Q' })
    return lines
  }
  const tooMany = new Problem('RESOURCE_EXHAUSTED', 'RATE_LIMIT_EXCEEDED', 'Slow down.')

  for (const [what, problem, level, text] of [
    ['bad input', invalidInput('No.'), 'info', 'request refused'],
    ['too many requests', tooMany, 'info', 'request refused'],
    ['an outage', unavailable('Away.'), 'warn', 'request could not be done now'],
    ['a fault of ours', new Problem('INTERNAL', 'INTERNAL', 'Fault.'), 'error', 'request failed'],
  ] as const)
    it(`is ${level} of ${what}`, () => {
      expect(linesOf(problem).map(([said, , words]) => [said, words])).to.deep.equal([[level, text]])
    })

  it('has no stack of what callers can have as often as they like', () => {
    for (const problem of [invalidInput('No.'), tooMany]) expect(linesOf(problem)[0]![1]).to.not.have.property('err')
    expect(linesOf(unavailable('Away.'))[0]![1]).to.have.property('err')
  })
})
