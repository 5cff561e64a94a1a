import { expect } from 'chai'
import { type Binding, Bindings } from '../../../../src/metering/counting/bindings.js'
import type { HeldSeries } from '../../../../src/metering/counting/held-series.js'

describe('bindings that are remembered', () => {
  const holder = { customerId: 'acme', resourceId: null }
  const held = {
    customer: { id: 'ours', isArchived: false },
    resource: null,
    accessVersion: 1,
    budgets: null,
    decideAt: () => ({ until: Number.POSITIVE_INFINITY, entitled: [] }),
  } as unknown as HeldSeries

  it('are loaded again, with all that was known of their counters, when the database has another history', async () => {
    let loads = 0
    const bindings = new Bindings(async (_environmentId, holders) => {
      loads += 1
      return holders.map(() => held)
    })
    const load = async () => [...(await bindings.load('environment', [holder])).values()][0]
    const first = await load()
    expect(await load()).to.equal(first)
    bindings.forgetAll()
    expect(bindings.cached('environment', holder)).to.equal(undefined)
    expect(await load()).to.not.equal(first)
    expect(loads).to.equal(2)
  })

  it('are fewer of customers who are entitled to much', async function () {
    this.timeout(30_000)
    const entitled = Array.from({ length: 20_000 }, (_, n) => ({ feature: { id: `${n}` } }))
    const bindings = new Bindings(async (_environmentId, holders) =>
      holders.map(() => ({ ...held, decideAt: () => ({ until: Number.POSITIVE_INFINITY, entitled }) }) as unknown as HeldSeries),
    )
    const holders = Array.from({ length: 100 }, (_, n) => ({ customerId: `customer-${n}`, resourceId: null }))
    for (const holder of holders)
      for (const binding of (await bindings.load('environment', [holder])).values()) (binding as Binding).decisionAt(1)
    const isKept = holders.map((holder) => bindings.cached('environment', holder) !== undefined)
    expect(isKept.filter(Boolean)).to.have.length(49)
    expect([isKept[0], isKept[99]]).to.deep.equal([false, true])
  })
})
