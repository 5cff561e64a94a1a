import { EventEmitter } from 'node:events'
import { expect } from 'chai'
import { Hearing } from '../../../src/changes/hearing.js'
import type { Redis } from '../../../src/platform/redis.js'

describe('a connection that is to hear', () => {
  /** A Redis whose first subscription breaks with its connection. */
  function openHearing({ refusals }: { refusals: number }) {
    const events = new EventEmitter()
    const channels = new Set<string>()
    let left = refusals
    const redis = Object.assign(events, {
      status: 'ready',
      disconnect: () => channels.clear(),
      subscribe: async (channel: string) => {
        if (left-- > 0) throw new Error('Connection is closed.')
        channels.add(channel)
      },
      publish: async (channel: string, text: string) => {
        if (!channels.has(channel)) return 0
        events.emit('message', channel, text)
        return 1
      },
    }) as unknown as Redis
    return { redis, hearing: new Hearing({ subscriber: redis, publisher: redis, prefix: 'test' }) }
  }

  it('is subscribed again when the first subscription was lost with its connection', async () => {
    const { hearing } = openHearing({ refusals: 2 })
    const heard: boolean[] = []
    for (let n = 0; n < 4; n++) heard.push((await hearing.prove(50)) !== null)
    expect(heard.at(-1)).to.equal(true)
  })

  it('is made anew when it is deaf three times, and subscribed again', async () => {
    const { redis, hearing } = openHearing({ refusals: 0 })
    expect(await hearing.prove(50)).to.not.equal(null)
    // given: the far side has forgotten it
    redis.disconnect()
    const heard: boolean[] = []
    for (let n = 0; n < 5; n++) heard.push((await hearing.prove(50)) !== null)
    expect(heard).to.deep.equal([false, false, false, true, true])
  })
})
