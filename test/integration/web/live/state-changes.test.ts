import { expect } from 'chai'
import { createClient } from 'graphql-ws/client'
import { Redis } from 'ioredis'
import { WebSocket } from 'ws'
import { ChangeStream } from '../../../../src/updates/stream/change-stream.js'
import type { ChangeMessage } from '../../../../src/updates/wire/change-message.js'
import { boolean, message, metered, state, usage } from '../../../contract/cache/held.js'
import { eventually } from '../../../support/eventually.js'
import { testRedisUrl } from '../../../support/redis.js'
import { type FrontDoor, openFrontDoor } from '../front-door.js'

const fields =
  'id kind customerId resourceId version accessDeniedReason entitlements { feature { refId } } usage { featureId currentUsage updatedAt usagePeriodStart usagePeriodEnd }'

interface Change {
  id: string
  kind: string
  customerId: string | null
  entitlements: { feature: { refId: string } }[] | null
  usage: object | null
}

describe('stateChanges', () => {
  let door: FrontDoor
  let redis: Redis
  let stream: ChangeStream
  const closers: Array<() => unknown> = []

  before(async function () {
    this.timeout(20_000)
    door = await openFrontDoor()
    redis = new Redis(testRedisUrl())
    stream = new ChangeStream({ redis, prefix: door.queuePrefix, databaseEpoch: door.app.databaseEpoch })
  })
  afterEach(async () => {
    for (const close of closers.splice(0)) await close()
  })
  after(async () => {
    redis.disconnect()
    expect(await door.close()).to.deep.equal([])
  })

  const publish = (...changes: ChangeMessage[]) => stream.append(changes.map((one) => ({ ...one, environmentId: door.environmentId })))
  const changed = (customerId: string, version = 5) =>
    message('entitlements', version, {
      customerId,
      state: state(version, [boolean('sso')], { customerId, environmentId: door.environmentId }),
    })

  /** What a client hears: `after` undefined listens from now on. */
  function listen(after?: string, key = door.serverKey): { heard: Change[]; errors: unknown[] } {
    const client = createClient({
      url: `${door.url.replace(/^http/, 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      connectionParams: { headers: { 'X-API-KEY': key } },
      retryAttempts: 0,
    })
    const heard: Change[] = []
    const errors: unknown[] = []
    const query =
      after === undefined
        ? `subscription { stateChanges { ${fields} } }`
        : `subscription ($after: String!) { stateChanges(after: $after) { ${fields} } }`
    client.subscribe<{ stateChanges: Change }>(
      { query, variables: after === undefined ? undefined : { after } },
      {
        next: ({ data, errors: refused }) => {
          if (data) heard.push(data.stateChanges)
          if (refused) errors.push(...refused)
        },
        error: (error) => errors.push(error),
        complete: () => {},
      },
    )
    closers.push(() => client.dispose())
    return { heard, errors }
  }

  it('tells a gap and a position to a reader that knows none, then changes as they happen', async () => {
    const { heard } = listen('')
    await eventually('the gap', () => heard.length === 1)
    expect(heard[0]).to.include({ kind: 'GAP', customerId: null })
    await publish(changed('a'))
    await eventually('the change', () => heard.length === 2)
    expect(heard[1]).to.deep.include({ kind: 'STATE', customerId: 'a', entitlements: [{ feature: { refId: 'sso' } }] })
  })

  it('tells what was missed, each customer once and without its state, and then that this was all', async () => {
    const first = listen('')
    await eventually('a position', () => first.heard.length === 1)
    await publish(changed('a', 5), changed('b', 6), changed('a', 7))
    const { heard } = listen(first.heard[0]!.id)
    await eventually('the catching up', () => heard.some(({ kind }) => kind === 'CAUGHT_UP'))
    expect(heard.map(({ kind, customerId, entitlements }) => [kind, customerId, entitlements])).to.deep.equal([
      ['STATE', 'b', null],
      ['STATE', 'a', null],
      ['CAUGHT_UP', null, null],
    ])
    // The last position is that of the last change: nothing is missed after it.
    const { heard: again } = listen(heard.at(-1)!.id)
    await eventually('nothing missed', () => again.length === 1)
    expect(again[0]).to.include({ kind: 'CAUGHT_UP', id: heard.at(-1)!.id })
  })

  it('loses nothing and tells nothing twice between what was missed and what happens', async () => {
    const first = listen('')
    await eventually('a position', () => first.heard.length === 1)
    const listening: { heard: Change[] }[] = []
    for (let n = 0; n < 30; n++) {
      await publish(changed(`c${n}`, n + 1))
      if (n % 10 === 5) listening.push(listen(first.heard[0]!.id))
    }
    for (const { heard } of listening) {
      await eventually('all of them', () => heard.filter(({ kind }) => kind === 'STATE').length >= 30)
      const customers = heard.flatMap(({ kind, customerId }) => (kind === 'STATE' ? [customerId] : []))
      expect(customers).to.deep.equal(Array.from({ length: 30 }, (_, n) => `c${n}`))
    }
  })

  it('tells all that was missed by who was away for long', async () => {
    const first = listen('')
    await eventually('a position', () => first.heard.length === 1)
    await publish(...Array.from({ length: 2_345 }, (_, n) => message('purge', n + 1, { customerId: `c${n}` })))
    const { heard } = listen(first.heard[0]!.id)
    await eventually('the catching up', () => heard.at(-1)?.kind === 'CAUGHT_UP')
    const customers = heard.slice(0, -1).map(({ customerId }) => customerId)
    expect(customers).to.deep.equal(Array.from({ length: 2_345 }, (_, n) => `c${n}`))
  })

  it('has everybody begin anew when the database has another history, and tells them a gap', async () => {
    const first = listen('')
    await eventually('a position', () => first.heard.length === 1)
    const position = first.heard[0]!.id
    const { databaseEpoch } = door.app
    const real = databaseEpoch.current
    databaseEpoch.hear('7-2')
    await eventually('the socket is closed', () => first.errors.length === 1)
    expect(first.errors[0]).to.deep.include({ code: 1012 })
    const again = listen(position)
    await eventually('the gap', () => again.heard.length === 1)
    expect(again.heard[0]).to.include({ kind: 'GAP' })
    databaseEpoch.hear(real)
  })

  it('tells a usage with its version and period', async () => {
    const { heard } = listen('')
    await eventually('a position', () => heard.length === 1)
    await publish(
      message('usage', 9, {
        customerId: 'a',
        usage: { featureId: 'calls', usage: usage(0.3, 9), entitlement: metered('calls', usage(0.3, 9)) },
      }),
    )
    await eventually('the usage', () => heard.length === 2)
    expect(heard[1]).to.deep.include({
      kind: 'USAGE',
      customerId: 'a',
      entitlements: null,
      usage: { featureId: 'calls', currentUsage: 0.3, updatedAt: 9, usagePeriodStart: 1_000, usagePeriodEnd: 2_000 },
    })
  })

  it('is for server keys only', async () => {
    const { heard, errors } = listen('', door.clientKey)
    await eventually('the refusal', () => errors.length > 0)
    expect(heard).to.have.length(0)
  })
})
