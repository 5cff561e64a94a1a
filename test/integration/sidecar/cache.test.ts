import { expect } from 'chai'
import { at, boolean, deniedFor, FakeApi, holding, metered } from '../../contract/grpc/fake-api.js'
import { type Answer, errorOf, type RunningSidecar, runSidecar, until } from '../../contract/grpc/harness.js'

describe('sidecar cache', () => {
  let api: FakeApi
  let sidecar: RunningSidecar

  const start = async (env: Record<string, string> = {}) => {
    sidecar = await runSidecar({ SERVER_API_KEY: api.acceptedKey, API_URL: api.url, WS_ENABLED: 'FALSE', ...env })
  }
  beforeEach(async () => {
    api = await FakeApi.start()
  })
  afterEach(async () => {
    await sidecar.stop()
    await api.stop()
  })

  const check = (customerId: string, resourceId?: string): Promise<Answer> =>
    sidecar.call('GetMeteredEntitlement', { customer_id: customerId, resource_id: resourceId, feature_id: 'api-calls' })
  const usageOf = async (customerId: string, resourceId?: string): Promise<number> =>
    (await check(customerId, resourceId)).entitlement.current_usage ?? 0

  function closeGate(): () => void {
    let open: () => void = () => {}
    api.gate = new Promise((resolve) => {
      open = resolve
    })
    return open
  }

  it('asks the API once for a hundred checks at the same time, and never again', async () => {
    await start()
    api.states.set('c', holding(metered('api-calls')))
    const open = closeGate()
    const checks = Array.from({ length: 100 }, () => check('c'))
    await until(() => api.operations.length === 1, 'the API is asked')
    open()
    for (const answer of await Promise.all(checks)) expect(answer.has_access).to.equal(true)
    await check('c')
    expect(api.operations).to.have.length(1)
    expect(await sidecar.metric('sidecar_cache_lookups_total', 'outcome="hit"')).to.equal(1)
  })

  it('asks for each customer and each resource by itself', async () => {
    await start()
    await Promise.all([check('a'), check('b'), check('a', 'r'), check('a', 'r')])
    expect(api.operations.map(({ variables }) => variables.query)).to.have.deep.members([
      { customerId: 'a', resourceId: null },
      { customerId: 'b', resourceId: null },
      { customerId: 'a', resourceId: 'r' },
    ])
  })

  it('remembers an unknown customer for a short while', async () => {
    await start()
    await Promise.all([check('nobody'), check('nobody')])
    await check('nobody')
    expect(api.operations).to.have.length(1)
  })

  it('reloads what is cached when it is told to', async () => {
    await start()
    api.states.set('c', holding(metered('api-calls', { currentUsage: 1 })))
    expect(await usageOf('c')).to.equal(1)
    api.states.set('c', holding(metered('api-calls', { currentUsage: 2, usageUpdatedAt: at(2) })))
    expect(await usageOf('c')).to.equal(1)
    expect((await sidecar.call('ReloadEntitlements', { customer_id: 'c' })).entitled_entity_exists).to.equal(true)
    expect(await usageOf('c')).to.equal(2)
  })

  it('does not let a read that began before a reload replace what the reload found', async () => {
    await start()
    api.states.set('c', holding(boolean('sso')))
    const openFirst = closeGate()
    const first = check('c')
    await until(() => api.operations.length === 1, 'the first read is under way')
    api.gate = Promise.resolve()
    api.states.set('c', holding(metered('api-calls', { entitlementUpdatedAt: null })))
    await sidecar.call('ReloadEntitlements', { customer_id: 'c' })
    openFirst()
    await first
    expect((await check('c')).has_access).to.equal(true)
    expect(api.operations).to.have.length(2)
  })

  it('stays within its bound of bytes', async () => {
    await start({ CACHE_MAX_SIZE_BYTES: '20000' })
    for (let n = 0; n < 100; n++) {
      api.states.set(`c${n}`, holding(metered('api-calls')))
      await check(`c${n}`)
    }
    expect(await sidecar.metric('sidecar_cache_bytes')).to.be.within(10_000, 20_000)
    const asked = api.operations.length
    await check('c99')
    expect(api.operations).to.have.length(asked)
    await check('c0')
    expect(api.operations).to.have.length(asked + 1)
  })

  it('answers at once from a past usage period, and refreshes behind it', async () => {
    await start()
    api.states.set('c', holding(metered('api-calls', { currentUsage: 10, usagePeriodEnd: new Date(Date.now() + 150).toISOString() })))
    expect(await usageOf('c')).to.equal(10)
    api.states.set('c', holding(metered('api-calls', { currentUsage: 3, usageUpdatedAt: at(2) })))
    await until(async () => (await usageOf('c')) === 0, 'the period is over')
    await until(async () => (await usageOf('c')) === 3, 'the new period is known')
    expect(api.operations).to.have.length(2)
  })

  it("ends usage periods by the API's clock when its own is wrong", async () => {
    await start()
    api.aheadMs = 3_600_000
    const inHalfAnHour = new Date(Date.now() + 1_800_000).toISOString()
    api.states.set('c', holding(metered('api-calls', { currentUsage: 10, usagePeriodEnd: inHalfAnHour })))
    expect(await usageOf('c')).to.equal(0)
  })

  it('asks again past validUntil', async () => {
    await start()
    const validUntil = Date.now() + 150
    api.states.set('c', holding(metered('api-calls', { validUntil })))
    expect((await check('c')).has_access).to.equal(true)
    api.states.set('c', holding(boolean('sso')))
    await until(async () => (await check('c')).access_denied_reason === 7, 'the entitlement is gone')
    expect(api.operations).to.have.length(2)
  })

  describe('without a real-time connection', () => {
    it('refreshes an entry older than REFRESH_AFTER_SECS before it answers', async () => {
      await start({ REFRESH_AFTER_SECS: '1' })
      api.states.set('c', holding(metered('api-calls', { currentUsage: 1 })))
      expect(await usageOf('c')).to.equal(1)
      api.states.set('c', holding(metered('api-calls', { currentUsage: 2, usageUpdatedAt: at(2) })))
      const began = Date.now()
      await until(async () => (await usageOf('c')) === 2, 'the entry is old')
      expect(Date.now() - began).to.be.within(900, 1_300)
    })

    it('answers an old entry when the API is away, and tells its age', async () => {
      await start({ REFRESH_AFTER_SECS: '1' })
      api.states.set('c', holding(metered('api-calls', { currentUsage: 1 })))
      await check('c')
      api.behaviour = 'breaks'
      await new Promise((resolve) => setTimeout(resolve, 1_050))
      expect(await check('c')).to.deep.include({ has_access: true })
      expect(await sidecar.metric('sidecar_oldest_answer_seconds')).to.be.at.least(1)
    })

    it('waits a second at most for an API that hangs, when it has an old answer', async function () {
      this.timeout(5_000)
      await start({ REFRESH_AFTER_SECS: '1' })
      api.states.set('c', holding(metered('api-calls')))
      await check('c')
      api.behaviour = 'hangs'
      await new Promise((resolve) => setTimeout(resolve, 1_050))
      const began = Date.now()
      const answers = await Promise.all([check('c'), check('c')])
      expect(Date.now() - began).to.be.below(1_300)
      const again = Date.now()
      answers.push(await check('c'))
      expect(Date.now() - again).to.be.below(200)
      for (const answer of answers) expect(answer).to.deep.include({ has_access: true })
    })

    it('falls back for an entry older than MAX_STALENESS_SECS when the API is away', async () => {
      await start({ REFRESH_AFTER_SECS: '1', MAX_STALENESS_SECS: '1' })
      api.states.set('c', holding(metered('api-calls')))
      await check('c')
      api.behaviour = 'breaks'
      await new Promise((resolve) => setTimeout(resolve, 1_050))
      expect(await check('c')).to.deep.include({ is_fallback: true, access_denied_reason: 1 })
    })
  })

  describe('in an outage', () => {
    it('answers cached customers, falls back for others within the deadline, and recovers', async () => {
      // given a cached customer
      await start()
      api.states.set('cached', holding(metered('api-calls')))
      await check('cached')
      const { port } = api
      // when the API is gone
      await api.stop()
      const began = Date.now()
      expect((await check('cached')).has_access).to.equal(true)
      for (let n = 0; n < 20; n++) expect(await check(`other-${n}`)).to.deep.include({ is_fallback: true })
      expect(Date.now() - began).to.be.below(1_000)
      expect((await errorOf(sidecar.call('ReportUsage', { customer_id: 'c', feature_id: 'f', value: 1 }))).code).to.equal(14)
      // then it is found again by itself
      api = await FakeApi.start(port)
      api.states.set('other', holding(metered('api-calls')))
      await until(async () => (await check('other')).has_access === true, 'the API is used again')
    })

    it('answers within the deadline of its caller when the API hangs', async () => {
      await start()
      api.behaviour = 'hangs'
      const began = Date.now()
      const answer = await sidecar.call(
        'GetMeteredEntitlement',
        { customer_id: 'c', feature_id: 'f', options: { fallback: { has_access: true } } },
        200,
      )
      expect(answer).to.deep.include({ has_access: true, is_fallback: true })
      expect(Date.now() - began).to.be.below(200)
    })

    it('fails at once after several reads that timed out, instead of hanging each caller', async () => {
      await start({ REQUEST_TIMEOUT_MS: '100' })
      api.behaviour = 'hangs'
      for (let n = 0; n < 5; n++) await check(`c${n}`)
      const began = Date.now()
      for (let n = 0; n < 5; n++) expect(await check(`d${n}`)).to.deep.include({ is_fallback: true })
      expect(Date.now() - began).to.be.below(250)
      expect(await sidecar.metric('sidecar_fallbacks_total', 'cause="timeout"')).to.equal(5)
      expect(await sidecar.metric('sidecar_fallbacks_total', 'cause="unavailable"')).to.equal(5)
    })

    it('keeps the answer of a read whose callers have left', async () => {
      await start()
      api.states.set('c', holding(metered('api-calls')))
      const open = closeGate()
      const left = await sidecar.call('GetMeteredEntitlement', { customer_id: 'c', feature_id: 'api-calls' }, 400)
      expect(left).to.deep.include({ is_fallback: true })
      open()
      await until(async () => (await sidecar.metric('sidecar_cache_entries')) === 1, 'the answer has arrived')
      expect(await check('c')).to.deep.include({ has_access: true })
      expect(api.operations).to.have.length(1)
    })

    it('does not count an unknown customer as an outage', async () => {
      await start()
      for (let n = 0; n < 10; n++) expect(await check(`nobody-${n}`)).to.include({ access_denied_reason: 3 })
      api.states.set('c', deniedFor('NoActiveSubscription'))
      expect(await check('c')).to.include({ access_denied_reason: 6 })
    })
  })
})
