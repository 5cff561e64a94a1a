import { once } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import { expect } from 'chai'
import { Redis } from 'ioredis'
import type { WebSocket } from 'ws'
import type { Entitlement, EntitlementState } from '../../../../src/entitlement/rules/state.js'
import { fromText } from '../../../../src/kernel/decimal.js'
import { type ChangeMessage, changeChannel } from '../../../../src/updates/wire/change-message.js'
import { testRedisUrl } from '../../../support/redis.js'
import { type FrontDoor, openFrontDoor, openTwin } from '../front-door.js'
import { TestClient } from './test-client.js'

const usageSubscription = `subscription { usageUpdated {
  usage { customerId resourceId featureId currentUsage usagePeriodStart usagePeriodEnd nextResetDate }
  entitlement { isGranted accessDeniedReason usageLimit currentUsage usagePeriodEnd usageUpdatedAt entitlementUpdatedAt feature { refId } } } }`
const stateSubscription =
  'subscription { entitlementsUpdated { customerId resourceId accessDeniedReason entitlements { isGranted validUntil feature { refId } } } }'

describe('live updates', () => {
  let door: FrontDoor
  let redis: Redis
  const sockets: WebSocket[] = []

  before(async function () {
    this.timeout(20_000)
    door = await openFrontDoor()
    redis = new Redis(testRedisUrl())
  })
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.terminate()
  })
  after(async () => {
    redis.disconnect()
    expect(await door.close()).to.deep.equal([])
  })

  const metric = async (name: string) => Number(new RegExp(`^${name}\\S* (\\d+)`, 'm').exec(await door.life.metrics.metrics())?.[1] ?? 0)
  const publish = (change: Partial<ChangeMessage>) =>
    redis.publish(
      changeChannel(door.queuePrefix, door.environmentId),
      JSON.stringify({
        v: 1,
        id: 'm',
        environmentId: door.environmentId,
        customerId: 'a',
        kind: 'usage',
        version: 5,
        timestamp: 5,
        ...change,
      }),
    )
  const usageChange = (currentUsage: string, customerId = 'a'): Partial<ChangeMessage> => ({
    kind: 'usage',
    customerId,
    usage: { featureId: 'calls', usage: usageOf(currentUsage), entitlement: entitlementOf(currentUsage), accessVersion: 4 },
  })

  async function open(url = door.url): Promise<TestClient> {
    const client = new TestClient(url)
    sockets.push(client.socket)
    await once(client.socket, 'open')
    return client
  }

  async function connect(headers: Record<string, string> = { 'X-API-KEY': door.serverKey }, url?: string): Promise<TestClient> {
    const client = await open(url)
    client.send({ type: 'connection_init', payload: { headers } })
    expect(await client.next()).to.deep.equal({ type: 'connection_ack' })
    return client
  }

  async function closedWith(headers: Record<string, string>): Promise<[number, string]> {
    const client = await open()
    client.send({ type: 'connection_init', payload: { headers } })
    const [code, reason] = await once(client.socket, 'close')
    return [code, String(reason)]
  }

  it('send a usage with times in epoch milliseconds, and the entitlement with ISO times', async () => {
    const client = await connect()
    await client.subscribe('1', usageSubscription)
    await publish(usageChange('7.5'))
    expect(await client.next()).to.deep.equal({
      id: '1',
      type: 'next',
      payload: {
        data: {
          usageUpdated: {
            usage: {
              customerId: 'a',
              resourceId: null,
              featureId: 'calls',
              currentUsage: 7.5,
              usagePeriodStart: periodStart,
              usagePeriodEnd: periodEnd,
              nextResetDate: periodEnd,
            },
            entitlement: {
              isGranted: true,
              accessDeniedReason: null,
              usageLimit: 10,
              currentUsage: 7.5,
              usagePeriodEnd: new Date(periodEnd).toISOString(),
              usageUpdatedAt: new Date(5).toISOString(),
              entitlementUpdatedAt: new Date(4).toISOString(),
              feature: { refId: 'calls' },
            },
          },
        },
      },
    })
  })

  it('send a whole state, and nothing of the other kind', async () => {
    const client = await connect()
    await client.subscribe('s', stateSubscription)
    await publish(usageChange('1'))
    await publish({ kind: 'entitlements', customerId: 'b', resourceId: 'r', state: { ...stateOf('b'), resourceId: 'r' } })
    expect(await client.next()).to.deep.include({
      id: 's',
      payload: {
        data: {
          entitlementsUpdated: {
            customerId: 'b',
            resourceId: 'r',
            accessDeniedReason: null,
            entitlements: [{ isGranted: true, validUntil: null, feature: { refId: 'calls' } }],
          },
        },
      },
    })
  })

  it('send both in their newer forms', async () => {
    const client = await connect()
    const usageFields =
      'customerId resourceId entitlementReference { id type } usage { currentUsage usagePeriodStart usagePeriodEnd usageUpdatedAt }'
    await client.subscribe('u', `subscription { usageUpdatedV2 { ${usageFields} } }`)
    await client.subscribe(
      's',
      'subscription { entitlementsUpdatedV2 { customerId entitlements { __typename ... on FeatureEntitlement { isGranted validUntil feature { refId } } } } }',
    )
    const validUntil = periodEnd
    await publish(usageChange('7.5'))
    const usage = {
      currentUsage: 7.5,
      usagePeriodStart: new Date(periodStart).toISOString(),
      usagePeriodEnd: new Date(periodEnd).toISOString(),
      usageUpdatedAt: new Date(5).toISOString(),
    }
    const entitlementReference = { id: 'calls', type: 'FEATURE' }
    expect((await client.next()).payload).to.deep.equal({
      data: { usageUpdatedV2: { customerId: 'a', resourceId: null, entitlementReference, usage } },
    })
    await publish({ kind: 'entitlements', state: { ...stateOf('a'), entitlements: [{ ...entitlementOf('1'), validUntil }] } })
    const entitlement = { isGranted: true, validUntil: new Date(validUntil).toISOString(), feature: { refId: 'calls' } }
    expect((await client.next()).payload).to.deep.equal({
      data: { entitlementsUpdatedV2: { customerId: 'a', entitlements: [{ __typename: 'FeatureEntitlement', ...entitlement }] } },
    })
  })

  it('tell of resources only who asks where it is said', async () => {
    const told = new Map<string, string[]>()
    const documents: Record<string, string> = {
      state: 'entitlementsUpdated { customerId accessDeniedReason }',
      // Says whose each entitlement is, and not whose the message is.
      inside: 'entitlementsUpdated { customerId entitlements { resourceId } }',
      stateOfAll: 'entitlementsUpdated { customerId ...Place } } fragment Place on EntitlementsUpdated { place: resourceId',
      stateV2: 'entitlementsUpdatedV2 { customerId }',
      stateV2OfAll: 'entitlementsUpdatedV2 { customerId ... on EntitlementsUpdatedV2 { resourceId } }',
      usage: 'usageUpdated { usage { customerId } entitlement { resourceId } }',
      usageOfAll: 'usageUpdated { usage { customerId resourceId } }',
      usageV2: 'usageUpdatedV2 { customerId usage { currentUsage } }',
      usageV2OfAll: 'usageUpdatedV2 { customerId resourceId }',
    }
    const client = await connect()
    for (const [id, fields] of Object.entries(documents)) await client.subscribe(id, `subscription { ${fields} }`)
    const both = async (customerId: string, resourceId?: string) => {
      await publish({ ...usageChange('1', customerId), ...(resourceId && { resourceId }) })
      await publish({
        kind: 'entitlements',
        customerId,
        ...(resourceId && { resourceId }),
        state: { ...stateOf(customerId), resourceId: resourceId ?? null },
      })
    }
    await both('a', 'r')
    await both('b')
    // 4 documents hear of the resource, and all 9 of the customer.
    for (let heard = 0; heard < 4 + 9; heard++) {
      const { id, payload } = (await client.next()) as { id: string; payload: unknown }
      told.set(id, [...(told.get(id) ?? []), ...[...JSON.stringify(payload).matchAll(/"customerId":"(\w)"/g)].map(([, of]) => of!)])
    }
    const heard = Object.fromEntries([...told].map(([id, of]) => [id, of.join('')]))
    expect(heard).to.deep.equal(Object.fromEntries(Object.keys(documents).map((id) => [id, id.endsWith('OfAll') ? 'ab' : 'b'])))
  })

  it('accept who listens to balances of credits, and tell nothing', async () => {
    const client = await connect()
    await client.subscribe(
      'c',
      'subscription { creditBalanceUpdated { customerId resourceId currentBalance currency { displayName units { plural } } } }',
    )
    await client.subscribe('s', stateSubscription)
    for (const kind of ['usage', 'package'] as const) await publish({ ...usageChange('1'), kind })
    await publish({ kind: 'entitlements', state: stateOf('a') })
    expect(await client.next()).to.include({ id: 's', type: 'next' })
  })

  it('tell which versions were published, and not of other changes of the catalog', async () => {
    const client = await connect()
    await client.subscribe('p', 'subscription { packagePublished { environmentId packageRefId packageType packageVersion migrationType } }')
    await publish({ kind: 'package', customerId: '' })
    const published = { packageRefId: 'team', packageType: 'Plan', packageVersion: 2, migrationType: 'NEW_CUSTOMERS' } as const
    await publish({ kind: 'package', customerId: '', package: published })
    expect((await client.next()).payload).to.deep.equal({ data: { packagePublished: { environmentId: door.environmentId, ...published } } })
  })

  it('reach a thousand sockets of one process', async () => {
    const clients = await Promise.all(Array.from({ length: 1_000 }, () => connect()))
    await Promise.all(clients.map((client) => client.subscribe('1', usageSubscription)))
    await publish(usageChange('3'))
    const messages = await Promise.all(clients.map((client) => client.next()))
    expect(new Set(messages.map((message) => JSON.stringify(message))).size).to.equal(1)
    expect(await metric('tollgate_sockets')).to.be.at.least(1_000)
  }).timeout(20_000)

  it('send the state of now when the message carries none', async () => {
    const client = await connect()
    await client.subscribe('s', stateSubscription)
    await publish({ kind: 'purge', customerId: 'gone' })
    expect(await client.next()).to.deep.include({
      payload: {
        data: { entitlementsUpdated: { customerId: 'gone', resourceId: null, accessDeniedReason: 'CustomerNotFound', entitlements: [] } },
      },
    })
  })

  it('are not sent for a usage without an entitlement', async () => {
    const client = await connect()
    await client.subscribe('1', usageSubscription)
    await publish({ kind: 'usage', usage: { featureId: 'calls', usage: usageOf('1') } })
    await publish(usageChange('2'))
    expect(await client.next()).to.have.nested.property('payload.data.usageUpdated.usage.currentUsage', 2)
  })

  it('are executed once for all sockets with the same document, and stop with the last', async () => {
    const executions = () => metric('tollgate_pushes_executed_total')
    const clients = await Promise.all(Array.from({ length: 20 }, () => connect()))
    await Promise.all(clients.map((client, index) => client.subscribe(`id-${index}`, usageSubscription)))
    const before = await executions()
    await publish(usageChange('3'))
    const messages = await Promise.all(clients.map((client) => client.next()))
    expect(messages.map(({ id }) => id)).to.deep.equal(clients.map((_, index) => `id-${index}`))
    expect(new Set(messages.map(({ payload }) => JSON.stringify(payload))).size).to.equal(1)
    expect((await executions()) - before).to.equal(1)

    for (const [index, client] of clients.entries()) {
      client.send({ type: 'complete', id: `id-${index}` })
      await client.settle()
    }
    await publish(usageChange('4'))
    const [last] = clients
    await last!.subscribe('again', usageSubscription)
    await publish(usageChange('5'))
    expect(await last!.next()).to.have.nested.property('payload.data.usageUpdated.usage.currentUsage', 5)
    expect((await executions()) - before).to.equal(2)
  })

  it('reach the sockets of every web process', async () => {
    const twin = await openTwin(door)
    const clients = [await connect(), await connect(undefined, twin.url)]
    for (const client of clients) await client.subscribe('1', usageSubscription)
    await publish(usageChange('6'))
    for (const client of clients) expect(await client.next()).to.have.nested.property('payload.data.usageUpdated.usage.currentUsage', 6)
    expect(await twin.close()).to.deep.equal([])
  })

  it('reach no other environment', async () => {
    const { environment } = await door.app.environments.create({ refId: 'other' })
    const { key } = await door.app.environments.createKey({ environment: 'other', kind: 'SERVER', name: 'k', expiresAt: null })
    const [mine, theirs] = [await connect(), await connect({ 'X-API-KEY': key })]
    await mine.subscribe('1', usageSubscription)
    await theirs.subscribe('1', usageSubscription)
    await publish(usageChange('6'))
    await redis.publish(
      changeChannel(door.queuePrefix, environment.id),
      JSON.stringify({ v: 1, id: 'm', environmentId: environment.id, version: 5, timestamp: 5, ...usageChange('9', 'b') }),
    )
    expect(await mine.next()).to.have.nested.property('payload.data.usageUpdated.usage.currentUsage', 6)
    expect(await theirs.next()).to.have.nested.property('payload.data.usageUpdated.usage.currentUsage', 9)
  })

  it('tell a client key only about the customer of its token', async () => {
    const client = await connect({ 'x-api-key': door.clientKey, 'x-customer-key': door.customerToken('mine') })
    await client.subscribe('1', usageSubscription)
    await publish(usageChange('1', 'other'))
    await publish(usageChange('2', 'mine'))
    expect(await client.next()).to.have.nested.property('payload.data.usageUpdated.usage.customerId', 'mine')
  })

  it('are refused without a valid key by the code that clients do not retry', async () => {
    const refusal = [4403, 'Invalid API key']
    expect(await closedWith({})).to.deep.equal(refusal)
    expect(await closedWith({ 'X-API-KEY': `server-${'0'.repeat(43)}` })).to.deep.equal(refusal)
    expect(await closedWith({ 'X-API-KEY': door.clientKey })).to.deep.equal(refusal)
    expect(await closedWith({ 'X-API-KEY': door.clientKey, 'X-CUSTOMER-KEY': `HMAC-SHA256 a:${'0'.repeat(64)}` })).to.deep.equal(refusal)
  })

  it('refuse what is not a subscription, and documents that do not fit the schema', async () => {
    const client = await connect()
    for (const query of ['{ __typename }', '{ __schema { description } }', 'subscription { nope }', '{']) {
      client.send({ type: 'subscribe', id: 'x', payload: { query } })
      const { type, payload } = await client.next()
      expect(type, query).to.equal('error')
      expect((payload as { extensions: { code: string } }[])[0]?.extensions.code, query).to.equal('BadUserInput')
    }
  })

  it('cut off a client that does not read', async () => {
    const client = await connect()
    await client.subscribe('s', 'subscription { entitlementsUpdated { entitlements { feature { description } } } }')
    const large = {
      ...stateOf('a'),
      entitlements: [{ ...entitlementOf('0'), feature: { ...feature, description: 'x'.repeat(1_000_000) } }],
    }
    const closed = once(client.socket, 'close')
    client.socket.pause()
    const isCutOff = async () => (await metric('tollgate_sockets_dropped_total{reason="slow"')) > 0
    while (!(await isCutOff())) {
      const executed = await metric('tollgate_pushes_executed_total')
      await publish({ kind: 'entitlements', state: large })
      // A long one is told some turns after it was executed.
      while ((await metric('tollgate_pushes_executed_total')) === executed && !(await isCutOff())) await setImmediate()
    }
    client.socket.resume()
    await closed
  }).timeout(20_000)

  it('ask clients to come back when changes may have been missed', async () => {
    const client = await connect()
    await client.subscribe('1', usageSubscription)
    const closed = once(client.socket, 'close')
    await redis.client('KILL', 'TYPE', 'pubsub')
    const [code] = await closed
    expect(code).to.equal(1012)
    const again = await connect()
    await again.subscribe('1', usageSubscription)
    await publish(usageChange('8'))
    expect(await again.next()).to.have.nested.property('payload.data.usageUpdated.usage.currentUsage', 8)
  })
})

const periodStart = Date.now() - 1_000
const periodEnd = Date.now() + 3_600_000
const feature: Entitlement['feature'] = {
  id: 'f',
  refId: 'calls',
  displayName: 'Calls',
  description: null,
  featureType: 'NUMBER',
  meterType: 'Incremental',
  units: null,
  unitsPlural: null,
  unitTransformation: null,
}

const usageOf = (currentUsage: string) => ({ currentUsage: fromText(currentUsage), periodStart, periodEnd, updatedAt: 5 })

function entitlementOf(currentUsage: string): Entitlement {
  return {
    feature,
    usageLimit: fromText('10'),
    hasUnlimitedUsage: false,
    hasSoftLimit: false,
    enumValues: [],
    reset: null,
    usage: usageOf(currentUsage),
    usageRestartsAt: null,
    deniedReason: null,
    validUntil: null,
  }
}

function stateOf(customerId: string): EntitlementState {
  return {
    environmentId: 'e',
    customerId,
    resourceId: null,
    version: 5,
    accessVersion: 4,
    deniedReason: null,
    entitlements: [entitlementOf('1')],
  }
}
