import { expect } from 'chai'
import { Problem } from '../../../../src/kernel/problem.js'
import type { Identity } from '../../../../src/web/access/auth.js'
import { freshnessOf } from '../../../../src/web/access/freshness.js'
import { costPerKey, RateLimits, strongReadCost } from '../../../../src/web/access/rate-limits.js'

const identity = { keyId: 'key', environmentId: 'e', customerId: null } as Identity
const caller = () => ({ identity, address: '192.0.2.1', rateLimits: new RateLimits({ perKey: 1, perCustomer: 1, perAddress: 1 }) })

describe('the headers that say how fresh an answer has to be', () => {
  const taken: [headers: Record<string, string>, maxAgeMs: number | undefined][] = [
    [{}, undefined],
    [{ 'x-consistency': 'cached' }, undefined],
    [{ 'x-consistency': 'strong' }, 0],
    [{ 'x-max-staleness-ms': '0' }, 0],
    [{ 'x-max-staleness-ms': '250' }, 250],
    [{ 'x-consistency': 'cached', 'x-max-staleness-ms': '250' }, 250],
    [{ 'x-consistency': 'strong', 'x-max-staleness-ms': '5000' }, 0],
    // What is held is never trusted for longer than a second.
    [{ 'x-max-staleness-ms': '1000' }, undefined],
    [{ 'x-max-staleness-ms': '604800000' }, undefined],
  ]
  for (const [headers, maxAgeMs] of taken)
    it(`are read: ${JSON.stringify(headers)}`, () => expect(freshnessOf(headers, caller())?.maxAgeMs).to.equal(maxAgeMs))

  const refused: Record<string, string>[] = [
    { 'x-consistency': 'eventual' },
    { 'x-consistency': 'STRONG' },
    { 'x-consistency': '' },
    { 'x-consistency': 'strong, cached' },
    { 'x-max-staleness-ms': '-1' },
    { 'x-max-staleness-ms': '1.5' },
    { 'x-max-staleness-ms': '' },
    { 'x-max-staleness-ms': '1e3' },
    { 'x-max-staleness-ms': '9'.repeat(40) },
    { 'x-consistency': 'strong', 'x-max-staleness-ms': 'soon' },
  ]
  for (const headers of refused)
    it(`are refused when they say nothing: ${JSON.stringify(headers)}`, () => {
      try {
        freshnessOf(headers, caller())
      } catch (error) {
        expect((error as Problem).code).to.equal('INVALID_ARGUMENT')
        return expect((error as Problem).message).to.match(/^X-(Consistency|Max-Staleness-Ms) must be /)
      }
      throw new Error('it was taken')
    })

  it('let a key have so many reads of the database a second, and the first ones at once', () => {
    const { beforeRead } = freshnessOf({ 'x-consistency': 'strong' }, caller())!
    let reads = 0
    let refusal: Problem | undefined
    while (refusal === undefined && reads < 1e6) {
      try {
        beforeRead()
        reads++
      } catch (error) {
        refusal = Problem.from(error)
      }
    }
    expect(reads).to.be.within((3 * costPerKey) / strongReadCost.built, (3.2 * costPerKey) / strongReadCost.built)
    expect(refusal).to.deep.include({ code: 'RESOURCE_EXHAUSTED', reason: 'RATE_LIMIT_EXCEEDED' })
  })

  it('give back most of it for a state that did not have to be built', () => {
    const { beforeRead } = freshnessOf({ 'x-consistency': 'strong' }, caller())!
    const most = (3 * costPerKey) / strongReadCost.compared
    for (let reads = 0; reads < most - 1; reads++) beforeRead()()
  })
})
