import { expect } from 'chai'
import type { EntitlementState } from '../../../../src/entitlement/rules/state.js'
import { buildableStates } from '../../../../src/updates/deliver/buildable-states.js'

const tooLong = () => Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' })
const away = () => Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })
const full = () => Object.assign(new Error('too many connections'), { code: '53300' })
const broken = () => new Error('broken')

describe('states of several customers', () => {
  /** What comes of four customers, those named failing so. A list of customers fails as the first of them does. */
  async function build(failures: Readonly<Record<string, () => Error>>, customerIds = ['a', 'b', 'c', 'd']) {
    const leftOut: string[] = []
    const entitlements = {
      states: async (_: string, ids: readonly string[]) => {
        const failing = ids.find((id) => failures[id])
        if (failing) throw failures[failing]!()
        return ids.map((customerId) => ({ customerId }) as EntitlementState)
      },
    }
    const built = await buildableStates(entitlements, 'e', customerIds, (customerId) => leftOut.push(customerId)).then(
      (states) => states.map(({ customerId }) => customerId),
      (error: Error) => error.message,
    )
    return { built, leftOut }
  }

  for (const [what, failures, built, leftOut] of [
    ['all can be built', {}, ['a', 'b', 'c', 'd'], []],
    ['one is broken', { b: broken }, ['a', 'c', 'd'], ['b']],
    ['one takes too long each time', { a: tooLong }, ['b', 'c', 'd'], ['a']],
    ['two do, and one is broken', { a: tooLong, b: broken, c: tooLong }, ['d'], ['b', 'a', 'c']],
    ['three in a row do', { b: tooLong, c: tooLong, d: tooLong }, tooLong().message, []],
    ['nobody can be reached when it is the turn of one', { c: away }, away().message, []],
    ['there is no room when it is the turn of one', { d: full }, full().message, []],
    ['one takes too long, and nobody can be reached afterwards', { a: tooLong, c: away }, away().message, []],
  ] as const)
    it(`are those that can be built: ${what}`, async () => {
      expect(await build(failures)).to.deep.equal({ built, leftOut })
    })

  it('fail while nobody’s can be built in time, however few they are', async () => {
    expect(await build({ a: tooLong, b: tooLong }, ['a', 'b'])).to.deep.equal({ built: tooLong().message, leftOut: [] })
    expect(await build({ a: tooLong }, ['a'])).to.deep.equal({ built: tooLong().message, leftOut: [] })
    expect(await build({ a: broken }, ['a'])).to.deep.equal({ built: [], leftOut: ['a'] })
  })
})
