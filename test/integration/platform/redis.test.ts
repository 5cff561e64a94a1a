import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { silentLogger } from '../../../src/platform/logger.js'
import { Life } from '../../../src/platform/process.js'
import { keepSubscribed, openRedis, openSubscriber } from '../../../src/platform/redis.js'
import { eventually } from '../../support/eventually.js'
import { testRedisPrefix, testRedisUrl } from '../../support/redis.js'
import { TcpProxy } from '../../support/tcp-proxy.js'

/** What a role may take to notice, and some more for a busy machine. */
const noticeMs = 40_000

describe('a connection to Redis that stays open and carries nothing', function () {
  this.timeout(60_000)
  let life: Life
  let proxy: TcpProxy
  const prefix = testRedisPrefix()
  beforeEach(async () => {
    life = new Life('redis', silentLogger())
    proxy = await TcpProxy.start(testRedisUrl())
  })
  afterEach(async () => {
    expect(await life.stop()).to.deep.equal([])
    await proxy.stop()
  })

  /** Of connections that were there: new ones are not hindered. */
  const strand = () => {
    proxy.freeze()
    proxy.deafen()
    proxy.mend()
  }
  const open = (role: Parameters<typeof openRedis>[2]) => openRedis(life, `redis://127.0.0.1:${proxy.port}`, role)

  it('is given up for another one, whoever asks over it', async () => {
    const [request, queue, worker] = [open('request'), open('queue'), open('worker')]
    const plain = openRedis(life, testRedisUrl(), 'request')
    await eventually('all to be connected', () => [request, queue, worker, plain].every(({ status }) => status === 'ready'))
    for (const client of [request, queue, worker]) await client.ping()
    strand()

    const [list, job] = [`${prefix}:jobs`, randomUUID()]
    // As BullMQ waits for a job: it must come, over whichever connection.
    const taken = worker.blpop(list, 10)
    const answers = (client: typeof request) =>
      client.ping().then(
        () => true,
        () => false,
      )
    await Promise.all([
      eventually('requests to be answered', () => answers(request), noticeMs),
      eventually('queues to be answered', () => answers(queue), noticeMs),
    ])
    await plain.rpush(list, job)
    expect((await taken)?.[1]).to.equal(job)
  })

  it('is given up by who only listens', async () => {
    const subscriber = openSubscriber(life, { redisUrl: `redis://127.0.0.1:${proxy.port}`, prefix })
    const plain = openRedis(life, testRedisUrl(), 'request')
    const heard: string[] = []
    subscriber.on('message', (_channel: string, text: string) => heard.push(text))
    await subscriber.subscribe(prefix)
    strand()
    const isHeard = async () => {
      await plain.publish(prefix, 'news')
      return heard.length > 0
    }
    await eventually('a message to be heard', isHeard, noticeMs)
  })
})

describe('a subscription', () => {
  const life = new Life('redis', silentLogger())
  after(async () => expect(await life.stop()).to.deep.equal([]))

  it('is there in the end also when its first connection broke before it was ready', async () => {
    const [kept, other] = ['kept', 'other'].map((name) => `${testRedisPrefix()}:${name}`)
    const subscriber = openSubscriber(life, { redisUrl: testRedisUrl(), prefix: 'test' })
    const publisher = openRedis(life, testRedisUrl(), 'request')
    // given: what is sent in that moment is in the way of the questions that ioredis asks a new connection
    let connections = 0
    subscriber.on('connect', () => {
      connections += 1
      if (connections === 1) subscriber.subscribe(other!).catch(() => undefined)
    })
    let times = 0
    keepSubscribed(subscriber, kept!, () => {
      times += 1
    })
    await eventually('it to be heard', async () => (await publisher.publish(kept!, '')) === 1)
    expect(connections).to.equal(2)
    expect(times).to.equal(1)
  })
})
