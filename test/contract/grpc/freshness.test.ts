import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { at, FakeApi, holding, metered } from './fake-api.js'
import { type Answer, detailsOf, errorOf, type RunningSidecar, runSidecar, until } from './harness.js'

const [cached, strong, unknown] = [1, 2, 7]
const used = (currentUsage: number, version: number) => holding(metered('api-calls', { currentUsage, usageUpdatedAt: at(version) }))

/** `consistency` and `max_staleness_ms` of a question, against an API that tells nobody of changes. */
describe('how fresh an answer of the sidecar is', () => {
  let api: FakeApi
  let sidecar: RunningSidecar

  beforeEach(async () => {
    api = await FakeApi.start()
    sidecar = await runSidecar({
      SERVER_API_KEY: api.acceptedKey,
      API_URL: api.url,
      WS_ENABLED: 'FALSE',
      EDGE_ENABLED: 'TRUE',
      REQUEST_TIMEOUT_MS: '5000',
    })
    api.states.set('acme', used(3, 1))
    expect(await usage()).to.equal(3)
    api.states.set('acme', used(9, 2))
  })
  afterEach(async () => {
    await sidecar.stop()
    await api.stop().catch(() => undefined)
  })

  const ask = (request: object = {}) =>
    sidecar.call('GetMeteredEntitlement', { customer_id: 'acme', feature_id: 'api-calls', options: { requested_usage: 1 }, ...request })
  const usage = async (request: object = {}) => (await ask(request)).entitlement?.current_usage
  const listed = async (request: object = {}) =>
    (await sidecar.call('GetEntitlements', { customer_id: 'acme', ...request })).entitlements.map(
      ({ metered: one }: Answer) => one.current_usage,
    )
  const away = async () => {
    await api.stop()
    await sleep(30)
  }

  it('is that of the cache when the question says nothing, or says so', async () => {
    expect([await usage(), await usage({ consistency: 0 }), await usage({ consistency: cached })]).to.deep.equal([3, 3, 3])
    expect(await listed({ consistency: cached })).to.deep.equal([3])
  })

  it('is that of the platform’s database for a strong question, past the edge, and the cache has it then', async () => {
    const ofEdge = api.edgeReads.length
    expect(await usage({ consistency: strong })).to.equal(9)
    expect([api.strongReads, api.edgeReads.length - ofEdge]).to.deep.equal([1, 0])
    expect(await usage()).to.equal(9)
    api.states.set('acme', used(10, 3))
    expect(await listed({ consistency: strong, max_staleness_ms: 60_000 })).to.deep.equal([10])
    expect(api.strongReads).to.equal(2)
  })

  it('is as the question takes it: what was read longer ago is read anew', async () => {
    expect(await usage({ max_staleness_ms: 60_000 })).to.equal(3)
    await sleep(30)
    expect(await usage({ max_staleness_ms: 10 })).to.equal(9)
    api.states.set('acme', used(10, 3))
    await sleep(30)
    expect(await listed({ max_staleness_ms: 60_000 })).to.deep.equal([9])
    expect(await listed({ max_staleness_ms: 10 })).to.deep.equal([10])
  })

  it('is as the question takes it when the answer of a read is waited for already, which began longer ago', async () => {
    let open = () => {}
    api.gate = new Promise((resolve) => {
      open = resolve
    })
    const reads = api.edgeReads.length
    const early = usage({ max_staleness_ms: 0 })
    await until(() => api.edgeReads.length > reads, 'the first read is under way')
    await sleep(30)
    api.states.set('acme', used(10, 3))
    const late = usage({ max_staleness_ms: 20 })
    await until(() => api.edgeReads.length > reads + 1, 'another read is under way')
    open()
    expect([await early, await late]).to.deep.equal([9, 10])
  })

  it('is not what is cached when the platform is away: the fallback answers, and a list ends with the error', async () => {
    await away()
    for (const freshness of [{ consistency: strong }, { max_staleness_ms: 10 }]) {
      expect(await ask(freshness)).to.deep.include({ is_fallback: true, access_denied_reason: 1 })
      expect(await ask({ ...freshness, options: { fallback: { has_access: true } } })).to.deep.include({
        has_access: true,
        is_fallback: true,
      })
      expect((await errorOf(sidecar.call('GetEntitlements', { customer_id: 'acme', ...freshness }))).code).to.be.oneOf([4, 14])
    }
    expect(await usage({ max_staleness_ms: 60_000 })).to.equal(3)
    expect(await usage()).to.equal(3)
  })

  it('is not what is cached when the platform has had too many strong questions; others are answered as before', async () => {
    api.next.push({ code: 'RateLimitExceeded' })
    expect(await ask({ consistency: strong })).to.deep.include({ is_fallback: true })
    expect(await usage()).to.equal(3)
    expect(await usage({ consistency: strong })).to.equal(9)
  })

  it('is refused when it is none, whatever is cached', async () => {
    const wrong = [
      { request: { consistency: unknown }, field: 'consistency' },
      { request: { max_staleness_ms: -1 }, field: 'max_staleness_ms' },
      { request: { consistency: strong, max_staleness_ms: -1 }, field: 'max_staleness_ms' },
    ]
    for (const { request, field } of wrong)
      for (const method of ['GetMeteredEntitlement', 'GetEntitlement', 'GetEntitlements']) {
        const error = await errorOf(sidecar.call(method, { customer_id: 'acme', feature_id: 'api-calls', ...request }))
        expect(error.code, method).to.equal(3)
        expect(error.details).to.include(field)
        expect(detailsOf(error).info.reason).to.equal('BAD_USER_INPUT')
      }
  })

  it('is nobody’s offline', async () => {
    const offline = await runSidecar({ OFFLINE: 'TRUE' })
    const question = { customer_id: 'acme', feature_id: 'api-calls', consistency: strong }
    expect(await offline.call('GetMeteredEntitlement', question)).to.include({ is_fallback: true })
    expect((await offline.call('GetEntitlements', { customer_id: 'acme', consistency: strong })).entitlements).to.deep.equal([])
    await offline.stop()
  })
})
