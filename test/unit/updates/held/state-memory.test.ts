import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import type { Entitlement, EntitlementState, StateDenialReason } from '../../../../src/entitlement/rules/state.js'
import { fromText } from '../../../../src/kernel/decimal.js'
import { StateMemory } from '../../../../src/updates/held/state-memory.js'

const environmentId = randomUUID()
const other = randomUUID()

describe('the memory of states', () => {
  const memory = () => new StateMemory(1_000_000)
  const stateOf = (customerId: string, of: Partial<EntitlementState> = {}): EntitlementState => ({
    environmentId,
    customerId,
    resourceId: null,
    version: 1,
    accessVersion: 1,
    deniedReason: null,
    entitlements: [entitlementOf('calls')],
    validUntil: null,
    next: null,
    basis: { catalogVersion: 1, clock: 'real' },
    ...of,
  })
  const unknown = (customerId: string, deniedReason: StateDenialReason, resourceId: string | null = null, of = environmentId) =>
    stateOf(customerId, { deniedReason, resourceId, environmentId: of, entitlements: [] })

  it('answers what it holds', () => {
    const states = memory()
    const [customer, resource] = [stateOf('a'), stateOf('a', { resourceId: 'r' })]
    states.hold(customer)
    states.hold(resource)
    expect(states.find(environmentId, 'a', null)!.state).to.equal(customer)
    expect(states.find(environmentId, 'a', 'r')!.state).to.equal(resource)
    expect(states.find(other, 'a', null)).to.equal(undefined)
  })

  it('weighs each resource of a customer', () => {
    const states = memory()
    const one = grown(states, () => states.hold(stateOf('a')))
    for (let n = 0; n < 5; n++) {
      const more = grown(states, () => states.hold(stateOf('a', { resourceId: `r${n}` })))
      expect(more).to.be.within(one / 4, one)
    }
    expect(grown(states, () => states.hold(stateOf('a')))).to.equal(0)
  })

  it('leaves room to others whatever one customer has', () => {
    const states = memory()
    states.hold(stateOf('quiet'))
    const long = [entitlementOf('x'.repeat(2_000))]
    for (let n = 0; n < 2_000; n++) states.hold(stateOf('loud', { resourceId: `r${n}`, entitlements: long.map((one) => ({ ...one })) }))
    expect(states.find(environmentId, 'loud', 'r1999')).to.not.equal(undefined)
    expect(states.find(environmentId, 'loud', 'r0')).to.equal(undefined)
    expect(states.find(environmentId, 'quiet', null)).to.not.equal(undefined)
    expect(states.bytes).to.be.below(1_000_000 / 4)
  })

  it('remembers unknown customers and resources by no more than a hash', () => {
    const states = memory()
    states.hold(stateOf('a'))
    const name = (n: number) => `${n}${'x'.repeat(100_000)}`
    for (let n = 0; n < 200; n++) {
      states.hold(unknown('a', 'CustomerResourceNotFound', name(n)))
      states.hold(unknown(name(n), 'CustomerNotFound', name(n)))
    }
    expect(states.bytes).to.be.below(20_000)
    expect(states.unknownBytes).to.be.below(200_000)
    expect(states.find(environmentId, 'a', name(199))!.state).to.deep.equal(unknown('a', 'CustomerResourceNotFound', name(199)))
    expect(states.find(environmentId, 'a', name(0))).to.equal(undefined)
    expect(states.find(environmentId, name(7), 'any')!.state).to.deep.equal(unknown(name(7), 'CustomerNotFound', 'any'))
    expect(states.find(environmentId, 'a', null)!.state.deniedReason).to.equal(null)
  })

  it('drives out no state for made-up names', () => {
    const states = memory()
    states.hold(stateOf('a', { environmentId: other }))
    for (let n = 0; n < 30_000; n++) states.hold(unknown(`made up ${n}`, 'CustomerNotFound'))
    expect(states.find(other, 'a', null)).to.not.equal(undefined)
    expect(states.unknownBytes).to.be.below(10_000_000)
  })

  it('forgets that a customer or resource is unknown with any change of the customer', () => {
    const states = memory()
    const usage = {
      featureId: 'calls',
      resourceId: null,
      usage: { ...entitlementOf('calls').usage!, currentUsage: fromText('7'), updatedAt: 2 },
    }
    for (const change of [{ version: 1 }, { version: 2 }, { version: null }, { version: 2, usage }]) {
      states.hold(unknown('new', 'CustomerNotFound'))
      states.hold(stateOf('a'))
      states.hold(unknown('a', 'CustomerResourceNotFound', 'r'))
      for (const customerId of ['a', 'new']) states.change(environmentId, { customerId, ...change })
      expect(states.find(environmentId, 'new', null)).to.equal(undefined)
      expect(states.find(environmentId, 'a', 'r')).to.equal(undefined)
    }
  })

  it('forgets what it knew of a customer that is gone', () => {
    const states = memory()
    states.hold(stateOf('a', { resourceId: 'r' }))
    states.hold(unknown('a', 'CustomerNotFound'))
    expect(states.find(environmentId, 'a', 'r')!.state.deniedReason).to.equal('CustomerNotFound')
  })

  it('patches the usage of a single state, which takes as much memory then', () => {
    const states = memory()
    states.hold(stateOf('a'))
    const usage = { ...entitlementOf('calls').usage!, currentUsage: fromText('7'), updatedAt: 2 }
    const more = grown(states, () =>
      states.change(environmentId, { customerId: 'a', version: 2, usage: { featureId: 'calls', resourceId: null, usage } }),
    )
    expect(more).to.equal(0)
    expect(states.find(environmentId, 'a', null)!.state.entitlements[0]!.usage!.currentUsage).to.equal('7')
  })

  it('forgets an environment whole, and no other', () => {
    const states = memory()
    states.hold(stateOf('a'))
    states.hold(unknown('new', 'CustomerNotFound'))
    states.hold(stateOf('a', { environmentId: other }))
    states.hold(unknown('new', 'CustomerNotFound', null, other))
    states.change(environmentId, { customerId: null, version: null })
    for (const customerId of ['a', 'new']) {
      expect(states.find(environmentId, customerId, null)).to.equal(undefined)
      expect(states.find(other, customerId, null)).to.not.equal(undefined)
    }
  })

  it('weighs what doors keep of a state with it, as long as that is held', () => {
    const states = memory()
    const state = stateOf('a')
    expect(states.grow(state, 100)).to.equal(false)
    states.hold(state)
    expect(grown(states, () => states.grow(state, 10_000))).to.equal(10_000)
    expect(grown(states, () => states.grow(state, 10_000))).to.equal(10_000)
    expect(states.grow(stateOf('a'), 100)).to.equal(false)
    expect(states.grow(state, 600_000)).to.equal(false)
    states.hold(stateOf('a'))
    expect(states.grow(state, 100)).to.equal(false)
    states.change(environmentId, { customerId: 'a', version: null })
    expect([states.bytes, states.unknownBytes]).to.deep.equal([0, 0])
  })

  it('lets others go for what is kept of the newest', () => {
    const states = memory()
    const all = Array.from({ length: 20 }, (_, n) => stateOf(`c${n}`))
    for (const state of all) {
      states.hold(state)
      states.grow(state, 80_000)
    }
    expect(states.bytes).to.be.within(800_000, 1_000_000)
    expect(states.find(environmentId, 'c0', null)).to.equal(undefined)
    expect(states.find(environmentId, 'c19', null)!.state).to.equal(all[19])
  })
})

function grown(states: StateMemory, act: () => unknown): number {
  const before = states.bytes
  act()
  return states.bytes - before
}

function entitlementOf(refId: string): Entitlement {
  return {
    feature: {
      id: randomUUID(),
      refId,
      displayName: 'Calls',
      description: null,
      featureType: 'NUMBER',
      meterType: 'Incremental',
      units: 'call',
      unitsPlural: 'calls',
      unitTransformation: null,
    },
    usageLimit: fromText('100'),
    hasUnlimitedUsage: false,
    hasSoftLimit: false,
    enumValues: [],
    reset: null,
    usage: { currentUsage: fromText('3'), periodStart: 1, periodEnd: null, updatedAt: 1 },
    usageRestartsAt: null,
    deniedReason: null,
    validUntil: null,
  }
}
