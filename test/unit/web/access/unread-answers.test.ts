import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { expect } from 'chai'
import { Registry } from '../../../../src/platform/metrics.js'
import { UnreadAnswers } from '../../../../src/web/access/unread-answers.js'

const MB = 2 ** 20

describe('answers that wait for their readers', () => {
  const connection = () => Object.assign(new EventEmitter(), { destroyed: false })
  const waiting = (bytes: number, socket = connection()) =>
    Object.assign(new EventEmitter(), { writableLength: bytes, closed: false, req: { socket } }) as unknown as ServerResponse

  it('of one environment leave room to the others', () => {
    const unread = new UnreadAnswers(new Registry())
    const responses = [waiting(8 * MB), waiting(8 * MB)]
    for (const response of responses) {
      expect(unread.hasRoom(8 * MB, 'loud')).to.equal(true)
      unread.follow(response, 'loud')
    }
    expect(unread.hasRoom(MB, 'loud')).to.equal(false)
    expect(unread.hasRoom(8 * MB, 'quiet')).to.equal(true)
    expect(unread.hasRoom(10_000, 'loud')).to.equal(true)
    responses[0]!.emit('close')
    expect(unread.hasRoom(8 * MB, 'loud')).to.equal(true)
    expect(unread.hasRoom(9 * MB, 'loud')).to.equal(false)
  })

  it('are bounded over all', () => {
    const unread = new UnreadAnswers(new Registry())
    for (let n = 0; n < 8; n++) unread.follow(waiting(8 * MB), `environment ${n}`)
    expect(unread.hasRoom(MB, 'another')).to.equal(false)
  })

  it('are gone with their connection, also those that wait behind others', async () => {
    const metrics = new Registry()
    const unread = new UnreadAnswers(metrics)
    const socket = connection()
    const [first, second] = [waiting(1_000, socket), waiting(2_000, socket)]
    unread.follow(first)
    unread.follow(second)
    first.emit('close')
    expect(await metrics.metrics()).to.match(/what="unread answers"\} 2000/)
    socket.emit('close')
    second.emit('close')
    expect(await metrics.metrics()).to.match(/what="unread answers"\} 0/)
    expect(socket.listenerCount('close')).to.equal(0)
    unread.follow(waiting(1_000, Object.assign(connection(), { destroyed: true })))
    expect(await metrics.metrics()).to.match(/what="unread answers"\} 0/)
  })

  it('cost nothing when they were taken at once', async () => {
    const metrics = new Registry()
    const unread = new UnreadAnswers(metrics)
    const response = waiting(0)
    unread.follow(response)
    expect(response.listenerCount('close')).to.equal(0)
    const other = waiting(1_000)
    unread.follow(other)
    expect(await metrics.metrics()).to.match(/what="unread answers"\} 1000/)
    other.emit('close')
    expect(await metrics.metrics()).to.match(/what="unread answers"\} 0/)
  })
})
