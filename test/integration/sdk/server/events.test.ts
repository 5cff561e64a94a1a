import { expect } from 'chai'
import { type ClientOptions, createClient, type TollgateClient, TollgateError } from '../../../../src/sdk/server/index.js'
import { FakeApi } from '../../../contract/grpc/fake-api.js'
import { until } from '../../../contract/grpc/harness.js'

describe('tracked events of the server SDK', () => {
  let api: FakeApi
  let client: TollgateClient
  let dropped: { keys: string[]; why: string }[]
  let outcomes: unknown[]

  beforeEach(async () => {
    api = await FakeApi.start()
    dropped = []
    outcomes = []
  })
  afterEach(async () => {
    await client.close({ timeoutMs: 50 })
    await api.stop()
  })

  const start = async (eventBuffer: ClientOptions['eventBuffer'] = {}) => {
    client = await createClient({
      apiKey: api.acceptedKey,
      apiUrl: api.url,
      wsEnabled: false,
      timeoutMs: 300,
      eventBuffer: { flushIntervalMs: 20, ...eventBuffer },
      hooks: {
        eventsDropped: ({ events, why, error }) => {
          dropped.push({ keys: events.map((event) => event.idempotencyKey), why })
          outcomes.push((error as TollgateError).details.outcome)
        },
      },
    })
  }
  const event = (idempotencyKey: string) => ({ customerId: 'acme', eventName: 'call', idempotencyKey })
  const events = (count: number) => Array.from({ length: count }, (_, index) => event(`e${index}`))
  const batches = () =>
    api.operations.flatMap(({ variables }) =>
      variables.events ? [variables.events.usageEvents.map(({ idempotencyKey }) => idempotencyKey)] : [],
    )

  it('are sent in batches, in their order', async () => {
    await start({ batchSize: 3 })
    expect(client.trackEvents(events(7))).to.equal(7)
    await client.flush()
    expect(batches()).to.deep.equal([['e0', 'e1', 'e2'], ['e3', 'e4', 'e5'], ['e6']])
    expect(client.figures().bufferedEvents).to.equal(0)
  })

  it('are sent by themselves, with a key where they have none', async () => {
    await start()
    client.trackEvents([{ customerId: 'acme', eventName: 'call' }])
    await until(() => batches().length === 1, 'they are sent')
    expect(batches()[0]![0]).to.match(/^[0-9a-f-]{36}$/)
  })

  it('wait while the API is away, and count once: under the same keys', async () => {
    await start()
    api.next.push('breaks', { status: 503 })
    client.trackEvents(events(2))
    await until(() => client.figures().bufferedEvents === 0, 'they are acknowledged', 5_000)
    expect(new Set(batches().flat())).to.deep.equal(new Set(['e0', 'e1']))
    expect(batches().length).to.be.above(1)
    expect(dropped).to.deep.equal([])
  }).timeout(10_000)

  it('are no more than there is room for, and it is told which were not taken', async () => {
    await start({ maxEvents: 3, flushIntervalMs: 60_000 })
    expect(client.trackEvents(events(5))).to.equal(3)
    expect(dropped).to.deep.equal([{ keys: ['e3', 'e4'], why: 'full' }])
    await client.flush()
    expect(client.trackEvents([event('later')])).to.equal(1)
  })

  it('take no more bytes than they may', async () => {
    await start({ maxBytes: 300, flushIntervalMs: 60_000 })
    expect(client.trackEvents(events(9))).to.be.within(1, 3)
  })

  it('that are refused do not keep the others', async () => {
    await start()
    api.next.push({ code: 'BadUserInput', items: [{ index: 1, code: 'BadUserInput', message: 'no' }] })
    client.trackEvents(events(3))
    await client.flush()
    expect(dropped).to.deep.equal([{ keys: ['e1'], why: 'refused' }])
    expect(batches()).to.have.length(1)
  })

  it('are found by halves when one makes the API refuse all', async () => {
    await start()
    api.next.push({ code: 'BadUserInput' }, { code: 'BadUserInput' })
    client.trackEvents(events(2))
    await client.flush()
    expect(dropped).to.deep.equal([{ keys: ['e0'], why: 'refused' }])
    expect(batches()).to.deep.equal([['e0', 'e1'], ['e0'], ['e1']])
  })

  it('that are refused after an attempt that may have stored them are not told as if it had not', async () => {
    await start()
    api.next.push('breaks')
    api.behaviour = { code: 'BadUserInput' }
    client.trackEvents([event('first')])
    await until(() => dropped.length === 1, 'it is refused', 5_000)
    client.trackEvents([event('second')])
    await until(() => dropped.length === 2, 'the next is too', 5_000)
    expect(dropped).to.deep.equal([
      { keys: ['first'], why: 'refused' },
      { keys: ['second'], why: 'refused' },
    ])
    expect(outcomes).to.deep.equal(['unknown', undefined])
  }).timeout(10_000)

  it('are sent when the client is closed, and those that nobody takes are told', async () => {
    await start({ flushIntervalMs: 60_000 })
    client.trackEvents(events(2))
    await client.close()
    expect(batches()).to.deep.equal([['e0', 'e1']])
    await start({ flushIntervalMs: 60_000 })
    api.behaviour = { status: 503 }
    client.trackEvents([event('left')])
    await client.close({ timeoutMs: 100 })
    expect(dropped).to.deep.equal([{ keys: ['left'], why: 'closed' }])
    expect(client.trackEvents([event('late')])).to.equal(0)
  })

  it('that are none are refused at once, and none is taken', async () => {
    await start({ flushIntervalMs: 60_000 })
    expect(() => client.trackEvents([event('ok'), { ...event('bad'), customerId: '' }])).to.throw('events[1].customerId')
    expect(() => client.trackEvents([{ ...event('bad'), dimensions: { size: Number.NaN } }])).to.throw('dimensions.size')
    for (const size of [1n, { of: 1 }, [1], () => 1] as unknown as number[])
      expect(() => client.trackEvents([event('ok'), { ...event('bad'), dimensions: { size } }]), typeof size)
        .to.throw(TollgateError, 'events[1].dimensions.size')
        .with.property('code', 'INVALID_ARGUMENT')
    expect(client.figures().bufferedEvents).to.equal(0)
  })
})
