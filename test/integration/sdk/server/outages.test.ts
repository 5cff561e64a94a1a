import { expect } from 'chai'
import { type ClientOptions, createClient, type TollgateClient, TollgateError } from '../../../../src/sdk/server/index.js'
import { at, boolean, FakeApi, holding, metered } from '../../../contract/grpc/fake-api.js'
import { until } from '../../../contract/grpc/harness.js'

const usage = { customerId: 'acme', featureId: 'api-calls', value: 1 }
const failureOf = (work: Promise<unknown>) => work.then(() => null).catch((error: TollgateError) => error)

describe('server SDK', () => {
  let api: FakeApi
  let client: TollgateClient | undefined

  beforeEach(async () => {
    api = await FakeApi.start()
    api.states.set('acme', holding(boolean('sso'), metered('api-calls', { usageLimit: 10, currentUsage: 4 })))
  })
  afterEach(async () => {
    await client?.close()
    client = undefined
    await api.stop()
  })

  const start = async (options: Partial<ClientOptions> = {}): Promise<TollgateClient> => {
    client = await createClient({ apiKey: api.acceptedKey, apiUrl: api.url, edgeEnabled: false, wsEnabled: false, ...options })
    return client
  }
  const check = (options: object = {}) => client!.getMeteredEntitlement({ customerId: 'acme', featureId: 'api-calls', ...options })
  const reads = () => api.count('entitlementsState')

  describe('falls back', () => {
    const unanswered = { hasAccess: false, isFallback: true, accessDeniedReason: 'UNKNOWN', entitlement: null }

    it('when nobody answers: to that of the call, else that of the client, else to no', async () => {
      const told: unknown[] = []
      await start({
        timeoutMs: 300,
        entitlementsFallback: { sso: { hasAccess: true }, 'api-calls': { hasAccess: true, usageLimit: 5 } },
        hooks: { fallback: (facts) => void told.push(facts) },
      })
      await api.stop()
      expect(await check()).to.deep.include({ hasAccess: true, isFallback: true, accessDeniedReason: null })
      expect((await check()).entitlement).to.deep.include({ usageLimit: 5, currentUsage: 0, feature: null })
      expect(await check({ fallback: { hasAccess: false } })).to.deep.include({ hasAccess: false, isFallback: true })
      expect(await client!.getNumericEntitlement({ customerId: 'acme', featureId: 'other' })).to.deep.equal(unanswered)
      expect(told[0]).to.deep.equal({ customerId: 'acme', featureId: 'api-calls', cause: 'unavailable' })
      expect(client!.figures().fallbacks.unavailable).to.equal(4)
    })

    for (const [behaviour, cause] of [
      ['hangs', 'timeout'],
      [{ status: 502 }, 'unavailable'],
      [{ code: 'InternalServerError' }, 'error'],
    ] as const)
      it(`when the API ${typeof behaviour === 'string' ? behaviour : `answers ${JSON.stringify(behaviour)}`}`, async () => {
        await start({ timeoutMs: 200 })
        api.behaviour = behaviour
        expect(await check()).to.deep.equal(unanswered)
        expect(client!.figures().fallbacks[cause]).to.equal(1)
      })

    it('on a feature of another type, and says so', async () => {
      await start()
      const answer = await client!.getBooleanEntitlement({ customerId: 'acme', featureId: 'api-calls', fallback: { hasAccess: true } })
      expect(answer).to.deep.include({ hasAccess: true, isFallback: true, accessDeniedReason: 'FEATURE_TYPE_MISMATCH' })
    })

    it('offline, and sends nothing', async () => {
      await start({ apiKey: '', offline: true, entitlementsFallback: { sso: { hasAccess: true } } })
      expect(await client!.getBooleanEntitlement({ customerId: 'acme', featureId: 'sso' })).to.deep.include({
        hasAccess: true,
        isFallback: true,
      })
      expect(await check({ consistency: 'strong' })).to.deep.equal(unanswered)
      expect(await client!.getEntitlements({ customerId: 'acme' })).to.deep.equal({ entitlements: [], accessDeniedReason: null })
      expect(await client!.reportUsage(usage)).to.deep.include({ measurementId: '', currentUsage: null })
      await client!.reportEvent({ customerId: 'acme', eventName: 'call' })
      expect(client!.trackEvents([{ customerId: 'acme', eventName: 'call' }])).to.equal(1)
      await client!.flush()
      expect(await client!.reloadEntitlements({ customerId: 'acme' })).to.equal(false)
      expect(api.connections).to.equal(0)
    })

    it('not for who is unknown: that is an answer', async () => {
      await start({ entitlementsFallback: { 'api-calls': { hasAccess: true } } })
      const answer = await client!.getMeteredEntitlement({ customerId: 'nobody', featureId: 'api-calls' })
      expect(answer).to.deep.equal({ hasAccess: false, isFallback: false, accessDeniedReason: 'CUSTOMER_NOT_FOUND', entitlement: null })
    })
  })

  it('answers what it knew while the API is away, unless the caller wants nothing so old', async () => {
    await start({ timeoutMs: 300, refreshAfterMs: 1 })
    expect(await check()).to.deep.include({ hasAccess: true })
    await api.stop()
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(await check()).to.deep.include({ hasAccess: true, isFallback: false })
    expect(await check({ maxStalenessMs: 60_000 })).to.deep.include({ isFallback: false })
    expect(await check({ maxStalenessMs: 10 })).to.deep.include({ hasAccess: false, isFallback: true })
    expect(await check({ consistency: 'strong' })).to.deep.include({ isFallback: true })
  })

  it('reads anew for who asks for it, and for nobody else', async () => {
    await start({ refreshAfterMs: 60_000 })
    await check()
    await check({ maxStalenessMs: 10_000 })
    expect(reads()).to.equal(1)
    api.states.set('acme', holding(metered('api-calls', { currentUsage: 9, usageUpdatedAt: at(2) })))
    expect((await check({ consistency: 'strong' })).entitlement).to.include({ currentUsage: 9 })
    expect((await check()).entitlement).to.include({ currentUsage: 9 })
    expect(reads()).to.equal(2)
    await check({ maxStalenessMs: 0 })
    expect(reads()).to.be.within(2, 3)
  })

  it('is told changes, and goes on from where it was after a break', async () => {
    await start({ wsEnabled: true })
    await until(() => client!.figures().isRealTime, 'changes are pushed')
    await check({ maxStalenessMs: 0 })
    api.pushUsage('acme', 'api-calls', 7, 5)
    await until(async () => (await check({ maxStalenessMs: 0 })).entitlement?.currentUsage === 7, 'the usage is known')
    expect(reads()).to.equal(1)
    api.dropConnections()
    await until(() => !client!.figures().isRealTime, 'the break is noticed')
    await until(() => client!.figures().isRealTime, 'the connection is back')
    await check()
    expect(reads()).to.equal(1)
  })

  it('is not told to forget what it has by a change that came late', async () => {
    await start({ wsEnabled: true })
    await until(() => client!.figures().isRealTime, 'changes are pushed')
    await check()
    const nothing = { kind: 'STATE', customerId: 'acme', resourceId: null, accessDeniedReason: 'NoActiveSubscription', entitlements: [] }
    api.push({ ...nothing, version: Date.parse(at(0)) })
    api.pushUsage('acme', 'api-calls', 5, 5)
    await until(async () => (await check()).entitlement?.currentUsage === 5, 'both have come')
    api.push({ ...nothing, version: Date.parse(at(9)) })
    await until(async () => (await check()).accessDeniedReason === 'NO_ACTIVE_SUBSCRIPTION', 'a later one counts')
  })

  it('tells once that the key is refused', async () => {
    let told = 0
    await start({ apiKey: 'another', hooks: { keyRefused: () => void told++ } })
    for (let n = 0; n < 2; n++) expect(await check()).to.deep.include({ isFallback: true })
    expect(told).to.equal(1)
  })

  it('refuses options that are none, and names all of them', async () => {
    const wrong = { apiKey: '', apiUrl: 'localhost', wsUrl: 'http://localhost', timeoutMs: 0, eventBuffer: { batchSize: 2_000 } }
    const failure = await failureOf(start(wrong))
    expect(failure).to.be.instanceOf(TollgateError)
    for (const name of ['apiKey', 'apiUrl', 'wsUrl', 'timeoutMs', 'batchSize']) expect(failure!.message).to.include(`${name} `)
  })

  it('refuses what is no question', async () => {
    await start()
    for (const question of [
      { customerId: '' },
      { featureId: ' ' },
      { resourceId: 'a\n' },
      { requestedUsage: -1 },
      { customerId: 'acme\0r' },
    ]) {
      const failure = await failureOf(check(question))
      expect(failure, JSON.stringify(question)).to.be.instanceOf(TollgateError).and.to.include({ code: 'INVALID_ARGUMENT' })
    }
    await check()
    expect(await failureOf(check({ requestedUsage: Number.NaN }))).to.include({ code: 'INVALID_ARGUMENT' })
  })

  describe('reports', () => {
    const sentKeys = () => api.operations.flatMap(({ variables }) => variables.input?.idempotencyKey ?? [])

    it('are refused, and not sent, with dimensions that JSON does not have', async () => {
      await start()
      for (const size of [1n, Number.NaN, { of: 1 }] as unknown as number[]) {
        const failure = await failureOf(client!.reportUsage({ ...usage, dimensions: { size } }))
        expect(failure, typeof size).to.include({ code: 'INVALID_ARGUMENT' })
      }
      expect(sentKeys()).to.deep.equal([])
    })

    it('once more what was not counted, under the same key', async () => {
      await start()
      api.next.push({ status: 503 }, 'breaks')
      const reported = await client!.reportUsage(usage)
      expect(reported).to.deep.include({ customerId: 'acme', currentUsage: 1 })
      expect(new Set(sentKeys()).size).to.equal(1)
      expect(sentKeys()).to.have.length(3)
    })

    it('and says that nothing was counted when nobody was there', async () => {
      await start({ timeoutMs: 300 })
      await api.stop()
      const failure = await failureOf(client!.reportUsage({ ...usage, idempotencyKey: 'chosen' }))
      expect(failure).to.be.instanceOf(TollgateError).and.to.include({ code: 'UNAVAILABLE' })
      expect(failure!.usage).to.deep.equal({ outcome: 'notCounted', idempotencyKeys: ['chosen'] })
    })

    it('and never says so when it may have been counted', async () => {
      await start({ timeoutMs: 300 })
      api.behaviour = 'hangs'
      const one = await failureOf(client!.reportUsage(usage))
      expect(one!.usage).to.deep.equal({ outcome: 'unknown', idempotencyKeys: [sentKeys()[0]] })
      // Away afterwards: what was sent before may be counted still.
      api.next.push('breaks')
      const some = client!.reportUsageBulk([usage, { ...usage, idempotencyKey: 'b' }])
      await until(() => api.count('reportUsageBulk') > 0, 'it is sent')
      await api.stop()
      const failure = await failureOf(some)
      expect(failure!.usage).to.include({ outcome: 'unknown' })
      expect(failure!.usage!.idempotencyKeys).to.have.length(2)
    })

    it('nor when it is refused after an attempt that nobody answered', async () => {
      await start()
      api.next.push('breaks')
      api.behaviour = { code: 'FeatureNotFound', message: 'No feature api-calls' }
      const failure = await failureOf(client!.reportUsage({ ...usage, idempotencyKey: 'chosen' }))
      expect(failure).to.include({ code: 'UNKNOWN', reason: 'USAGE_OUTCOME_UNKNOWN' })
      expect(failure!.usage).to.deep.equal({ outcome: 'unknown', idempotencyKeys: ['chosen'] })
    })

    it('and says that a refusal was not counted', async () => {
      await start()
      api.behaviour = { code: 'FeatureNotFound', message: 'No feature api-calls' }
      const failure = await failureOf(client!.reportUsage(usage))
      expect(failure).to.include({ code: 'NOT_FOUND', reason: 'FEATURE_NOT_FOUND', message: 'No feature api-calls' })
      expect(failure!.usage).to.include({ outcome: 'notCounted' })
    })

    it('and counts in its checks what is under way, when asked to', async () => {
      await start({ optimisticUsage: true, timeoutMs: 1_000 })
      const used = async () => (await check()).entitlement?.currentUsage
      expect(await used()).to.equal(4)
      let open = () => {}
      api.gate = new Promise((resolve) => (open = resolve))
      api.next.push({ code: 'FeatureNotFound' })
      const refused = failureOf(client!.reportUsage({ ...usage, value: 6 }))
      expect(await used()).to.equal(10)
      expect(await check({ requestedUsage: 1 })).to.deep.include({
        hasAccess: false,
        accessDeniedReason: 'REQUESTED_USAGE_EXCEEDING_LIMIT',
      })
      open()
      await refused
      expect(await used()).to.equal(4)
    })

    it('and asks anew after what may have changed the usage', async () => {
      await start()
      await check()
      api.states.set('acme', holding(metered('api-calls', { currentUsage: 8, usageUpdatedAt: at(3) })))
      await client!.reportEvent({ customerId: 'acme', eventName: 'call', dimensions: { region: 'eu' } })
      expect((await check()).entitlement).to.include({ currentUsage: 8 })
      expect(reads()).to.equal(2)
    })
  })
})
