import { expect } from 'chai'
import { Hearing } from '../../../../src/changes/hearing.js'
import { silentLogger } from '../../../../src/platform/logger.js'
import { Life } from '../../../../src/platform/process.js'
import { openRedis, openSubscriber } from '../../../../src/platform/redis.js'
import { changeChannel } from '../../../../src/updates/wire/change-message.js'
import { FairTurns } from '../../../../src/web/access/fair-turns.js'
import { ChangeFeed } from '../../../../src/web/live/change-feed.js'
import { message } from '../../../contract/cache/held.js'
import { eventually } from '../../../support/eventually.js'
import { testRedisPrefix, testRedisUrl } from '../../../support/redis.js'
import { TcpProxy } from '../../../support/tcp-proxy.js'

describe('a feed of changes that has become deaf', function () {
  this.timeout(60_000)

  it('says so within seconds though its connection looks open, and hears again on another one', async () => {
    const life = new Life('web', silentLogger())
    const prefix = testRedisPrefix()
    const proxy = await TcpProxy.start(testRedisUrl())
    const subscriber = openSubscriber(life, {
      redisUrl: testRedisUrl().replace(/(127\.0\.0\.1|localhost):\d+/, `127.0.0.1:${proxy.port}`),
      prefix: 'test',
    })
    const publisher = openRedis(life, testRedisUrl(), 'request')
    const feed = new ChangeFeed({ redis: subscriber, prefix, turns: new FairTurns(), log: silentLogger() })
    let gaps = 0
    feed.onGap(() => void gaps++)
    feed.watch(life, new Hearing({ subscriber, publisher, prefix }))
    const controller = new AbortController()
    const heard: string[] = []
    const listening = (async () => {
      for await (const { customerId } of feed.changes('e', { kinds: ['purge'], customerId: null, signal: controller.signal }))
        heard.push(customerId)
    })()
    const publish = (customerId: string) =>
      publisher.publish(changeChannel(prefix, 'e'), JSON.stringify(message('purge', 1, { customerId, environmentId: 'e' })))
    await eventually('it hears', async () => (await publish('before')) === 1 && heard.includes('before'))
    // It is heard to be heard for as long as that lasts.
    await new Promise((resolve) => setTimeout(resolve, 2_500))
    expect(gaps).to.equal(0)

    // when: nothing comes from Redis any more, and nothing says so
    proxy.deafen()
    const startedAt = performance.now()
    await eventually('it is noticed', () => gaps > 0, 15_000)
    expect(performance.now() - startedAt).to.be.below(9_000)
    proxy.mend()
    await eventually('it hears again', async () => (await publish('after')) >= 1 && heard.includes('after'), 20_000)

    controller.abort()
    await listening
    expect(await life.stop()).to.deep.equal([])
    await proxy.stop()
  })
})
