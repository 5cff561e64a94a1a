import { expect } from 'chai'
import { systemClock } from '../../../src/kernel/clock.js'
import { Secret } from '../../../src/kernel/secret.js'
import { silentLogger } from '../../../src/platform/logger.js'
import { Registry } from '../../../src/platform/metrics.js'
import { StateReader } from '../../../src/reader/api/messages.js'
import { RealTimeUpdates, type UpdatesTiming } from '../../../src/reader/api/real-time-updates.js'
import { FreshnessJudge } from '../../../src/reader/states/freshness.js'
import { RightsPool } from '../../../src/reader/states/rights.js'
import { SidecarMetrics } from '../../../src/sidecar/metrics/metrics.js'
import { at, boolean, FakeApi, holding, metered } from '../../contract/grpc/fake-api.js'
import { type Answer, type RunningSidecar, runSidecar, until } from '../../contract/grpc/harness.js'

describe('sidecar real-time updates', () => {
  let api: FakeApi
  let sidecar: RunningSidecar

  beforeEach(async () => {
    api = await FakeApi.start()
    sidecar = await runSidecar({ SERVER_API_KEY: api.acceptedKey, API_URL: api.url, REFRESH_AFTER_SECS: '600' })
    await connected()
  })
  afterEach(async () => {
    await sidecar.stop()
    await api.stop()
  })

  const connected = () => until(async () => (await sidecar.metric('sidecar_real_time_connected')) === 1, 'the connection vouches')
  const check = (customerId: string, resourceId?: string): Promise<Answer> =>
    sidecar.call('GetMeteredEntitlement', { customer_id: customerId, resource_id: resourceId, feature_id: 'api-calls' })
  const usageOf = async (customerId: string, resourceId?: string): Promise<number> =>
    (await check(customerId, resourceId)).entitlement?.current_usage ?? 0
  const hold = (key: string, currentUsage: number, version: number) =>
    api.states.set(key, holding(metered('api-calls', { currentUsage, entitlementUpdatedAt: at(version), usageUpdatedAt: at(version) })))

  it('replaces the whole entry with a pushed state', async () => {
    hold('c', 1, 1)
    await check('c')
    api.states.set('c', holding(boolean('sso', { entitlementUpdatedAt: at(2) })))
    api.pushState('c')
    await until(async () => (await check('c')).access_denied_reason === 7, 'the state is replaced')
    expect(api.count('entitlementsState')).to.equal(1)
  })

  it('changes one usage with a pushed usage', async () => {
    hold('c', 1, 1)
    expect(await usageOf('c')).to.equal(1)
    api.pushUsage('c', 'api-calls', 0.3, 2)
    await until(async () => (await usageOf('c')) === 0.3, 'the usage is changed')
    expect(api.count('entitlementsState')).to.equal(1)
  })

  it('ignores a usage that is older than the one it has', async () => {
    hold('c', 5, 5)
    await check('c')
    api.pushUsage('c', 'api-calls', 4, 4)
    api.pushUsage('c', 'api-calls', 6, 6)
    await until(async () => (await usageOf('c')) === 6, 'the newer usage has arrived')
    api.pushUsage('c', 'api-calls', 5, 5)
    await settled()
    expect(await usageOf('c')).to.equal(6)
  })

  it('keeps the newer usage when an older state is pushed after it', async () => {
    hold('c', 1, 1)
    await check('c')
    api.pushUsage('c', 'api-calls', 9, 9)
    await until(async () => (await usageOf('c')) === 9, 'the usage has arrived')
    api.states.set(
      'c',
      holding(metered('api-calls', { usageLimit: 50, currentUsage: 2, entitlementUpdatedAt: at(3), usageUpdatedAt: at(2) })),
    )
    api.pushState('c')
    await until(async () => (await check('c')).entitlement.usage_limit === 50, 'the state has arrived')
    expect(await usageOf('c')).to.equal(9)
  })

  it('forgets that a customer was unknown as soon as it is provisioned', async () => {
    expect((await check('c')).access_denied_reason).to.equal(3)
    hold('c', 0, 1)
    api.pushState('c')
    await until(async () => (await check('c')).has_access === true, 'the customer is known')
    expect(api.count('entitlementsState')).to.equal(1)
  })

  it('does not store the answer of a read over a change that was pushed meanwhile', async () => {
    // given a read under way that has seen version 1
    hold('c', 1, 1)
    let open: () => void = () => {}
    api.gate = new Promise((resolve) => {
      open = resolve
    })
    const first = check('c')
    await until(() => api.count('entitlementsState') === 1, 'the read is under way')
    // when a usage of version 2 is pushed, and a loss of access for another read
    api.pushUsage('c', 'api-calls', 7, 2)
    const second = check('d')
    await until(() => api.count('entitlementsState') === 2, 'the other read is under way')
    api.push({ kind: 'STATE', customerId: 'd', resourceId: null, accessDeniedReason: 'NoActiveSubscription', entitlements: [] })
    api.pushUsage('marker', 'x', 0, 1)
    await settled()
    open()
    // then both are seen, by the waiting calls and by the next
    expect((await first).entitlement.current_usage).to.equal(7)
    expect((await second).access_denied_reason).to.equal(6)
    expect(await usageOf('c')).to.equal(7)
    expect((await check('d')).access_denied_reason).to.equal(6)
  })

  /** A customer that is cached shows when all that was pushed before has been read. */
  async function settled() {
    const gate = api.gate
    api.gate = Promise.resolve()
    hold('settled', 0, 1)
    await check('settled')
    api.pushUsage('settled', 'api-calls', 1, 2)
    await until(async () => (await usageOf('settled')) === 1, 'the pushes are read')
    api.gate = gate
  }

  it('refreshes the resources of a customer whose own entitlements changed', async () => {
    hold('c', 1, 1)
    hold('c/r', 1, 1)
    await check('c')
    expect(await usageOf('c', 'r')).to.equal(1)
    hold('c', 2, 2)
    hold('c/r', 2, 2)
    api.pushState('c')
    await until(async () => (await usageOf('c', 'r')) === 2, 'the resource is refreshed')
  })

  it('answers the old value after a gap while it refreshes, and asks only for what is used', async () => {
    // given two cached customers
    hold('c', 1, 1)
    hold('d', 1, 1)
    await check('c')
    await check('d')
    // when the connection breaks and a change is missed
    api.dropConnections()
    hold('c', 2, 2)
    api.changes = []
    await until(async () => (await sidecar.metric('sidecar_real_time_connected')) === 0, 'the break is noticed')
    await connected()
    // then the old value is answered once and the new one soon after
    let open: () => void = () => {}
    api.gate = new Promise((resolve) => {
      open = resolve
    })
    expect(await usageOf('c')).to.equal(1)
    open()
    await until(async () => (await usageOf('c')) === 2, 'the entry is refreshed')
    expect(api.count('entitlementsState')).to.equal(3)
    await check('c')
    expect(api.count('entitlementsState')).to.equal(3)
  })

  it('takes what the platform says after a gap, also of lower versions: it may have lost the last ones', async () => {
    hold('c', 9, 9)
    expect(await usageOf('c')).to.equal(9)
    api.dropConnections()
    hold('c', 4, 4)
    api.changes = []
    await until(async () => (await sidecar.metric('sidecar_real_time_connected')) === 0, 'the break is noticed')
    await connected()
    await until(async () => (await usageOf('c')) === 4, 'the entry is refreshed')
    // and from there on the newer one stays
    api.pushUsage('c', 'api-calls', 6, 6)
    await until(async () => (await usageOf('c')) === 6, 'the usage is changed')
    api.pushUsage('c', 'api-calls', 5, 5)
    await settled()
    expect(await usageOf('c')).to.equal(6)
  })

  it('trusts nothing of before when a change of another epoch of the platform is told', async () => {
    hold('c', 9, 9)
    expect(await usageOf('c')).to.equal(9)
    await settled()
    // when the platform goes on without its last changes, on a connection that lasts
    api.epoch = 'next'
    hold('c', 4, 4)
    api.pushUsage('d', 'api-calls', 1, 10)
    await until(async () => (await usageOf('c')) === 4, 'the entry is refreshed')
    expect(await sidecar.metric('sidecar_real_time_connections_total', 'start="gap"')).to.equal(2)
  })

  it('gets what it missed while it was away for a moment, and refreshes nothing else', async () => {
    // given three cached customers
    for (const customer of ['c', 'd', 'e']) {
      hold(customer, 1, 1)
      await check(customer)
    }
    api.pushUsage('e', 'api-calls', 5, 2)
    await until(async () => (await usageOf('e')) === 5, 'the position is known')
    // when the connection breaks and two changes are missed
    api.dropConnections()
    await until(async () => (await sidecar.metric('sidecar_real_time_connected')) === 0, 'the break is noticed')
    hold('c', 2, 2)
    api.pushState('c')
    hold('d', 3, 3)
    api.pushUsage('d', 'api-calls', 3, 3)
    await connected()
    // then both are fetched without being asked for, and the third one is still vouched for
    await until(() => api.count('entitlementsState') === 5, 'what changed is read again')
    expect([await usageOf('c'), await usageOf('d'), await usageOf('e')]).to.deep.equal([2, 3, 5])
    expect(api.count('entitlementsState')).to.equal(5)
    expect(await sidecar.metric('sidecar_real_time_connections_total', 'start="caught_up"')).to.equal(1)
  })

  it('does not answer what it missed while it was away for longer than an answer may be old', async () => {
    await sidecar.stop()
    sidecar = await runSidecar({ SERVER_API_KEY: api.acceptedKey, API_URL: api.url, REFRESH_AFTER_SECS: '1', MAX_STALENESS_SECS: '1' })
    await connected()
    hold('c', 1, 1)
    await check('c')
    api.pushUsage('c', 'api-calls', 1, 1)
    await settled()
    // given a change that was made while nobody could be heard
    api.acceptsSockets = false
    api.dropConnections()
    await new Promise((resolve) => setTimeout(resolve, 1_200))
    api.acceptsSockets = true
    hold('c', 2, 2)
    api.pushState('c')
    let open: () => void = () => {}
    api.gate = new Promise((resolve) => {
      open = resolve
    })
    // when it is told of it, and cannot read yet to what
    await connected()
    const asked = usageOf('c')
    await new Promise((resolve) => setTimeout(resolve, 50))
    open()
    expect(await asked).to.equal(2)
  })

  it('does not keep the answer of a read over a change that was missed meanwhile', async () => {
    // given a read that has seen the state before the change, and is under way while the connection breaks
    hold('c', 1, 1)
    api.pushState('x')
    await settled()
    const asked = api.count('entitlementsState')
    let open: () => void = () => {}
    api.gate = new Promise((resolve) => {
      open = resolve
    })
    const first = check('c')
    await until(() => api.count('entitlementsState') === asked + 1, 'the read is under way')
    api.dropConnections()
    await until(async () => (await sidecar.metric('sidecar_real_time_connected')) === 0, 'the break is noticed')
    api.gate = Promise.resolve()
    hold('c', 2, 2)
    api.pushState('c')
    await connected()
    // when the old answer arrives at last
    open()
    await first
    // then it is refreshed
    await until(async () => (await usageOf('c')) === 2, 'the change is seen')
  })

  it('reads nothing again while one connection lasts', async () => {
    hold('c', 1, 1)
    for (let n = 0; n < 50; n++) await check('c')
    expect(api.count('entitlementsState')).to.equal(1)
  })

  it('does not trust a connection on which a message could not be read', async () => {
    hold('c', 1, 1)
    await check('c')
    hold('c', 2, 2)
    api.push({ kind: 'STATE', customerId: 'c', resourceId: null, entitlements: {} as never })
    await until(async () => (await usageOf('c')) === 2, 'the entry is refreshed on a new connection')
  })
})

describe('sidecar real-time connection', () => {
  let api: FakeApi
  let judge: FreshnessJudge
  let updates: RealTimeUpdates

  const connect = (apiKey: string, timing: Partial<UpdatesTiming> = {}) => {
    judge = new FreshnessJudge({ refreshAfterMs: 1_000, maxStalenessMs: 1_000 })
    updates = new RealTimeUpdates({
      url: `ws://127.0.0.1:${api.port}/graphql`,
      apiKey: new Secret(apiKey),
      judge,
      states: new StateReader(new RightsPool()),
      onState: () => {},
      onUsage: () => {},
      onUnknown: () => {},
      hearKey: () => {},
      clock: systemClock,
      metrics: new SidecarMetrics(new Registry()),
      log: silentLogger(),
      timing: { shortestRetryMs: 10, ...timing },
    })
  }
  beforeEach(async () => {
    api = await FakeApi.start()
  })
  afterEach(async () => {
    await updates.close()
    await api.stop()
  })

  it('finds a half-open connection by its silence and replaces it', async () => {
    connect(api.acceptedKey, { pingAfterMs: 30, pongWithinMs: 30 })
    await until(() => judge.epoch === 1, 'the connection vouches')
    api.answersPings = false
    await until(() => judge.epoch === 0, 'the silence is noticed')
    api.answersPings = true
    await until(() => judge.epoch === 1, 'a new connection has caught up')
    await until(() => api.listeners === 1, 'the old connection is gone')
  })

  it('keeps a connection that answers', async () => {
    connect(api.acceptedKey, { pingAfterMs: 5, pongWithinMs: 100 })
    await until(() => judge.epoch === 1, 'the connection vouches')
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(judge.epoch).to.equal(1)
    expect(api.connections).to.equal(1)
  })

  it('does not hammer an API that refuses its key', async () => {
    connect('another-key')
    await until(() => api.connections === 1, 'it has tried')
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(api.connections).to.equal(1)
    expect(judge.epoch).to.equal(0)
  })

  it('connects as soon as an API that was away is there', async () => {
    const { port } = api
    await api.stop()
    connect('server-test-key', { longestRetryMs: 50 })
    await new Promise((resolve) => setTimeout(resolve, 100))
    api = await FakeApi.start(port)
    await until(() => judge.epoch === 1, 'the connection vouches')
  })

  it('closes at once, whatever it is doing', async () => {
    connect(api.acceptedKey)
    await updates.close()
    expect(judge.epoch).to.equal(0)
    await until(() => api.listeners === 0, 'no connection is left')
  })
})
