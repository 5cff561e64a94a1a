import { EventEmitter } from 'node:events'
import { expect } from 'chai'
import { silentLogger } from '../../../../src/platform/logger.js'
import type { Redis } from '../../../../src/platform/redis.js'
import { changeChannel } from '../../../../src/updates/wire/change-message.js'
import { FairTurns } from '../../../../src/web/access/fair-turns.js'
import { ChangeFeed } from '../../../../src/web/live/change-feed.js'
import { ListenerLags } from '../../../../src/web/live/change-queue.js'
import { message } from '../../../contract/cache/held.js'

/** Knows of channels and says nothing by itself. */
class StillRedis extends EventEmitter {
  readonly channels = new Set<string>()

  async subscribe(name: string): Promise<number> {
    this.channels.add(name)
    return 1
  }

  async unsubscribe(name: string): Promise<number> {
    this.channels.delete(name)
    return 0
  }
}

describe('the feed of changes', () => {
  const kinds = ['entitlements', 'usage'] as const
  let redis: StillRedis
  let feed: ChangeFeed
  let controller: AbortController
  const listeners: AsyncGenerator<unknown, void>[] = []

  beforeEach(() => {
    redis = new StillRedis()
    controller = new AbortController()
    const turns = new FairTurns()
    feed = new ChangeFeed({ redis: redis as unknown as Redis, prefix: 'p', turns, log: silentLogger(), maxWaitingBytes: 100_000 })
  })
  afterEach(async () => {
    controller.abort()
    for (const listener of listeners.splice(0)) await listener.return()
    expect([...redis.channels]).to.deep.equal([])
  })

  const listen = (environment = 'e', customerId: string | null = null) => {
    const changes = feed.changes(environment, { kinds, customerId, signal: controller.signal })
    listeners.push(changes)
    return changes
  }
  const publish = (customerId: string, { environment = 'e', characters = 0 } = {}) => {
    const change = { ...message('usage', 1, { customerId }), filler: 'x'.repeat(characters) }
    redis.emit('message', changeChannel('p', environment), JSON.stringify(change))
  }
  const next = async (changes: AsyncGenerator<{ customerId: string }, void>) => {
    const { value } = await changes.next()
    return value ? value.customerId : undefined
  }

  it('tells each listener what it wants to hear of, in order', async () => {
    const [all, ofA] = [listen(), listen('e', 'a')]
    const heard = [next(all), next(ofA)]
    for (const customerId of ['b', 'a', 'c', 'a']) publish(customerId)
    expect(await Promise.all(heard)).to.deep.equal(['b', 'a'])
    expect([await next(all), await next(all), await next(all), await next(ofA)]).to.deep.equal(['a', 'c', 'a', 'a'])
    controller.abort()
    expect([await next(all), await next(ofA)]).to.deep.equal([undefined, undefined])
  })

  it('gives up who does not take what it is told, and keeps who does', async () => {
    const [slow, quick, elsewhere] = [listen(), listen(), listen('other')]
    const first = [next(slow), next(quick), next(elsewhere)]
    publish('first')
    publish('first', { environment: 'other' })
    await Promise.all(first)
    for (let count = 0; count < 50; count++) {
      const heard = next(quick)
      publish(`c${count}`, { characters: 1_000 })
      expect(await heard).to.equal(`c${count}`)
    }
    const error = await slow.next().catch((thrown: unknown) => thrown)
    expect(error).to.be.instanceOf(ListenerLags)
    const heard = [next(quick), next(elsewhere)]
    publish('last')
    publish('last', { environment: 'other' })
    expect(await Promise.all(heard)).to.deep.equal(['last', 'last'])
  })

  it('gives up everybody of an environment when more comes at once than may wait', async () => {
    const heard = [listen(), listen(), listen('other')].map((changes) => next(changes).catch((error: unknown) => error))
    for (let count = 0; count < 50; count++) publish(`c${count}`, { characters: 1_000 })
    publish('last', { environment: 'other' })
    const [one, two, other] = await Promise.all(heard)
    expect(one).to.be.instanceOf(ListenerLags)
    expect(two).to.be.instanceOf(ListenerLags)
    expect(other).to.equal('last')
  })

  it('counts what several listeners have waiting once', async () => {
    const all = Array.from({ length: 20 }, () => listen())
    const heard = all.map(next)
    for (let count = 0; count < 15; count++) publish(`c${count}`, { characters: 1_000 })
    expect(await Promise.all(heard)).to.deep.equal(all.map(() => 'c0'))
    for (let count = 1; count < 15; count++) expect(await Promise.all(all.map(next))).to.deep.equal(all.map(() => `c${count}`))
  })
})
