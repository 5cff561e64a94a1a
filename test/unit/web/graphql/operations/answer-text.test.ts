import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import fc from 'fast-check'
import { GraphQLError } from 'graphql'
import { AnswerRoom, maxAnswerBytes, textOf } from '../../../../../src/web/graphql/operations/answer-text.js'
import { wholeText } from '../../../../support/whole-text.js'

describe('the text of an answer', () => {
  const written = async (value: object) => wholeText(await textOf(value, new AnswerRoom(), nextTurn))
  /** Long enough to be written in turns. */
  const long = 'long '.repeat(60_000)

  it('is its JSON, in one step or in turns', async () => {
    const plain = fc.jsonValue().map((value) => value as object)
    await fc.assert(
      fc.asyncProperty(plain, async (value) => {
        expect(await written({ data: value })).to.equal(JSON.stringify({ data: value }))
        const large = { data: [value, long, { value, nothing: undefined, at: new Date(0) }, value], errors: [new GraphQLError('no')] }
        const text = textOf(large, new AnswerRoom(), nextTurn)
        expect(text).to.be.instanceOf(Promise)
        expect(wholeText(await text)).to.equal(JSON.stringify(large))
      }),
    )
  })

  it('lets others have their turn when it is long', async () => {
    const rows = Array.from({ length: 40_000 }, (_, n) => ({ id: n, name: `row "${n}"`, isLast: n === 39_999 }))
    let turns = 0
    const count = setInterval(() => (turns += 1), 0)
    const text = await written({ rows })
    clearInterval(count)
    expect(JSON.parse(text)).to.deep.equal({ rows })
    expect(turns).to.be.above(0)
  })

  it('is in pieces when it is long, so that nothing of it is copied or encoded as a whole', async () => {
    const rows = Array.from({ length: 2_000 }, (_, n) => ({ id: n, name: 'я'.repeat(1_000) }))
    const pieces = (await textOf({ rows }, new AnswerRoom(), nextTurn)) as Buffer[]
    expect(Math.max(...pieces.map(({ length }) => length))).to.be.below(300_000)
    // Nor are there so many that each is a burden: what is short is put together.
    expect(pieces.length).to.be.below(100)
  })

  it('is refused as soon as there is no room for it, by its bytes', async () => {
    const refused = async (value: object, room = new AnswerRoom()) => {
      const error = await Promise.resolve()
        .then(async () => textOf(value, room, nextTurn))
        .then(
          () => null,
          (thrown: Error) => thrown,
        )
      expect(error?.message).to.match(/^The answer is larger than \d+ bytes: ask for shorter pages/)
      expect(room.isExceeded).to.equal(true)
    }
    const metadata = 'x'.repeat(1_000_000)
    await refused({ data: Array.from({ length: 90 }, () => metadata) })
    // Would have 450 MB as text.
    await refused({ data: Array.from({ length: 450 }, () => metadata) })
    await refused({ data: 'я'.repeat(maxAnswerBytes / 2) })
    await refused({ data: '\n'.repeat(maxAnswerBytes / 2) })
    expect(await written({ data: 'я'.repeat(maxAnswerBytes / 2 - 10) })).to.have.length.above(maxAnswerBytes / 2)
  })

  it('has room with others of one request', async () => {
    const room = new AnswerRoom()
    for (let n = 0; n < 8; n++) await textOf({ data: 'x'.repeat(1_000_000) }, room, nextTurn)
    expect(() => textOf({ data: 'short' }, room, nextTurn)).to.not.throw()
    expect(await Promise.resolve(textOf({ data: 'x'.repeat(1_000_000) }, room, nextTurn)).catch((error: Error) => error.message)).to.match(
      /larger/,
    )
  })

  it('counts large values before there is a text', () => {
    const room = new AnswerRoom()
    const metadata = { note: 'x'.repeat(64_000) }
    for (let n = 0; n < 120; n++) room.takeValue(metadata, nextTurn)
    expect(() => {
      for (let n = 0; n < 20; n++) room.takeValue(metadata, nextTurn)
    }).to.throw(/larger/)
  })

  describe('counts a value', () => {
    /** JSON of 60,000 characters, and how often it was read. */
    const counted = () => {
      const value = {
        reads: 0,
        get note() {
          this.reads += 1
          return 'x'.repeat(60_000)
        },
      }
      return value
    }
    const never = () => Promise.reject(new Error('no turn is needed'))

    it('once, in however many places it is', () => {
      const room = new AnswerRoom()
      const value = counted()
      for (let n = 0; n < 100; n++) expect(room.takeValue(value, never)).to.equal(undefined)
      expect(value.reads).to.equal(1)
      expect(room.valueBytes).to.be.within(6_000_000, 6_010_000)
    })

    it('not at all when there is no room any more, and refuses it as the one before', async () => {
      const room = new AnswerRoom()
      const value = counted()
      const refusalOf = (refused: unknown) => {
        try {
          for (let n = 0; n < 200; n++) room.takeValue(refused, never)
        } catch (error) {
          return error as GraphQLError
        }
        throw new Error('it was not refused')
      }
      const refusal = refusalOf(value)
      const other = counted()
      expect(refusalOf(other)).to.equal(refusal)
      expect(other.reads).to.equal(0)
      expect(refusal.path, 'graphql-js makes no other of it').to.deep.equal([])
    })

    it('in turns when there is much of them', async () => {
      const room = new AnswerRoom()
      const values = Array.from({ length: 100 }, counted)
      const waiting: (() => void)[] = []
      const taken = values.map((value) => room.takeValue(value, () => new Promise((resolve) => waiting.push(resolve))))
      const read = () => values.filter(({ reads }) => reads > 0).length
      await nextTurn()
      // Two and a half are what is written at once.
      expect([read(), waiting.length]).to.deep.equal([3, 1])
      let isDone = false
      const done = Promise.all(taken).then(() => (isDone = true))
      while (!isDone) {
        waiting.pop()?.()
        await nextTurn()
      }
      await done
      expect(values.map(({ reads }) => reads)).to.deep.equal(Array(100).fill(1))
      expect(room.valueBytes).to.be.within(6_000_000, 6_010_000)
    })

    it('of many parts in turns, and no further than there is room', async () => {
      const room = new AnswerRoom()
      const parts = Array.from({ length: 500 }, counted)
      const taken = room.takeValue(parts, nextTurn)!
      expect(parts.filter(({ reads }) => reads > 0)).to.have.length(3)
      expect(await taken.catch(({ message }: Error) => message)).to.match(/larger/)
      expect(parts.filter(({ reads }) => reads > 0)).to.have.length.within(135, 145)
    })
  })
})
