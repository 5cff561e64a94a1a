import { EventEmitter } from 'node:events'
import { expect } from 'chai'
import { Hearing } from '../../../src/changes/hearing.js'
import type { Redis } from '../../../src/platform/redis.js'

describe('a connection that is to hear', () => {
  /** A Redis that is subscribed anew with each connection. */
  function openHearing() {
    const events = new EventEmitter()
    const channels = new Set<string>()
    const redis = Object.assign(events, {
      status: 'ready',
      disconnect: () => {
        channels.clear()
        events.emit('ready')
      },
      subscribe: async (channel: string) => void channels.add(channel),
      publish: async (channel: string, text: string) => {
        if (!channels.has(channel)) return 0
        events.emit('message', channel, text)
        return 1
      },
    })
    return {
      channels,
      hearing: new Hearing({ subscriber: redis as unknown as Redis, publisher: redis as unknown as Redis, prefix: 'test' }),
    }
  }

  it('is made anew when it is deaf three times', async () => {
    const { channels, hearing } = openHearing()
    expect(await hearing.prove(50)).to.not.equal(null)
    // given: the far side has forgotten it
    channels.clear()
    const heard: boolean[] = []
    for (let n = 0; n < 5; n++) heard.push((await hearing.prove(50)) !== null)
    expect(heard).to.deep.equal([false, false, false, true, true])
  })
})
