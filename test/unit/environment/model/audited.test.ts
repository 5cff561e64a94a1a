import { expect } from 'chai'
import { differenceOf } from '../../../../src/audit/model/difference.js'
import { auditedEnvironment, auditedKey, auditedSecret, auditedTestClock } from '../../../../src/environment/model/audited.js'
import type { ApiKey, Environment } from '../../../../src/environment/model/environment.js'

const environment: Environment = {
  id: 'e',
  refId: 'production',
  displayName: 'Production',
  isTest: false,
  hasPersistentCache: true,
  persistentCacheQueueUrl: null,
  allowsUnsignedClientReads: false,
  createdAt: 0,
}
const { createdAt: _, persistentCacheQueueUrl: __, ...settings } = environment
const entity = { environmentId: 'e', kind: 'ENVIRONMENT', id: 'production' }

describe('what the audit log says of an environment', () => {
  it('is its settings when it is made, and those that became different', () => {
    const made = auditedEnvironment(null, environment)
    expect(made).to.include(entity)
    expect(differenceOf(made)).to.deep.equal({ before: null, after: settings })
    expect(differenceOf(auditedEnvironment(environment, { ...environment, isTest: true, createdAt: 9 }))).to.deep.equal({
      before: { isTest: false },
      after: { isTest: true },
    })
  })

  it('is of another signing secret that it is another one, and until when the one before is valid', () => {
    const secrets = (before: number, after: number) => ({
      before: Uint8Array.of(before),
      after: Uint8Array.of(after),
      previousExpiresAt: 1_000,
    })
    const change = auditedSecret(environment, secrets(1, 2))
    expect(change).to.include(entity)
    const until = { before: { previousExpiresAt: null }, after: { previousExpiresAt: '1970-01-01T00:00:01.000Z' } }
    const signingSecret = { changed: true }
    expect(differenceOf(change)).to.deep.equal({
      before: { signingSecret, ...until.before },
      after: { signingSecret, ...until.after },
    })
    // Of bytes that are no text, each is another one.
    expect(differenceOf(auditedSecret(environment, secrets(0xfe, 0xff)))?.after).to.have.property('signingSecret')
    expect(differenceOf(auditedSecret(environment, secrets(0xff, 0xff)))).to.deep.equal(until)
  })

  it('is where its test clock was put, and from where', () => {
    const change = auditedTestClock(environment, null, new Date(0))
    expect(change).to.include(entity)
    expect(differenceOf(change)).to.deep.equal({ before: { testClock: null }, after: { testClock: '1970-01-01T00:00:00.000Z' } })
    expect(auditedTestClock(environment, new Date(0), null)).to.deep.include({
      before: { testClock: '1970-01-01T00:00:00.000Z' },
      after: { testClock: null },
    })
  })
})

describe('what the audit log says of an API key', () => {
  const key: ApiKey = {
    id: 'k',
    environmentId: 'e',
    kind: 'SERVER',
    name: 'backend',
    hint: 'abcd',
    createdAt: 0,
    expiresAt: 1_000,
    revokedAt: null,
  }

  it('is all that may be seen of it when it is made, and what became different', () => {
    const made = auditedKey(null, key)
    expect(made).to.include({ environmentId: 'e', kind: 'API_KEY', id: 'k' })
    expect(differenceOf(made)).to.deep.equal({
      before: null,
      after: { id: 'k', kind: 'SERVER', name: 'backend', hint: 'abcd', expiresAt: '1970-01-01T00:00:01.000Z' },
    })
    expect(differenceOf(auditedKey(key, { ...key, revokedAt: 0 }))).to.deep.equal({
      before: { revokedAt: null },
      after: { revokedAt: '1970-01-01T00:00:00.000Z' },
    })
  })
})
