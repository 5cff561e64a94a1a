import { expect } from 'chai'
import fc from 'fast-check'
import { fromText } from '../../../../src/kernel/decimal.js'
import { packAnswer } from '../../../../src/metering/wire/packed-reports.js'
import { packReply, replyChannel, replyVersion, unpackReply } from '../../../../src/metering/wire/replies.js'

const usage = { id: 'id', customerId: 'acme', resourceId: null, featureId: 'calls', currentUsage: fromText('5'), timestamp: 3 }
const problem = { code: 'NOT_FOUND', reason: 'CUSTOMER_NOT_FOUND', message: 'none', details: {} } as const
const refused = [{ index: 1, code: 'CUSTOMER_NOT_FOUND', message: 'none' }]

describe('reply to a door', () => {
  it('is read as it was written, with who has to hear the announcement', () => {
    const anyAnswer = fc.constantFrom(packAnswer({ usages: [{ ...usage, periodStart: 1, periodEnd: null }] }), { problem }, { refused })
    fc.assert(
      fc.property(
        fc.uuid(),
        fc.array(anyAnswer, { maxLength: 4 }),
        fc.option(fc.record({ epoch: fc.string(), holders: fc.array(fc.uuid()) }), { nil: undefined }),
        (batchId, answers, listeners) => {
          const text = packReply({ batchId, answers })
          // As the script says it.
          const said = listeners === undefined ? text : `{"listeners":${JSON.stringify(listeners)},${text.slice(1)}`
          expect(unpackReply(said)).to.deep.equal({ batchId, answers, ...(listeners && { listeners }) })
        },
      ),
    )
  })

  it('has its version’s form', () => {
    const answers = [packAnswer({ usages: [{ ...usage, periodStart: 1, periodEnd: 2 }] }), { problem }, { refused }]
    // Whoever changes the form raises the version: both are written here.
    expect({ version: replyVersion, text: packReply({ batchId: 'batch', answers }) }).to.deep.equal({
      version: 1,
      text:
        '{"v":1,"batchId":"batch","answers":[[["id","5",1,2,3]],{"problem":{"code":"NOT_FOUND","reason":"CUSTOMER_NOT_FOUND","message":"none","details":{}}},' +
        '{"refused":[{"index":1,"code":"CUSTOMER_NOT_FOUND","message":"none"}]}]}',
    })
  })

  it('is none when it is something else, or cannot be read', () => {
    const listeners = { epoch: 'epoch', holders: [] }
    const reply = { v: 1, batchId: 'batch', answers: [], listeners }
    expect(unpackReply(JSON.stringify(reply))).to.deep.equal({ batchId: 'batch', answers: [], listeners })
    const others = [
      {},
      [],
      7,
      { ...reply, batchId: 1 },
      { ...reply, answers: {} },
      { ...reply, listeners: null },
      { ...reply, listeners: { holders: 1 } },
    ]
    for (const text of ['', '{', 'null', '\0', ...others.map((other) => JSON.stringify(other))])
      expect(unpackReply(text), text).to.equal(null)
    fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (text) => unpackReply(text) === null))
  })

  it('is none when it is of another version', () => {
    expect(unpackReply('{"v":2,"batchId":"batch","answers":[]}')).to.equal(null)
    expect(unpackReply('{"batchId":"batch","answers":[]}')).to.deep.equal({ batchId: 'batch', answers: [] })
  })

  it('comes on a channel that old and new processes agree on', () => {
    expect(replyChannel('tollgate', 'door')).to.equal('tollgate:replies:door')
  })
})
