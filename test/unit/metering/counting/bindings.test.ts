import { expect } from 'chai'
import { Bindings } from '../../../../src/metering/counting/bindings.js'
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
})
