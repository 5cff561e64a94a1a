import { EventEmitter } from 'node:events'
import type { Http2Server } from 'node:http2'
import { setImmediate as nextRound } from 'node:timers/promises'
import { expect } from 'chai'
import { beginInRounds, begunAtOnce } from '../../../../src/sidecar/grpc/rounds.js'

class Call extends EventEmitter {
  closed = false
  destroyed = false
  constructor(readonly number: number) {
    super()
  }
}

describe('the calls that come at once', () => {
  const open = () => {
    const server = new EventEmitter()
    const begun: number[] = []
    const told: unknown[] = []
    beginInRounds(server as Http2Server)
    server.on('stream', (call: Call, headers: unknown) => {
      begun.push(call.number)
      told.push(headers)
    })
    const come = (count: number, from = 0) => {
      const calls = Array.from({ length: count }, (_, n) => new Call(from + n))
      for (const call of calls) server.emit('stream', call, `headers ${call.number}`)
      return calls
    }
    return { server, begun, told, come }
  }

  it('are begun so many in a round, in their order, each with what came with it', async () => {
    const { begun, told, come } = open()
    come(3 * begunAtOnce)
    for (let rounds = 1; rounds <= 3; rounds++) {
      expect(begun).to.have.length(rounds * begunAtOnce)
      await nextRound()
    }
    expect(begun).to.deep.equal([...begun.keys()])
    expect(told).to.deep.equal(begun.map((number) => `headers ${number}`))
    expect(begun).to.have.length(3 * begunAtOnce)
  })

  it('are begun at once while they are few, round after round', async () => {
    const { begun, come } = open()
    for (let rounds = 1; rounds <= 5; rounds++) {
      come(begunAtOnce, (rounds - 1) * begunAtOnce)
      expect(begun).to.have.length(rounds * begunAtOnce)
      await nextRound()
      await nextRound()
    }
  })

  it('wait behind those that came before them', async () => {
    const { begun, come } = open()
    come(begunAtOnce + 5)
    await nextRound()
    come(1, begunAtOnce + 5)
    expect(begun.at(-1)).to.equal(begunAtOnce + 5)
    come(2 * begunAtOnce, begunAtOnce + 6)
    await nextRound()
    await nextRound()
    expect(begun).to.deep.equal([...begun.keys()])
  })

  it('are never begun where they are taken back before their turn, and take nobody’s place', async () => {
    const { begun, come } = open()
    const calls = come(3 * begunAtOnce)
    for (const call of calls.slice(begunAtOnce, 2 * begunAtOnce)) call.closed = true
    calls.at(-1)!.destroyed = true
    // Nobody else listens.
    calls.at(-1)!.emit('error', new Error('reset'))
    await nextRound()
    const expected = calls.filter(({ closed, destroyed }) => !closed && !destroyed).map(({ number }) => number)
    expect(begun).to.deep.equal(expected)
  })

  it('are told apart from all else that a server hears', () => {
    const { server } = open()
    const heard: unknown[] = []
    server.on('session', (...args: unknown[]) => heard.push(args))
    for (let n = 0; n < 2 * begunAtOnce; n++) server.emit('session', n)
    expect(heard).to.have.length(2 * begunAtOnce)
  })
})
