import { expect } from 'chai'
import { Problem, unavailable } from '../../../../src/kernel/problem.js'
import { Outage } from '../../../../src/reader/api/outage.js'

describe('outage', () => {
  const fail = (outage: Outage, problem: Error) => outage.guard(() => Promise.reject(problem)).catch((error: unknown) => error)
  const away = unavailable('away')

  it('keeps later reads from waiting once five in a row have found nobody', async () => {
    const outage = new Outage()
    for (let n = 0; n < 5; n++) expect(await fail(outage, away)).to.equal(away)
    let asked = 0
    const read = async () => {
      asked++
    }
    expect(await outage.guard(read).catch((error: Problem) => error.code)).to.equal('UNAVAILABLE')
    expect(asked).to.equal(0)
  })

  it('is over with the first answer, an error of somebody included', async () => {
    const outage = new Outage()
    for (let n = 0; n < 4; n++) await fail(outage, away)
    await fail(outage, new Problem('NOT_FOUND', 'FEATURE_NOT_FOUND', 'no such feature'))
    for (let n = 0; n < 4; n++) await fail(outage, away)
    expect(await outage.guard(async () => 'answer')).to.equal('answer')
  })
})
