import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import { buildSchema, execute, parse } from 'graphql'
import { Problem } from '../../../../../src/kernel/problem.js'
import { Operation } from '../../../../../src/web/graphql/operations/operation.js'
import { isListOfObjects, Turns } from '../../../../../src/web/graphql/operations/turns.js'

const schema = buildSchema('type Thing { name: String things: [Thing!]! } type Query { things: [Thing!]! names: [String!] maybe: [Thing] }')
const document = parse('{ things { name things { name things { name } } } names maybe { name } }')

const thing = (name: string, things: object[] = []) => ({ name, things })
const many = (count: number, below: (n: number) => object[]) => Array.from({ length: count }, (_, n) => thing(`${n}`, below(n)))

const waitedFor = { givenUp: null }

/** How often others were served while it was answered. */
async function othersServedDuring(work: Promise<unknown>): Promise<number> {
  let served = 0
  let isDone = false
  const serve = () => {
    served += 1
    if (!isDone) setImmediate(serve)
  }
  setImmediate(serve)
  await work
  isDone = true
  return served
}

describe('an answer in turns', () => {
  it('is the answer', async () => {
    const rootValue = {
      things: Promise.resolve(many(3, (n) => many(n, () => [thing('leaf')]))),
      names: ['a', 'b'],
      maybe: [null, thing('x'), Promise.resolve(thing('y'))],
    }
    const atOnce = await execute({ schema, document, rootValue })
    const inTurns = await execute({ schema, document, rootValue, fieldResolver: new Turns(waitedFor, nextTurn).fieldResolver })
    expect(inTurns).to.deep.equal(atOnce)
  })

  it('has the error of an item where it belongs', async () => {
    const rootValue = { things: [], names: null, maybe: [thing('x'), Promise.reject(new Error('gone')), null] }
    const { data, errors } = await execute({ schema, document, rootValue, fieldResolver: new Turns(waitedFor, nextTurn).fieldResolver })
    expect(data?.maybe).to.deep.equal([{ name: 'x' }, null, null])
    expect(errors?.map(({ message, path }) => [message, path])).to.deep.equal([['gone', ['maybe', 1]]])
  })

  it('lets others be served meanwhile, also within one item’s lists', async () => {
    const rootValue = { things: many(1, () => many(300, () => many(100, () => []))), names: null, maybe: null }
    const served = await othersServedDuring(
      Promise.resolve(execute({ schema, document, rootValue, fieldResolver: new Turns(waitedFor, nextTurn).fieldResolver })),
    )
    expect(served).to.be.above(1)
  })

  it('ends with the operation', async () => {
    const operation = new Operation()
    let asked = 0
    const counted = {
      get name() {
        asked += 1
        if (asked === 10) operation.giveUp(new Problem('CANCELLED', 'CLIENT_HUNG_UP', 'the client hung up'))
        return 'x'
      },
      things: [],
    }
    const rootValue = { things: Array.from({ length: 1_000 }, () => counted), names: null, maybe: null }
    const { errors } = await execute({ schema, document, rootValue, fieldResolver: new Turns(operation, nextTurn).fieldResolver })
    expect(errors?.[0]?.message).to.equal('the client hung up')
    expect(asked).to.be.below(20)
  })

  it('begins nothing for whom nobody waits any more', async () => {
    const operation = new Operation()
    const turns = new Turns(operation, nextTurn)
    const begun: number[] = []
    const begin = (n: number) => {
      begun.push(n)
      if (n === 2) operation.giveUp(new Problem('CANCELLED', 'CLIENT_HUNG_UP', 'the client hung up'))
      return n
    }
    const outcomes = await Promise.allSettled([1, 2, 3, 4].map((n) => turns.begin(() => begin(n))))
    expect(begun).to.deep.equal([1, 2])
    expect(outcomes.map(({ status }) => status)).to.deep.equal(['fulfilled', 'fulfilled', 'rejected', 'rejected'])
  })

  it('has one error for all that is left when it is given up: thousands of them would take longer than the answer had', async () => {
    const operation = new Operation()
    const rootValue = { things: [], names: null, maybe: Array.from({ length: 1_000 }, () => thing('x')) }
    operation.giveUp(new Problem('CANCELLED', 'CLIENT_HUNG_UP', 'the client hung up'))
    const { errors } = await execute({ schema, document, rootValue, fieldResolver: new Turns(operation, nextTurn).fieldResolver })
    expect(new Set(errors)).to.have.property('size', 1)
  })

  it('concerns lists of objects', () => {
    const { things, names, maybe } = schema.getQueryType()!.getFields()
    expect([things, names, maybe].map((field) => isListOfObjects(field!.type))).to.deep.equal([true, false, true])
  })
})
