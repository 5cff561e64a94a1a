import { expect } from 'chai'
import { until } from '../grpc/harness.js'
import { codeOf, type Door, type DoorKind } from './doors.js'

/** What a case has: a door, a customer of its own, and the platform behind it. */
export interface World {
  door: Door
  kind: DoorKind
  customerId: string
  /** Subscribes the customer, or a resource of it; it is provisioned first. */
  subscribe(planId: string, resourceId?: string): Promise<void>
  mutate(mutation: string): Promise<void>
}

export const refused = (work: Promise<unknown>) =>
  work.then(
    () => 'nothing refused',
    (error: unknown) => codeOf(error),
  )

/** One list for every way to ask: each holds the same promise. */
export const cases: Readonly<Record<string, (world: World) => Promise<void>>> = {
  'grants what is held, and tells of it': async ({ door, customerId, subscribe }) => {
    await subscribe('large')
    expect(await door.getBooleanEntitlement({ customerId, featureId: 'sso' })).to.deep.equal({
      hasAccess: true,
      isFallback: false,
      accessDeniedReason: null,
      entitlement: { feature: { id: 'sso', featureType: 'BOOLEAN', meterType: 'NONE', isMetered: false, units: null, unitsPlural: null } },
    })
    const { entitlement } = await door.getNumericEntitlement({ customerId, featureId: 'projects' })
    expect(entitlement).to.deep.include({ value: null, isUnlimited: true })
    expect(await door.getMeteredEntitlement({ customerId, featureId: 'calls', requestedUsage: 1_000_000 })).to.deep.include({
      hasAccess: true,
    })
  },

  'denies what is not held, and says why': async ({ door, customerId, subscribe }) => {
    await subscribe('basic')
    expect(await door.getBooleanEntitlement({ customerId, featureId: 'sso' })).to.deep.equal({
      hasAccess: false,
      isFallback: false,
      accessDeniedReason: 'NO_FEATURE_ENTITLEMENT_IN_SUBSCRIPTION',
      entitlement: null,
    })
  },

  'tells a feature that nobody knows from one that is not held, where the catalog is known': async ({
    door,
    kind,
    customerId,
    subscribe,
  }) => {
    await subscribe('basic')
    const { accessDeniedReason } = await door.getBooleanEntitlement({ customerId, featureId: 'no-such-feature' })
    expect(accessDeniedReason).to.equal(kind.knowsCatalog ? 'FEATURE_NOT_FOUND' : 'NO_FEATURE_ENTITLEMENT_IN_SUBSCRIPTION')
  },

  'says who is unknown, archived or without a subscription': async ({ door, customerId, mutate }) => {
    const reason = async () => (await door.getBooleanEntitlement({ customerId, featureId: 'sso' })).accessDeniedReason
    expect(await reason()).to.equal('CUSTOMER_NOT_FOUND')
    expect(await door.reloadEntitlements({ customerId })).to.equal(false)
    await mutate(`provisionCustomer(input: { customerId: "${customerId}" }) { customer { id } }`)
    expect(await door.reloadEntitlements({ customerId })).to.equal(true)
    expect(await reason()).to.equal('NO_ACTIVE_SUBSCRIPTION')
    expect(await door.getEntitlements({ customerId })).to.deep.equal({ entitlements: [], accessDeniedReason: 'NO_ACTIVE_SUBSCRIPTION' })
    expect((await door.getBooleanEntitlement({ customerId, resourceId: 'nothing', featureId: 'sso' })).accessDeniedReason).to.equal(
      'CUSTOMER_RESOURCE_NOT_FOUND',
    )
    await mutate(`archiveCustomer(input: { customerId: "${customerId}" }) { id }`)
    await door.reloadEntitlements({ customerId })
    // What is read and leaves nothing tells no version: a change from before, told late, is taken until the archiving is told too.
    await until(async () => (await reason()) === 'CUSTOMER_IS_ARCHIVED', 'the archiving is told')
  },

  'grants up to the limit and no further': async ({ door, customerId, subscribe }) => {
    await subscribe('basic')
    const ask = (requestedUsage?: number) =>
      door.getMeteredEntitlement({ customerId, featureId: 'calls', ...(requestedUsage === undefined ? {} : { requestedUsage }) })
    expect(await ask(10)).to.deep.include({ hasAccess: true })
    const over = await ask(10.5)
    expect(over).to.deep.include({ hasAccess: false, isFallback: false, accessDeniedReason: 'REQUESTED_USAGE_EXCEEDING_LIMIT' })
    expect(over.entitlement).to.deep.include({
      usageLimit: 10,
      currentUsage: 0,
      hasSoftLimit: false,
      isUnlimited: false,
      resetPeriod: 'MONTH',
    })
    await door.reportUsage({ customerId, featureId: 'calls', value: 10 })
    expect(await ask()).to.deep.include({ hasAccess: true })
    expect(await ask(0.000_000_001)).to.deep.include({ hasAccess: false })
  },

  'counts exactly, where doubles do not': async ({ door, customerId, subscribe }) => {
    await subscribe('basic')
    await door.reportUsage({ customerId, featureId: 'storage', value: 0.1 })
    expect(await door.getMeteredEntitlement({ customerId, featureId: 'storage', requestedUsage: 0.2 })).to.deep.include({ hasAccess: true })
    await door.reportUsage({ customerId, featureId: 'storage', value: 0.2 })
    const full = await door.getMeteredEntitlement({ customerId, featureId: 'storage' })
    expect(full).to.deep.include({ hasAccess: true })
    expect(full.entitlement?.currentUsage).to.equal(0.3)
  },

  'reports a soft limit and enforces none': async ({ door, customerId, subscribe }) => {
    await subscribe('basic')
    await door.reportUsage({ customerId, featureId: 'mails', value: 5 })
    const { hasAccess, entitlement } = await door.getMeteredEntitlement({ customerId, featureId: 'mails', requestedUsage: 1 })
    expect(hasAccess).to.equal(true)
    expect(entitlement).to.deep.include({ usageLimit: 2, hasSoftLimit: true, currentUsage: 5, resetPeriod: 'DAY' })
  },

  'compares the values of an enumeration': async ({ door, customerId, subscribe }) => {
    await subscribe('basic')
    const ask = (...requestedValues: string[]) => door.getEnumEntitlement({ customerId, featureId: 'regions', requestedValues })
    expect((await ask()).entitlement?.enumValues).to.have.members(['eu', 'us'])
    expect(await ask('us', 'eu')).to.deep.include({ hasAccess: true })
    expect(await ask('eu', 'ap')).to.deep.include({ hasAccess: false, accessDeniedReason: 'REQUESTED_VALUES_MISMATCH' })
  },

  'answers a question of the wrong type with a fallback, where there are any': async ({ door, kind, customerId, subscribe }) => {
    if (!kind.hasFallbacks) return
    await subscribe('basic')
    const asked = { customerId, featureId: 'calls', fallback: { hasAccess: true } }
    expect(await door.getBooleanEntitlement(asked)).to.deep.include({
      hasAccess: true,
      isFallback: true,
      accessDeniedReason: 'FEATURE_TYPE_MISMATCH',
    })
    expect(await door.getEnumEntitlement({ customerId, featureId: 'calls' })).to.deep.include({ hasAccess: false, isFallback: true })
  },

  'shows a report to who has made it, at once': async ({ door, customerId, subscribe }) => {
    await subscribe('basic')
    const used = async (featureId: string) => (await door.getMeteredEntitlement({ customerId, featureId })).entitlement?.currentUsage
    expect(await used('calls')).to.equal(0)
    for (const total of [1, 2, 3]) {
      const { currentUsage, usagePeriodEnd } = await door.reportUsage({ customerId, featureId: 'calls', value: 1 })
      expect([currentUsage, await used('calls')]).to.deep.equal([total, total])
      expect(usagePeriodEnd).to.be.instanceOf(Date)
    }
    await door.reportUsage({ customerId, featureId: 'seats', value: 2, updateBehavior: 'SET' })
    await door.reportUsage({ customerId, featureId: 'seats', value: -1 })
    expect(await used('seats')).to.equal(1)
    const several = await door.reportUsageBulk([
      { customerId, featureId: 'calls', value: 2 },
      { customerId, featureId: 'seats', value: 1 },
    ])
    expect(several.map(({ currentUsage }) => currentUsage)).to.deep.equal([5, 2])
    expect([await used('calls'), await used('seats')]).to.deep.equal([5, 2])
  },

  'counts a report that is sent again under its key once': async ({ door, customerId, subscribe }) => {
    await subscribe('basic')
    const report = { customerId, featureId: 'calls', value: 4, idempotencyKey: `key-of-${customerId}` }
    const first = await door.reportUsage(report)
    expect(await door.reportUsage(report)).to.deep.include({ measurementId: first.measurementId, currentUsage: 4 })
    expect(await refused(door.reportUsage({ ...report, value: 5 }))).to.equal('ALREADY_EXISTS')
  },

  'refuses usage that nobody can have, and counts none of it': async ({ door, customerId, subscribe }) => {
    await subscribe('basic')
    expect(await refused(door.reportUsage({ customerId, featureId: 'no-such-feature', value: 1 }))).to.equal('NOT_FOUND')
    expect(await refused(door.reportUsage({ customerId: `${customerId}-unknown`, featureId: 'calls', value: 1 }))).to.equal('NOT_FOUND')
    expect(await refused(door.reportUsage({ customerId, featureId: 'tokens', value: 1 }))).to.equal('FAILED_PRECONDITION')
    expect(await refused(door.reportUsage({ customerId: '', featureId: 'calls', value: 1 }))).to.equal('INVALID_ARGUMENT')
    const some = [
      { customerId, featureId: 'calls', value: 1 },
      { customerId, featureId: 'no-such-feature', value: 1 },
    ]
    expect(await refused(door.reportUsageBulk(some))).to.equal('NOT_FOUND')
    expect((await door.getMeteredEntitlement({ customerId, featureId: 'calls' })).entitlement?.currentUsage).to.equal(0)
  },

  'counts events by their meter, each once': async ({ door, customerId, subscribe }) => {
    await subscribe('basic')
    const event = (idempotencyKey: string, tokens: number) => ({
      customerId,
      eventName: 'completion',
      idempotencyKey,
      dimensions: { tokens },
    })
    await door.reportEvents([event('a', 30), event('b', 12)])
    await door.reportEvents([event('b', 12), { ...event('c', 99), eventName: 'other' }])
    const used = async () => {
      await door.reloadEntitlements({ customerId })
      return (await door.getMeteredEntitlement({ customerId, featureId: 'tokens' })).entitlement?.currentUsage
    }
    await until(async () => (await used()) === 42, 'the events are counted', 15_000)
  },

  'keeps a customer apart from its resources': async ({ door, customerId, subscribe }) => {
    await subscribe('basic')
    await subscribe('large', 'site')
    const limit = async (resourceId?: string) => {
      const { entitlement } = await door.getMeteredEntitlement({ customerId, featureId: 'calls', ...(resourceId ? { resourceId } : {}) })
      return entitlement?.usageLimit
    }
    expect([await limit(), await limit('site')]).to.deep.equal([10, null])
    await door.reportUsage({ customerId, resourceId: 'site', featureId: 'calls', value: 7 })
    const ofSite = await door.getMeteredEntitlement({ customerId, resourceId: 'site', featureId: 'calls' })
    expect(ofSite.entitlement).to.deep.include({ currentUsage: 7, isUnlimited: true })
  },

  'lists what gives access': async ({ door, customerId, subscribe }) => {
    await subscribe('basic')
    await door.reportUsage({ customerId, featureId: 'calls', value: 11 })
    const { entitlements, accessDeniedReason } = await door.getEntitlements({ customerId })
    expect(accessDeniedReason).to.equal(null)
    const listed = Object.fromEntries(entitlements.map((one) => [one.feature!.id, one]))
    expect(Object.keys(listed)).to.include.members(['projects', 'regions', 'storage', 'mails', 'seats', 'tokens'])
    expect(listed.projects).to.deep.include({ type: 'numeric', value: 25 })
    expect(listed.mails).to.deep.include({ type: 'metered', usageLimit: 2 })
  },

  'lets the most generous of several grants win': async ({ door, customerId, subscribe, mutate }) => {
    await subscribe('basic')
    const promotion = '{ featureId: "calls", hasUnlimitedUsage: true, period: LIFETIME, isVisible: true, resetPeriod: MONTH }'
    await mutate(`grantPromotionalEntitlements(input: { customerId: "${customerId}", promotionalEntitlements: [${promotion}] }) { id }`)
    await door.reloadEntitlements({ customerId })
    expect(await door.getMeteredEntitlement({ customerId, featureId: 'calls', requestedUsage: 11 })).to.deep.include({ hasAccess: true })
  },

  'refuses what is no question': async ({ door }) => {
    const asked = { customerId: 'someone', featureId: 'calls' }
    expect(await refused(door.getMeteredEntitlement({ ...asked, requestedUsage: -1 }))).to.equal('INVALID_ARGUMENT')
    expect(await refused(door.getMeteredEntitlement({ ...asked, customerId: ' ' }))).to.equal('INVALID_ARGUMENT')
    expect(await refused(door.getBooleanEntitlement({ ...asked, resourceId: 'a\nb' }))).to.equal('INVALID_ARGUMENT')
  },
}

/** Identifiers that a way to ask could take for something else. */
export const oddIds = ['a/b', '..', '100%', 'a?b#c', 'p:c_x:r_y', 'ünïcödé 客', '"quoted"', '__proto__', `${'x'.repeat(255)}`]
