import { expect } from 'chai'
import { silentLogger } from '../../../../src/platform/logger.js'
import { SqsFeeds } from '../../../../src/updates/deliver/sqs-feeds.js'
import type { QueueMessage } from '../../../../src/updates/wire/queue-message.js'

describe('queues of SQS', () => {
  /** What was sent and is not answered yet, in order. */
  let sent: { url: string; names: string[]; take(): void; refuse(): void }[]

  beforeEach(() => {
    sent = []
  })

  const openFeeds = (mostBytes?: number) =>
    new SqsFeeds({
      sender: {
        send: (url, bodies) =>
          new Promise((take, reject) => {
            const names = bodies.map((body) => (JSON.parse(body) as { customerId: string }).customerId)
            sent.push({ url, names, take, refuse: () => reject(new Error('away')) })
          }),
      },
      log: silentLogger(),
      mostBytes,
    })
  const message = (customerId: string, bytes = 0) =>
    ({ v: 1, kind: 'usage', customerId, filler: 'x'.repeat(bytes) }) as unknown as QueueMessage
  const urls = () => sent.map(({ url }) => url)
  const settled = () => new Promise((resolve) => setImmediate(resolve))

  it('that do not answer hold up no other, and are told one thing after the other', async () => {
    const feeds = openFeeds()
    const first = feeds.tell('slow', [message('a'), message('b')])
    const second = feeds.tell('slow', [message('c')])
    const other = feeds.tell('quick', [message('d')])
    await settled()
    expect(urls()).to.deep.equal(['slow', 'quick'])
    sent[1]!.take()
    expect(await other).to.equal(true)
    sent[0]!.take()
    expect(await first).to.equal(true)
    await settled()
    expect(sent.map(({ names }) => names)).to.deep.equal([['a', 'b'], ['d'], ['c']])
    sent[2]!.take()
    expect(await second).to.equal(true)
  })

  it('that have not taken something are not told what waited behind it', async () => {
    const feeds = openFeeds()
    const told = [feeds.tell('away', [message('a')]), feeds.tell('away', [message('b')])]
    await settled()
    sent[0]!.refuse()
    expect(await Promise.all(told)).to.deep.equal([false, false])
    expect(await feeds.tell('away', [message('c')])).to.equal(false)
    expect(sent).to.have.length(1)
  })

  it('that are slow have no more than half of what the others leave held for them, and lose what is beyond', async () => {
    const feeds = openFeeds(8_000)
    const slow = [feeds.tell('slow', [message('a', 3_000)])]
    expect(await feeds.tell('slow', [message('b', 3_000)])).to.equal(false)
    const slowToo = feeds.tell('slow too', [message('c', 2_000)])
    expect(await feeds.tell('slow too', [message('d', 2_000)])).to.equal(false)
    const quick = feeds.tell('quick', [message('e', 1_000)])
    await settled()
    expect(urls()).to.deep.equal(['slow', 'slow too', 'quick'])
    for (const { take } of sent) take()
    expect(await Promise.all([...slow, slowToo, quick])).to.deep.equal([true, true, true])
    // There is room again.
    const again = feeds.tell('slow', [message('f', 3_000)])
    await settled()
    sent[3]!.take()
    expect(await again).to.equal(true)
  })
})
