import type { ServiceDefinition } from '@grpc/proto-loader'
import { expect } from 'chai'
import { fromNumber } from '../../../../src/kernel/decimal.js'
import { Problem } from '../../../../src/kernel/problem.js'
import type { CachedState, CacheEntry } from '../../../../src/reader/states/entry.js'
import type { Fallback } from '../../../../src/reader/states/fallback.js'
import { answerAll, answerFromEntry, answerFromFallback, checkKinds, toCheck } from '../../../../src/sidecar/grpc/checks.js'
import type { CheckRequest } from '../../../../src/sidecar/grpc/messages.js'
import { serviceName, sidecarPackage } from '../../../../src/sidecar/grpc/proto.js'
import { forgetRights, type Held, held, state } from '../../reader/states.js'

type Method = keyof typeof checkKinds

const now = 1_000
const service = sidecarPackage[serviceName] as ServiceDefinition
const read = (method: string, answer: Buffer | null) => answer && (service[method]!.responseDeserialize(answer) as Record<string, unknown>)

function right(featureId: string, featureType: 'BOOLEAN' | 'ENUM' | 'NUMBER', changes: Partial<Held> = {}): Held {
  const base = held(featureId, 0, 1)
  return { ...base, feature: { ...base.feature, featureType, meterType: 'None' }, ...changes }
}

const calls = held('calls', 8, 1)
const unmetered = [right('sso', 'BOOLEAN'), right('seats', 'NUMBER'), right('regions', 'ENUM', { enumValues: ['eu', 'us'] })]
const all = () => state(1, [...unmetered, calls])
const entryOf = (of: CachedState) => ({ state: of }) as CacheEntry

const request = (featureId: string, options?: CheckRequest['options']): CheckRequest => ({
  customer_id: 'c',
  feature_id: featureId,
  ...(options && { options }),
})
const ask = (method: Method, featureId: string, options?: CheckRequest['options'], of = all()) =>
  read(method, answerFromEntry(toCheck(checkKinds[method], request(featureId, options)), entryOf(of), now))

const refusal = (act: () => unknown) => {
  try {
    act()
    return null
  } catch (error) {
    const { path, field } = Problem.from(error).details
    return path ?? field
  }
}

describe('a check that a sidecar answers from what is held', () => {
  beforeEach(forgetRights)

  const questions: [method: Method, featureId: string, field: string][] = [
    ['GetBooleanEntitlement', 'sso', 'entitlement'],
    ['GetNumericEntitlement', 'seats', 'entitlement'],
    ['GetMeteredEntitlement', 'calls', 'entitlement'],
    ['GetEnumEntitlement', 'regions', 'entitlement'],
    ['GetEntitlement', 'sso', 'boolean'],
    ['GetEntitlement', 'seats', 'numeric'],
    ['GetEntitlement', 'calls', 'metered'],
    ['GetEntitlement', 'regions', 'enum'],
  ]
  for (const [method, featureId, field] of questions)
    it(`has for ${method} of ${featureId} the entitlement as ${field}`, () => {
      const answer = ask(method, featureId)!
      expect(answer).to.include({ has_access: true, is_fallback: false })
      expect(answer).to.not.have.property('access_denied_reason')
      expect(answer).to.have.nested.property(`${field}.feature.id`, featureId)
    })

  it('asks for the type of its method, and leaves the answer to a fallback when the feature has another one', () => {
    for (const [method, featureId] of questions)
      for (const other of ['sso', 'seats', 'calls', 'regions'])
        expect(ask(method, other) === null, `${method} ${other}`).to.equal(method !== 'GetEntitlement' && other !== featureId)
  })

  it('counts what is requested, and repeats it only where the message has room for it', () => {
    expect(ask('GetMeteredEntitlement', 'calls', { requested_usage: 2 })).to.include({ has_access: true, requested_usage: 2 })
    const denied = ask('GetMeteredEntitlement', 'calls', { requested_usage: 3 })
    expect(denied).to.include({ has_access: false, access_denied_reason: 8, requested_usage: 3 })
    expect(denied).to.have.nested.property('entitlement.current_usage', 8)
    expect(ask('GetEntitlement', 'calls', { requested_usage: 3 })).to.include({ has_access: false, access_denied_reason: 8 })
    expect(ask('GetMeteredEntitlement', 'calls')).to.include({ requested_usage: 0 })
    const requested = { requested_values: ['us', 'eu'] }
    expect(ask('GetEnumEntitlement', 'regions', requested)).to.deep.include({ has_access: true, ...requested })
    expect(ask('GetEnumEntitlement', 'regions', { requested_values: ['ap'] })).to.deep.include({
      has_access: false,
      access_denied_reason: 10,
      requested_values: ['ap'],
    })
    for (const options of [undefined, {}, { requested_values: [] }])
      expect(ask('GetEnumEntitlement', 'regions', options)).to.deep.include({ has_access: true, requested_values: [] })
    // Fields 4 of the others are entitlements: nothing may be written there.
    for (const method of ['GetBooleanEntitlement', 'GetEntitlement'] as const)
      expect(ask(method, 'sso', { requested_usage: 3, requested_values: ['us'] })).to.deep.equal(ask(method, 'sso'))
  })

  it('is as of now: usage of a period that is over is 0', () => {
    const of = state(1, [{ ...calls, usage: { ...calls.usage, periodEnd: now } }])
    expect(ask('GetMeteredEntitlement', 'calls', { requested_usage: 10 }, of)).to.include({ has_access: true })
    expect(ask('GetMeteredEntitlement', 'calls', {}, of)).to.have.nested.property('entitlement.current_usage', 0)
    expect(ask('GetMeteredEntitlement', 'calls', { requested_usage: 10 })).to.include({ has_access: false })
  })

  it('says why a feature is not held', () => {
    const missing = ask('GetBooleanEntitlement', 'other')!
    expect(missing).to.include({ has_access: false, is_fallback: false, access_denied_reason: 7 })
    expect(missing).to.include({ entitlement: null })
    const of = state(1, [calls], { deniedReason: 'CustomerIsArchived' })
    expect(ask('GetMeteredEntitlement', 'calls', {}, of)).to.include({ has_access: false, access_denied_reason: 2 })
    const revoked = state(1, [{ ...calls, deniedReason: 'Revoked' }])
    expect(ask('GetMeteredEntitlement', 'calls', {}, revoked)).to.include({ has_access: false, access_denied_reason: 13 })
  })

  it('refuses what cannot be asked, whoever asks', () => {
    expect(refusal(() => ask('GetBooleanEntitlement', ''))).to.equal('feature_id')
    expect(refusal(() => ask('GetMeteredEntitlement', 'calls', { requested_usage: -1 }))).to.equal('requestedUsage')
    const values = (count: number) => ({ requested_values: new Array<string>(count).fill('eu') })
    expect(refusal(() => ask('GetEnumEntitlement', 'regions', values(1_000)))).to.equal(null)
    expect(refusal(() => toCheck(checkKinds.GetEnumEntitlement, request('regions', values(1_001))))).to.equal('options.requested_values')
  })
})

describe('a check that a fallback answers', () => {
  const fallback: Fallback = { hasAccess: true, usageLimit: 5, isUnlimited: false, enumValues: ['eu'] }
  const none = new Map<string, Fallback>()
  const answer = (
    method: Method,
    options: CheckRequest['options'],
    global: ReadonlyMap<string, Fallback> = none,
    why: 'Unknown' | 'FeatureTypeMismatch' = 'Unknown',
  ) => read(method, answerFromFallback(toCheck(checkKinds[method], request('f', options)), global, why))!

  it('is a denial when there is none', () => {
    const denied = { has_access: false, is_fallback: true, access_denied_reason: 1, entitlement: null }
    expect(answer('GetBooleanEntitlement', undefined)).to.deep.equal(denied)
    expect(answer('GetBooleanEntitlement', {}, new Map([['g', fallback]]))).to.include({ has_access: false, access_denied_reason: 1 })
  })

  it('is that of the request, else the global one', () => {
    const global = new Map([['f', fallback]])
    const granted = { has_access: true, is_fallback: true }
    expect(answer('GetMeteredEntitlement', undefined, global)).to.deep.include({ ...granted })
    expect(answer('GetMeteredEntitlement', undefined, global)).to.have.nested.property('entitlement.usage_limit', 5)
    expect(answer('GetMeteredEntitlement', undefined, global)).to.not.have.property('access_denied_reason')
    const ofRequest = answer('GetMeteredEntitlement', { requested_usage: 2, fallback: { has_access: false, usage_limit: 3 } }, global)
    expect(ofRequest).to.include({ has_access: false, is_fallback: true, access_denied_reason: 1, requested_usage: 2 })
    expect(ofRequest).to.have.nested.property('entitlement.usage_limit', 3)
    expect(answer('GetEnumEntitlement', { requested_values: ['eu'] }, global)).to.deep.include({ ...granted, requested_values: ['eu'] })
  })

  it('shows no entitlement where the type is not known', () => {
    const ofRequest = { fallback: { has_access: true, usage_limit: 5 } }
    expect(answer('GetEntitlement', ofRequest)).to.deep.equal({ has_access: true, is_fallback: true })
  })

  it('tells that the feature is of another type, also where it grants', () => {
    const global = new Map([['f', fallback]])
    expect(answer('GetBooleanEntitlement', undefined, global, 'FeatureTypeMismatch')).to.include({
      has_access: true,
      access_denied_reason: 11,
    })
    expect(answer('GetBooleanEntitlement', undefined, none, 'FeatureTypeMismatch')).to.include({
      has_access: false,
      access_denied_reason: 11,
    })
  })
})

describe('all entitlements that a sidecar answers', () => {
  const list = (of: CachedState) =>
    read('GetEntitlements', answerAll(entryOf(of), now)) as {
      entitlements?: Record<string, { feature: { id: string } }>[]
    }

  it('are those that give access, each under its type, also one whose limit is reached', () => {
    const full = { ...calls, usage: { ...calls.usage, currentUsage: fromNumber(10) } }
    const { entitlements } = list(state(1, [...unmetered, full]))
    expect(entitlements!.map((entitlement) => Object.entries(entitlement).map(([type, of]) => [type, of.feature.id]))).to.deep.equal([
      [['boolean', 'sso']],
      [['numeric', 'seats']],
      [['enum', 'regions']],
      [['metered', 'calls']],
    ])
    expect(list(state(1, [{ ...calls, deniedReason: 'Revoked' }, right('sso', 'BOOLEAN')])).entitlements).to.have.length(1)
  })

  it('are as of now', () => {
    const over = list(state(1, [{ ...calls, usage: { ...calls.usage, periodEnd: now } }]))
    expect(over.entitlements![0]).to.have.nested.property('metered.current_usage', 0)
    expect(list(state(1, [calls])).entitlements![0]).to.have.nested.property('metered.current_usage', 8)
  })

  it('are none with the reason why', () => {
    expect(list(state(1, [calls], { deniedReason: 'NoActiveSubscription' }))).to.deep.equal({ entitlements: [], access_denied_reason: 6 })
    expect(list(state(1, []))).to.deep.equal({ entitlements: [] })
  })
})
