import { expect } from 'chai'
import { Kind, type OperationDefinitionNode, parse } from 'graphql'
import type { EntitlementState } from '../../../../../src/entitlement/rules/state.js'
import { KeptAnswers, questionVariableOf, readQuestion } from '../../../../../src/web/graphql/door/kept-answers.js'

describe('answers that are kept', () => {
  const variableOf = (text: string) =>
    questionVariableOf(parse(text).definitions.filter((node): node is OperationDefinitionNode => node.kind === Kind.OPERATION_DEFINITION))

  it('are to questions about one state, asked with a variable', () => {
    expect(variableOf('query($q: Q!) { entitlement(query: $q) { isGranted } }')).to.equal('q')
    expect(variableOf('query($x: Q!) { all: cachedEntitlements(query: $x) { isGranted } }')).to.equal('x')
  })

  const others = [
    'query($q: Q!) { entitlement(query: $q) { isGranted } sdkConfiguration { showWatermark } }',
    'query($q: Q!) { getCustomerByRefId(input: $q) { id } }',
    'query($c: String!) { entitlement(query: { customerId: $c, featureId: "f" }) { isGranted } }',
    'query($q: Q!) { ...F } fragment F on Query { entitlement(query: $q) { isGranted } }',
    'query A($q: Q!) { entitlement(query: $q) { isGranted } } query B { __typename }',
    'mutation($q: Q!) { entitlement(query: $q) { isGranted } }',
    'subscription { entitlement { isGranted } }',
  ]
  for (const text of others) it(`are not to ${text}`, () => expect(variableOf(text)).to.equal(null))

  it('are not to what is to be counted, names an environment, or is not well-formed', () => {
    expect(readQuestion({ customerId: 'a', featureId: 'f' })).to.deep.equal({ customerId: 'a', resourceId: null })
    expect(readQuestion({ customerId: 'a', resourceId: 'r' })).to.deep.equal({ customerId: 'a', resourceId: 'r' })
    for (const asked of [
      { customerId: 'a', options: { shouldTrack: true } },
      { customerId: 'a', environmentId: 'e' },
      { customerId: 1 },
      { customerId: 'a', resourceId: 1 },
      'a',
      null,
      undefined,
    ])
      expect(readQuestion(asked), JSON.stringify(asked)).to.equal(null)
  })

  it('belong to one state, and are weighed with it', () => {
    const [one, other] = [{}, {}] as EntitlementState[]
    let room = 100_000
    const kept = new KeptAnswers((state, bytes) => {
      if (state !== one || bytes > room) return false
      room -= bytes
      return true
    })
    kept.keep(one!, 'question', 'answer')
    expect(kept.find(one!, 'question')).to.equal('answer')
    expect(kept.find(other!, 'question')).to.equal(undefined)
    kept.keep(other!, 'question', 'answer')
    expect(kept.find(other!, 'question')).to.equal(undefined)
    const left = room
    kept.keep(one!, 'question', 'answer')
    expect(room).to.equal(left)
    kept.keep(one!, 'long question', 'x'.repeat(20_000))
    expect(left - room).to.be.within(20_000, 20_200)
    kept.keep(one!, 'wide question', 'я'.repeat(20_000))
    expect(left - room).to.be.within(60_000, 60_500)
    kept.keep(one!, 'one more', 'x'.repeat(50_000))
    expect(kept.find(one!, 'one more')).to.equal(undefined)
  })

  it('are not long ones, nor to long requests', () => {
    const state = {} as EntitlementState
    const kept = new KeptAnswers(() => true)
    kept.keep(state, 'x'.repeat(5_000), 'answer')
    kept.keep(state, 'question', 'x'.repeat(100_000))
    expect([kept.find(state, 'x'.repeat(5_000)), kept.find(state, 'question')]).to.deep.equal([undefined, undefined])
  })
})
