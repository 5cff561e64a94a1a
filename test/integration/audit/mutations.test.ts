import { expect } from 'chai'
import { type MutatedCustomer, mutations, newCustomer } from '../changes/mutation-customer.js'
import { scenarios as changing, type Scenario } from '../changes/mutation-scenarios.js'
import { type MeteringBench, openMeteringBench } from '../metering/fixture.js'
import { openWebProcess, type WebProcess } from '../web/web-process.js'
import { entriesOf, expected, further, notAudited } from './mutation-entries.js'

const scenarios: Record<string, Pick<Scenario, 'isNew'> & { variables(customer: never): object | Promise<object> }> = {
  ...changing,
  ...further,
}

describe('the audit log of mutations', () => {
  let bench: MeteringBench
  let web: WebProcess
  let serial = 0

  before(async function () {
    this.timeout(20_000)
    bench = await openMeteringBench({ shards: 1 })
    bench.startIngestion()
    web = await openWebProcess(bench, 'web')
  })
  after(async () => {
    expect(await web.life.stop()).to.deep.equal([])
    expect(await bench.close()).to.deep.equal([])
  })

  it('is known here of every mutation of the schema: what each writes, or why it writes nothing', () => {
    expect([...Object.keys(expected), ...Object.keys(notAudited)].sort()).to.deep.equal(Object.keys(mutations.getFields()).sort())
  })

  for (const mutation of Object.keys(scenarios))
    it(`${mutation} writes exactly what it changes`, async () => {
      const customer: MutatedCustomer = await newCustomer(bench, [web], `audit-${++serial}`)
      const scenario = scenarios[mutation]!
      if (scenario.isNew !== true) await customer.mutate('provisionCustomer', { input: { customerId: 'acme' } })
      const variables = await scenario.variables(customer as never)
      const before = await bench.pool.query('SELECT id FROM audit_entry')
      // when
      await customer.mutate(mutation, variables)
      // then
      const entries = await entriesOf(
        bench.pool,
        before.rows.map(({ id }) => id as string),
      )
      expect(entries.map(({ text }) => text.replaceAll(customer.name, 'ENV'))).to.deep.equal(expected[mutation] ?? [])
      for (const entry of entries) {
        expect(entry.operation).to.equal(mutation)
        expect(entry.traceId).to.match(/^[0-9a-f-]{36}$/)
        expect(entry.address).to.be.a('string')
      }
    })
})
