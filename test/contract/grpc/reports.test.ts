import { expect } from 'chai'
import { at, type Behaviour, FakeApi, holding, metered } from './fake-api.js'
import { type Answer, detailsOf, errorOf, type RunningSidecar, runSidecar } from './harness.js'

describe('sidecar reports', () => {
  let api: FakeApi
  let sidecar: RunningSidecar

  beforeEach(async () => {
    api = await FakeApi.start()
    sidecar = await runSidecar({ SERVER_API_KEY: api.acceptedKey, API_URL: api.url, WS_ENABLED: 'FALSE', REQUEST_TIMEOUT_MS: '300' })
  })
  afterEach(async () => {
    await sidecar.stop()
    await api.stop()
  })

  const report = (changes: object = {}) => sidecar.call('ReportUsage', { customer_id: 'c', feature_id: 'api-calls', value: 3, ...changes })

  it('hands a report to the API, and answers what the API answers', async () => {
    const answer = await report({
      resource_id: 'r',
      update_behavior: 2,
      dimensions: { region: { string_value: 'eu' } },
      timestamp: { seconds: 1_767_225_600 },
    })
    const { idempotencyKey, ...input } = api.operations[0]!.variables.input!
    expect(input).to.deep.equal({
      customerId: 'c',
      resourceId: 'r',
      featureId: 'api-calls',
      value: 3,
      updateBehavior: 'SET',
      dimensions: { region: 'eu' },
      createdAt: '2026-01-01T00:00:00.000Z',
    })
    expect(idempotencyKey).to.be.a('string').that.is.not.equal('')
    expect(answer).to.deep.include({
      measurement_id: 'measurement-1',
      customer_id: 'c',
      resource_id: 'r',
      feature_id: 'api-calls',
      current_usage: 3,
    })
    expect(answer.usage_period_start).to.include({ seconds: 1_767_225_600 })
  })

  it('leaves out what the caller did not say', async () => {
    await report()
    expect(api.operations[0]!.variables.input).to.have.all.keys('customerId', 'featureId', 'value', 'idempotencyKey')
  })

  const keysSent = () => api.operations.map(({ variables }) => variables.input!.idempotencyKey)

  it('gives each call a key of its own, or sends that of the caller', async () => {
    await report()
    await report()
    await report({ idempotency_key: 'chosen' })
    const [first, second, third] = keysSent()
    expect(first).to.be.a('string').that.is.not.equal('').and.not.equal(second)
    expect(third).to.equal('chosen')
    expect((await errorOf(report({ idempotency_key: '' }))).code).to.equal(3)
  })

  const passing: Behaviour[] = ['breaks', { status: 502 }, { code: 'Timeout', outcome: 'unknown' }, { code: 'InternalServerError' }]
  for (const behaviour of passing) {
    it(`sends a report again under its key when the API answers ${JSON.stringify(behaviour)}, until it is known`, async () => {
      api.next.push(behaviour, behaviour)
      expect(await report()).to.include({ measurement_id: 'measurement-1' })
      const [key, ...others] = keysSent()
      expect(others).to.deep.equal([key, key])
    })
  }

  it('asks once more on another connection before it gives a report up', async () => {
    api.next.push('hangs')
    expect(await sidecar.call('ReportUsage', { customer_id: 'c', feature_id: 'f', value: 1 }, 400)).to.include({ customer_id: 'c' })
    const [key, ...others] = keysSent()
    expect(others).to.deep.equal([key])
  })

  it('does not take it for certain that nothing was counted when only the last attempt says so', async () => {
    api.next.push('breaks')
    api.behaviour = { code: 'ServiceUnavailable', outcome: 'notCounted' }
    const error = await errorOf(sidecar.call('ReportUsage', { customer_id: 'c', feature_id: 'f', value: 1 }, 300))
    expect(error.code).to.equal(4)
    expect(detailsOf(error).info.reason).to.equal('USAGE_OUTCOME_UNKNOWN')
  })

  it('does not take it for certain either when a later attempt is refused, and says at once what is wrong', async () => {
    api.next.push('breaks')
    api.behaviour = { code: 'CustomerNotFound', message: 'no such customer' }
    const error = await errorOf(report({ idempotency_key: 'chosen' }))
    expect(error.code).to.equal(2)
    expect(error.details).to.contain('no such customer')
    const metadata = { outcome: 'unknown', idempotencyKey: 'chosen' }
    expect(detailsOf(error).info).to.deep.include({ reason: 'USAGE_OUTCOME_UNKNOWN', metadata })
    expect(api.operations).to.have.length(2)
  })

  it('shows a report in the next check', async () => {
    api.states.set('c', holding(metered('api-calls', { usageLimit: 3, currentUsage: 0 })))
    const check = () =>
      sidecar.call('GetMeteredEntitlement', { customer_id: 'c', feature_id: 'api-calls', options: { requested_usage: 1 } })
    expect((await check()).has_access).to.equal(true)
    await report()
    expect(await check()).to.deep.include({ access_denied_reason: 8 })
    expect(api.count('entitlementsState')).to.equal(1)
  })

  it('names no item of a call that has no list', async () => {
    api.behaviour = { code: 'FeatureNotFound', items: [{ index: 0, code: 'FeatureNotFound', message: 'no such feature' }] }
    const error = await errorOf(report())
    expect(error.code).to.equal(5)
    expect(detailsOf(error).info.reason).to.equal('FEATURE_NOT_FOUND')
    expect(detailsOf(error).violations).to.deep.equal([])
  })

  it('does not let the answer of an older report replace a newer usage', async () => {
    api.states.set('c', holding(metered('api-calls', { currentUsage: 8, usageUpdatedAt: at(200) })))
    const usage = async () =>
      (await sidecar.call('GetMeteredEntitlement', { customer_id: 'c', feature_id: 'api-calls' })).entitlement.current_usage
    expect(await usage()).to.equal(8)
    await report()
    expect(await usage()).to.equal(8)
  })

  const errors: Array<{ api: Behaviour; code: number; reason: string }> = [
    { api: { code: 'CustomerNotFound' }, code: 5, reason: 'CUSTOMER_NOT_FOUND' },
    { api: { code: 'FeatureNotFound' }, code: 5, reason: 'FEATURE_NOT_FOUND' },
    { api: { code: 'CannotReportUsageForEntitlementWithMeterError' }, code: 9, reason: 'CANNOT_REPORT_USAGE_FOR_ENTITLEMENT_WITH_METER' },
    { api: { code: 'EntityIsArchivedError' }, code: 9, reason: 'ENTITY_IS_ARCHIVED' },
    { api: { code: 'BadUserInput' }, code: 3, reason: 'BAD_USER_INPUT' },
    { api: { code: 'Unauthenticated' }, code: 16, reason: 'UNAUTHENTICATED' },
    { api: { code: 'RateLimitExceeded' }, code: 8, reason: 'RATE_LIMIT_EXCEEDED' },
    { api: { code: 'Timeout', outcome: 'notCounted' }, code: 4, reason: 'TIMEOUT' },
    { api: { code: 'ServiceUnavailable', outcome: 'notCounted' }, code: 14, reason: 'SERVICE_UNAVAILABLE' },
    { api: { code: 'InternalServerError', outcome: 'notCounted' }, code: 13, reason: 'INTERNAL_SERVER' },
  ]
  for (const { api: behaviour, code, reason } of errors) {
    it(`answers status ${code} (${reason}) when the API answers ${JSON.stringify(behaviour)}`, async () => {
      api.behaviour = behaviour
      const error = await errorOf(report())
      expect(error.code).to.equal(code)
      expect(detailsOf(error).info).to.include({ reason, domain: 'tollgate' })
      expect(api.operations).to.have.length(1)
    })
  }

  const unknowns: Behaviour[] = [
    { code: 'Timeout' },
    { code: 'Timeout', outcome: 'unknown' },
    { code: 'ServiceUnavailable' },
    { code: 'SomethingOfALaterVersion' },
    { status: 503 },
    'breaks',
    'hangs',
  ]
  for (const behaviour of unknowns) {
    it(`does not know what became of a report, and says its key, when the API goes on to answer ${JSON.stringify(behaviour)}`, async () => {
      api.behaviour = behaviour
      // then: DEADLINE_EXCEEDED at the deadline of the caller
      const chosen = { customer_id: 'c', feature_id: 'f', value: 1, idempotency_key: 'chosen' }
      const late = await errorOf(sidecar.call('ReportUsage', chosen, 300))
      expect(late.code).to.equal(4)
      const known = { outcome: 'unknown', idempotencyKey: 'chosen' }
      expect(detailsOf(late).info).to.deep.include({ reason: 'USAGE_OUTCOME_UNKNOWN', domain: 'tollgate', metadata: known })
      // and: UNKNOWN where the caller has none
      api.operations.splice(0)
      const error = await errorOf(sidecar.call('ReportUsage', { customer_id: 'c', feature_id: 'f', value: 1 }, Number.POSITIVE_INFINITY))
      expect(error.code).to.equal(2)
      expect(detailsOf(error).info.metadata.idempotencyKey).to.equal(keysSent()[0])
      expect(api.operations.length).to.be.within(2, 4)
    })
  }

  it('answers UNAVAILABLE at once when nobody is there to take it, which is certain', async () => {
    await api.stop()
    const began = Date.now()
    const error = await errorOf(report())
    expect(error.code).to.equal(14)
    expect(detailsOf(error).info).to.deep.include({ reason: 'UNAVAILABLE', metadata: { outcome: 'notCounted' } })
    expect(Date.now() - began).to.be.below(200)
  })

  it('answers within the deadline of its caller', async () => {
    api.behaviour = 'hangs'
    const began = Date.now()
    expect((await errorOf(sidecar.call('ReportUsage', { customer_id: 'c', feature_id: 'f', value: 1 }, 100))).code).to.equal(4)
    expect(Date.now() - began).to.be.below(250)
  })

  describe('in bulk', () => {
    const bulk = (...usages: object[]) =>
      sidecar.call('ReportUsageBulk', {
        usages: usages.map((usage) => ({ customer_id: 'c', feature_id: 'api-calls', value: 3, ...usage })),
      })

    it('hands all reports to the API in one call, each under a key of its own, and answers them in their order', async () => {
      const { usages } = await bulk({}, { customer_id: 'd', resource_id: 'r', value: 0.5, update_behavior: 2 })
      expect(usages.map((usage: Answer) => [usage.measurement_id, usage.customer_id, usage.current_usage])).to.deep.equal([
        ['measurement-1', 'c', 3],
        ['measurement-2', 'd', 0.5],
      ])
      expect(api.operations.map(({ name }) => name)).to.deep.equal(['reportUsageBulk'])
      const sent = api.operations[0]!.variables.input!.usages!
      expect(sent[1]).to.deep.include({ customerId: 'd', resourceId: 'r', value: 0.5, updateBehavior: 'SET' })
      expect(new Set(sent.map(({ idempotencyKey }) => idempotencyKey)).size).to.equal(2)
    })

    it('shows all reports in the next checks', async () => {
      api.states.set('c', holding(metered('api-calls', { usageLimit: 3 })))
      const check = () =>
        sidecar.call('GetMeteredEntitlement', { customer_id: 'c', feature_id: 'api-calls', options: { requested_usage: 1 } })
      expect((await check()).has_access).to.equal(true)
      await bulk({})
      expect(await check()).to.deep.include({ access_denied_reason: 8 })
    })

    it('sends nothing when one report is broken, and names each that is', async () => {
      const error = await errorOf(bulk({}, { value: Number.NaN }, { customer_id: '' }))
      expect(error.code).to.equal(3)
      expect(detailsOf(error).violations.map(({ field }) => field)).to.deep.equal(['usages[1]', 'usages[2]'])
      expect(api.operations).to.deep.equal([])
    })

    it('names the reports that the API refused', async () => {
      api.behaviour = { code: 'BadUserInput', items: [{ index: 1, code: 'FeatureNotFound', message: 'no such feature' }] }
      const error = await errorOf(bulk({}, {}))
      expect(detailsOf(error).violations.map(({ field }) => field)).to.deep.equal(['usages[1]'])
    })

    it('makes keys of that of the call for reports that have none, and names it when the outcome is unknown', async () => {
      api.behaviour = 'breaks'
      const usage = { customer_id: 'c', feature_id: 'f', value: 1 }
      const usages = [usage, { ...usage, idempotency_key: 'chosen' }, usage]
      const error = await errorOf(sidecar.call('ReportUsageBulk', { usages }, 200))
      expect(error.code).to.equal(4)
      const { reason, metadata } = detailsOf(error).info
      expect(reason).to.equal('USAGE_OUTCOME_UNKNOWN')
      const key = metadata.idempotencyKey
      for (const { variables } of api.operations)
        expect(variables.input!.usages!.map(({ idempotencyKey }) => idempotencyKey)).to.deep.equal([`${key}:0`, 'chosen', `${key}:2`])
      expect(api.operations.length).to.be.above(1)
    })

    it('answers nothing for nothing, and asks nobody', async () => {
      expect((await bulk()).usages).to.deep.equal([])
      expect(api.operations).to.deep.equal([])
    })
  })

  for (const value of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
    it(`refuses a usage of ${value} without asking the API`, async () => {
      expect((await errorOf(report({ value }))).code).to.equal(3)
      expect(api.operations).to.deep.equal([])
    })
  }

  it('hands events over with their dimensions, in one call', async () => {
    const event = {
      event_name: 'completion',
      customer_id: 'c',
      idempotency_key: 'k',
      resource_id: 'r',
      timestamp: { seconds: 1_767_225_600, nanos: 5_000_000 },
    }
    const dimensions = { tokens: { number_value: 0 }, model: { string_value: '' }, cached: { boolean_value: false } }
    await sidecar.call('ReportEvents', {
      events: [
        { ...event, dimensions },
        { event_name: 'e', customer_id: 'd', idempotency_key: 'l' },
      ],
    })
    expect(api.operations.map(({ variables }) => variables.events!.usageEvents)).to.deep.equal([
      [
        {
          eventName: 'completion',
          customerId: 'c',
          resourceId: 'r',
          idempotencyKey: 'k',
          dimensions: { tokens: 0, model: '', cached: false },
          timestamp: '2026-01-01T00:00:00.005Z',
        },
        { eventName: 'e', customerId: 'd', idempotencyKey: 'l', dimensions: {} },
      ],
    ])
  })

  it('names every refused event by its place in the call, its own refusals and those of the API', async () => {
    api.behaviour = { code: 'BadUserInput', items: [{ index: 1, code: 'CustomerNotFound', message: 'no such customer' }] }
    const event = (key: string, number_value: number) => ({
      event_name: 'e',
      customer_id: 'c',
      idempotency_key: key,
      dimensions: { n: { number_value } },
    })
    const error = await errorOf(sidecar.call('ReportEvents', { events: [event('a', 1), event('b', Number.NaN), event('c', 2)] }))
    expect(error.code).to.equal(3)
    expect(api.operations[0]!.variables.events!.usageEvents.map((e) => e.idempotencyKey)).to.deep.equal(['a', 'c'])
    const { violations } = detailsOf(error)
    expect(violations.map(({ field, reason }: Answer) => [field, reason])).to.deep.equal([
      ['events[1]', 'BAD_USER_INPUT'],
      ['events[2]', 'CUSTOMER_NOT_FOUND'],
    ])
  })

  it('keeps the error details small enough for a trailer, however many events were refused', async () => {
    const items = Array.from({ length: 1000 }, (_, index) => ({ index, code: 'BadUserInput', message: 'x'.repeat(1000) }))
    api.behaviour = { code: 'BadUserInput', items }
    const events = items.map(({ index }) => ({ event_name: 'e', customer_id: 'c', idempotency_key: String(index) }))
    const error = await errorOf(sidecar.call('ReportEvents', { events }))
    expect(error.code).to.equal(3)
    expect(error.details).to.match(/^1000 of 1000 events/)
  })

  it('sends events again that may not have been stored, and does not know it in the end', async () => {
    api.next.push('breaks', { code: 'Timeout', outcome: 'unknown' })
    const send = () => sidecar.call('ReportEvents', { events: [{ event_name: 'e', customer_id: 'c', idempotency_key: 'k' }] }, 400)
    await send()
    expect(api.count('reportEvent')).to.equal(3)
    api.behaviour = { status: 502 }
    const error = await errorOf(send())
    expect(error.code).to.equal(4)
    const metadata = { outcome: 'unknown', idempotencyKey: 'k' }
    expect(detailsOf(error).info).to.deep.include({ reason: 'USAGE_OUTCOME_UNKNOWN', metadata })
  })

  it('tells whether a customer exists when it reloads', async () => {
    api.states.set('c', holding())
    api.states.set('gone', { accessDeniedReason: 'CustomerIsArchived', entitlements: [] })
    const exists = async (request: object) => (await sidecar.call('ReloadEntitlements', request)).entitled_entity_exists ?? false
    expect(await exists({ customer_id: 'c' })).to.equal(true)
    expect(await exists({ customer_id: 'gone' })).to.equal(true)
    expect(await exists({ customer_id: 'x' })).to.equal(false)
    expect(await exists({ customer_id: 'c', resource_id: 'x' })).to.equal(false)
  })

  it('answers an error when it could not reload', async () => {
    api.behaviour = { code: 'Unauthenticated' }
    expect((await errorOf(sidecar.call('ReloadEntitlements', { customer_id: 'c' }))).code).to.equal(16)
  })
})
