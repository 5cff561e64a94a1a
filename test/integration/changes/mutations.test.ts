import { expect } from 'chai'
import { type MeteringBench, openMeteringBench } from '../metering/fixture.js'
import { openWebProcess, type WebProcess } from '../web/web-process.js'
import { mutations, newCustomer } from './mutation-customer.js'
import { type Scenario, scenarios, unchanging } from './mutation-scenarios.js'

/** What every mutation does to states that web processes hold. Nothing is delivered, so only the announcement tells them. */
describe('mutations', () => {
  let bench: MeteringBench
  let webs: WebProcess[]
  let serial = 0

  before(async function () {
    this.timeout(20_000)
    bench = await openMeteringBench({ shards: 1 })
    bench.startIngestion()
    webs = await Promise.all(['one', 'other'].map((name) => openWebProcess(bench, name)))
  })
  after(async () => {
    for (const { life } of webs) expect(await life.stop()).to.deep.equal([])
    expect(await bench.close()).to.deep.equal([])
  })

  it('are all known here: what they do to usage and holdings', () => {
    expect([...Object.keys(scenarios), ...Object.keys(unchanging)].sort()).to.deep.equal(Object.keys(mutations.getFields()).sort())
  })

  for (const [mutation, scenario] of Object.entries<Scenario>(scenarios))
    it(`${mutation} is read right at once, through every web process`, async () => {
      const customer = await newCustomer(bench, webs, `mutation-${++serial}`)
      if (scenario.isNew !== true) await customer.mutate('provisionCustomer', { input: { customerId: 'acme' } })
      const variables = await scenario.variables(customer)
      const holders = [null, ...(scenario.resources ?? [])]
      // given: both hold the states and hear of changes
      let before: unknown[][] = []
      for (let n = 0; n < 3; n++) before = await customer.statesThrough(holders)
      expect(before[0]).to.deep.equal(before[1])
      // when
      await customer.mutate(mutation, variables)
      const after = await customer.statesThrough(holders)
      // then: what they answer is what a process answers that has held nothing
      const fresh = await openWebProcess(bench, 'fresh')
      try {
        webs.push(fresh)
        const answers = await customer.statesThrough(holders)
        expect(after).to.deep.equal([answers.at(-1), answers.at(-1)])
      } finally {
        webs.pop()
        expect(await fresh.life.stop()).to.deep.equal([])
      }
      expect(after[0], 'something is different').to.not.deep.equal(before[0])
    })
})
