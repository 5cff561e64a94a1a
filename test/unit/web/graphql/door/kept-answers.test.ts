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

  it('belong to one state, and are bounded', () => {
    const [one, other] = [{}, {}] as EntitlementState[]
    const kept = new KeptAnswers()
    kept.keep(one!, 'question', 'answer')
    expect(kept.find(one!, 'question')).to.equal('answer')
    expect(kept.find(other!, 'question')).to.equal(undefined)
    for (let n = 0; n < 40; n++) kept.keep(one!, `question ${n}`, 'answer')
    expect(kept.find(one!, 'question')).to.equal(undefined)
    kept.keep(one!, 'x'.repeat(5_000), 'answer')
    expect(kept.find(one!, 'x'.repeat(5_000))).to.equal(undefined)
  })
})
