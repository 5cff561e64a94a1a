import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import fc from 'fast-check'
import {
  entityKey,
  entityOf,
  epochKey,
  holderOf,
  keysBelow,
  metadataKey,
  timestampKey,
  usageKey,
} from '../../../../src/updates/external-cache/keys.js'

interface Names {
  customerId: string
  resourceId?: string
  featureId?: string
}

const cases: { keysThatMustNotCollide: [Names, Names][]; acceptedIdentifiers: string[] } = JSON.parse(
  readFileSync('test/cases/refused.json', 'utf8'),
)

/** Every key that exists for an entity (and one of its features). */
function keysOf({ customerId, resourceId, featureId }: Names): string[] {
  const entity = entityKey('production', { customerId, resourceId: resourceId ?? null })
  const values = featureId === undefined ? [entity, metadataKey(entity)] : [usageKey(entity, featureId)]
  return values.flatMap((key) => [key, timestampKey(key)])
}

/** Identifiers made of what keys are made of. */
const identifier = fc
  .array(
    fc.constantFrom('a', ':', '_', 'r', 'f', 'c', '#', '%', ':r_', ':f_', ':c_', ':credit_', ':metadata', '#timestamp', '25', '3A', '23'),
    {
      minLength: 1,
      maxLength: 5,
    },
  )
  .map((parts) => parts.join(''))
const names: fc.Arbitrary<Names> = fc.record(
  { customerId: identifier, resourceId: identifier, featureId: identifier },
  { requiredKeys: ['customerId'] },
)

describe('keys of the external cache', () => {
  it('has the layout that deployed readers expect', () => {
    const customer = entityKey('production', { customerId: 'acme', resourceId: null })
    const resource = entityKey('production', { customerId: 'acme', resourceId: 'site-1' })
    expect([
      customer,
      resource,
      usageKey(resource, 'api-calls'),
      metadataKey(customer),
      timestampKey(usageKey(customer, 'seats')),
    ]).to.deep.equal([
      'production:c_acme',
      'production:c_acme:r_site-1',
      'production:c_acme:r_site-1:f_api-calls',
      'production:c_acme:metadata',
      'production:c_acme:f_seats#timestamp',
    ])
  })

  it('says whose entry a key is, of whatever identifiers', () => {
    fc.assert(
      fc.property(names, ({ customerId, resourceId = null, featureId = 'f' }) => {
        const entity = entityKey('production', { customerId, resourceId })
        expect(entityOf('production', entity)).to.deep.equal({ customerId, resourceId })
        for (const key of [metadataKey(entity), usageKey(entity, featureId)])
          for (const other of [key, timestampKey(key), timestampKey(entity)]) expect(entityOf('production', other), other).to.equal(null)
        const ofUsage = usageKey(entity, featureId)
        expect(holderOf('production', ofUsage)).to.deep.equal({ customerId, resourceId })
        for (const other of [entity, metadataKey(entity), timestampKey(ofUsage)])
          expect(holderOf('production', other), other).to.equal(null)
      }),
    )
    for (const key of [epochKey('production'), 'other:c_acme', 'production:acme', ''])
      expect(entityOf('production', key), key).to.equal(null)
  })

  it('takes the prefix as it is, so that it can be a hash tag', () => {
    expect(entityKey('{production}', { customerId: 'acme', resourceId: null })).to.equal('{production}:c_acme')
  })

  for (const id of [...cases.acceptedIdentifiers.filter((text) => !text.startsWith('x repeated')), 'a:b:c', 'a#b', '50%', '%41', '%3a']) {
    it(`writes the identifier ${JSON.stringify(id)} as it is`, () => {
      expect(entityKey('p', { customerId: id, resourceId: id })).to.equal(`p:c_${id}:r_${id}`)
    })
  }

  for (const [id, written] of [
    ['a:r_b', 'a%3Ar_b'],
    ['a:credit_b#1', 'a%3Acredit_b%231'],
    ['a#timestamp', 'a%23timestamp'],
    ['a%3Ab', 'a%253Ab'],
    ['100%25', '100%2525'],
    ['a:f_100%', 'a%3Af_100%25'],
  ] as const) {
    it(`encodes the identifier ${id}, which could be taken for a part of a key`, () => {
      expect(entityKey('p', { customerId: id, resourceId: null })).to.equal(`p:c_${written}`)
    })
  }

  for (const [one, other] of cases.keysThatMustNotCollide) {
    it(`keeps ${JSON.stringify(one)} apart from ${JSON.stringify(other)}`, () => {
      expect(keysOf(one).filter((key) => keysOf(other).includes(key))).to.deep.equal([])
    })
  }

  it('never gives two things one key', () => {
    fc.assert(
      fc.property(names, names, (one, other) => {
        fc.pre(JSON.stringify(one) !== JSON.stringify(other))
        expect(keysOf(one).filter((key) => keysOf(other).includes(key))).to.deep.equal([])
      }),
      { numRuns: 2_000 },
    )
  }).timeout(20_000)

  it('matches what lies below an entity literally', () => {
    expect(keysBelow('p:c_a*[b]?\\')).to.equal('p:c_a\\*\\[b\\]\\?\\\\:[rf]_*')
  })
})
