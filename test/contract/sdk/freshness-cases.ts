import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import type * as sdk from '../../../src/sdk/types.js'
import { until } from '../grpc/harness.js'
import { refused, type World } from './cases.js'

/** What the cases of freshness have: the door is one that nobody tells of changes. */
export interface QuietWorld extends World {
  /** Gives the customer a feature in another process, which tells nobody of it. */
  grantElsewhere(featureId: string): Promise<void>
}

const grant = (customerId: string, featureId: string) =>
  `grantPromotionalEntitlements(input: { customerId: "${customerId}", promotionalEntitlements: [{ featureId: "${featureId}", period: LIFETIME, isVisible: true }] }) { id }`

/** One list for every way to ask: each takes the two options of a check, and means the same by them. */
export const freshnessCases: Readonly<Record<string, (world: QuietWorld) => Promise<void>>> = {
  'answers a strong check by what another process has just committed, and nothing older afterwards': async (world) => {
    const { door, customerId, subscribe, grantElsewhere } = world
    await subscribe('basic')
    const asked = { customerId, featureId: 'sso' }
    expect(await door.getBooleanEntitlement(asked)).to.deep.include({ hasAccess: false })
    await grantElsewhere('sso')
    expect(await door.getBooleanEntitlement({ ...asked, consistency: 'strong' })).to.deep.include({ hasAccess: true, isFallback: false })
    // An external cache takes it over behind the answer; a web process that is not sure to hear of changes just then holds nothing, and is asked again.
    const isHeld = async () =>
      (await door.getBooleanEntitlement({ ...asked, consistency: 'strong' })).hasAccess &&
      (await door.getBooleanEntitlement(asked)).hasAccess
    await until(isHeld, 'the cache has what was read', 10_000)
  },

  'lists by what another process has just committed': async ({ door, customerId, subscribe, grantElsewhere }) => {
    await subscribe('basic')
    const held = async (freshness: sdk.Freshness) =>
      (await door.getEntitlements({ customerId, ...freshness })).entitlements.map(({ feature }) => feature!.id)
    expect(await held({})).to.not.include('sso')
    await grantElsewhere('sso')
    expect(await held({ consistency: 'strong' })).to.include('sso')
  },

  'answers strong checks that are asked at once, and one after the other, each by all that was committed before it': async (world) => {
    const { door, customerId, subscribe, grantElsewhere } = world
    await subscribe('basic')
    const ask = async () => (await door.getBooleanEntitlement({ customerId, featureId: 'sso', consistency: 'strong' })).hasAccess
    const early = Array.from({ length: 10 }, ask)
    await grantElsewhere('sso')
    const late = await Promise.all(Array.from({ length: 10 }, ask))
    expect(late).to.deep.equal(Array(10).fill(true))
    expect(await Promise.all(early)).to.have.lengthOf(10)
  },

  'answers nothing that is older than the caller takes': async ({ door, kind, customerId, subscribe, mutate }) => {
    await subscribe('basic')
    const ask = async (freshness: sdk.Freshness) =>
      (await door.getBooleanEntitlement({ customerId, featureId: 'sso', ...freshness })).hasAccess
    expect(await ask({})).to.equal(false)
    await mutate(grant(customerId, 'sso'))
    // It sees what was changed through the API at once, or not before it reads anew.
    expect(await ask({ maxStalenessMs: 600_000 })).to.equal(kind.isOfPlatform)
    expect(await ask({ consistency: 'cached' })).to.equal(kind.isOfPlatform)
    await sleep(30)
    const listed = await door.getEntitlements({ customerId, maxStalenessMs: 10 })
    expect(listed.entitlements.map(({ feature }) => feature!.id)).to.include('sso')
    expect(await ask({ maxStalenessMs: 10 })).to.equal(true)
    expect(await ask({ maxStalenessMs: 0 })).to.equal(true)
  },

  'says so when it is told no freshness at all': async ({ door, customerId, subscribe }) => {
    await subscribe('basic')
    const wrong = [{ consistency: 'eventual' }, { consistency: 'STRONG' }, { maxStalenessMs: -1 }, { maxStalenessMs: Number.NaN }]
    for (const freshness of wrong as sdk.Freshness[]) {
      const what = JSON.stringify(freshness)
      expect(await refused(door.getBooleanEntitlement({ customerId, featureId: 'sso', ...freshness })), what).to.equal('INVALID_ARGUMENT')
      expect(await refused(door.getEntitlements({ customerId, ...freshness })), what).to.equal('INVALID_ARGUMENT')
    }
  },
}
