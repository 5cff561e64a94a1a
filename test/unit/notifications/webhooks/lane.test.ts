import { setImmediate as later } from 'node:timers/promises'
import { expect } from 'chai'
import { type LaneParts, runLane } from '../../../../src/notifications/webhooks/lane.js'
import type { DueDelivery, Lane } from '../../../../src/notifications/webhooks/records/lanes.js'
import type { AttemptOutcome } from '../../../../src/notifications/webhooks/rules/schedule.js'

const lane = { url: 'https://app.example.com/hooks' } as Lane
const delivered: AttemptOutcome = { statusCode: 204, retryAfter: null, durationMs: 1, response: '', error: null }

const delivery = (id: string, more: Partial<DueDelivery> = {}): DueDelivery => ({
  id,
  type: 'customer.updated',
  payloadVersion: 1,
  customerId: 'acme',
  customerVersion: '1',
  customerIndex: '1',
  payload: {},
  occurredAt: new Date(0),
  attempts: 0,
  tries: 0,
  traceparent: null,
  ...more,
})

describe('a lane', () => {
  /** With what is due at first, and answers that come when the test says so. */
  function laneOf(due: DueDelivery[], more: Partial<LaneParts> = {}) {
    const sent: string[] = []
    const waiting = new Map<string, (outcome: AttemptOutcome) => void>()
    let isFirst = true
    const done = runLane({
      lane,
      clock: { now: () => 0 },
      findDue: async () => {
        const found = isFirst ? due : []
        isFirst = false
        return found
      },
      headersOf: (id) => ({ 'webhook-id': id }),
      send: (_url, headers) => {
        const id = headers['webhook-id']!
        sent.push(id)
        return new Promise((resolve) => waiting.set(id, resolve))
      },
      record: async () => ({ isOver: false }),
      isDoubtful: false,
      isStopped: () => false,
      ...more,
    })
    const state = { isDone: false }
    done.then(
      () => (state.isDone = true),
      () => (state.isDone = true),
    )
    return { sent, done, state, answer: (id: string) => waiting.get(id)!(delivered) }
  }

  it('makes the first attempts of a customer one after the other, and others meanwhile', async () => {
    const due = [
      delivery('a1'),
      delivery('a2'),
      delivery('b1', { customerId: 'globex' }),
      delivery('a0', { attempts: 1 }),
      delivery('none', { customerId: null }),
    ]
    const { sent, answer, done } = laneOf(due)
    await later()
    expect(sent).to.deep.equal(['a1', 'b1', 'a0', 'none'])
    answer('a1')
    await later()
    expect(sent.at(-1)).to.equal('a2')
    for (const id of ['b1', 'a0', 'none', 'a2']) answer(id)
    await done
  })

  it('is not over before what it has sent is, nor sends more, when the database fails', async () => {
    let looks = 0
    const findDue = async () => {
      looks += 1
      if (looks > 1) throw new Error('away')
      return [delivery('a1'), delivery('a2')]
    }
    const { sent, answer, done, state } = laneOf([], { findDue })
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect([looks, state.isDone]).to.deep.equal([2, false])
    answer('a1')
    expect(await done.catch((error: Error) => error.message)).to.equal('away')
    expect(sent).to.deep.equal(['a1'])
  })

  it('sends nothing more when an attempt could not be recorded', async () => {
    const record = async () => {
      throw new Error('away')
    }
    const { sent, answer, done } = laneOf([delivery('a1'), delivery('a2')], { record })
    await later()
    answer('a1')
    expect(await done.catch((error: Error) => error.message)).to.equal('away')
    expect(sent).to.deep.equal(['a1'])
  })
})
