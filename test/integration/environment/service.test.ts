import { expect } from 'chai'
import { Redis } from 'ioredis'
import { hearKeyNews, keyNewsTeller } from '../../../src/environment/key-news.js'
import { hashKey } from '../../../src/environment/model/key.js'
import { EnvironmentService } from '../../../src/environment/service.js'
import { FrozenClock } from '../../../src/kernel/clock.js'
import { Problem } from '../../../src/kernel/problem.js'
import { silentLogger } from '../../../src/platform/logger.js'
import { openPostgres, type Postgres } from '../../../src/platform/postgres.js'
import { Life } from '../../../src/platform/process.js'
import { makeToken } from '../../support/customer-token.js'
import { createTestDatabase, type TestDatabase } from '../../support/database.js'
import { eventually } from '../../support/eventually.js'
import { testRedisPrefix, testRedisUrl } from '../../support/redis.js'

const startedAt = Date.parse('2026-05-01T00:00:00Z')
const hourMs = 3_600_000
const address = '192.0.2.1'

describe('environments and keys', () => {
  let database: TestDatabase
  let life: Life
  let postgres: Postgres
  const clock = new FrozenClock(startedAt)
  let environments: EnvironmentService
  let environmentId: string
  let count = 0
  let refId: string

  before(async () => {
    database = await createTestDatabase()
    life = new Life('test', silentLogger())
    postgres = openPostgres(life, database.url, { poolSize: 5 })
  })
  after(async () => {
    expect(await life.stop()).to.deep.equal([])
    await database.drop()
  })

  beforeEach(async () => {
    clock.set(startedAt)
    environments = anotherProcess()
    refId = `environment-${++count}`
    environmentId = (await environments.create({ refId, hasPersistentCache: true })).environment.id
  })

  const anotherProcess = () => new EnvironmentService({ prisma: postgres.prisma, clock })
  const createKey = (expiresAt: number | null = null) =>
    environments.createKey({ environment: refId, kind: 'SERVER', name: 'backend', expiresAt })
  const reasonOf = (work: Promise<unknown>) =>
    work.then(
      () => 'none',
      (error: unknown) => Problem.from(error).reason,
    )

  it('maps a key to its one environment', async () => {
    const { key, record } = await createKey()
    expect(await environments.authenticate(key, address)).to.deep.equal({
      environmentId,
      environmentRefId: refId,
      hasPersistentCache: true,
      allowsUnsignedClientReads: false,
      kind: 'SERVER',
      keyId: record.id,
      keyName: record.name,
    })
    const client = await environments.createKey({ environment: refId, kind: 'CLIENT', name: 'browser', expiresAt: null })
    expect(await environments.authenticate(client.key, address)).to.include({ environmentId, kind: 'CLIENT', keyId: client.record.id })
  })

  it('stores no key and no part of one but its last four characters', async () => {
    const { key } = await createKey()
    const { rows } = await postgres.pool.query(
      'select row_to_json(k)::text as row, hint, encode(hash, $1) as hash from api_key k where environment_id = $2',
      ['hex', environmentId],
    )
    expect(rows[0].hint).to.equal(key.slice(-4))
    expect(rows[0].hash).to.match(/^[0-9a-f]{64}$/)
    for (let at = 0; at + 8 <= key.length; at++) expect(rows[0].row).not.to.include(key.slice(at, at + 8))
  })

  it('refuses unknown, malformed and empty keys alike', async () => {
    const { key } = await createKey()
    for (const wrong of ['', 'nonsense', `server-${'x'.repeat(40)}`, `${key}x`, key.replace('server', 'client')]) {
      expect(await reasonOf(environments.authenticate(wrong, address)), wrong).to.equal('UNAUTHENTICATED')
    }
  })

  it('refuses a key from the instant it expires, also one that was just used', async () => {
    const { key } = await createKey(startedAt + 1_000)
    clock.set(startedAt + 999)
    expect(await reasonOf(environments.authenticate(key, address))).to.equal('none')
    clock.set(startedAt + 1_000)
    expect(await reasonOf(environments.authenticate(key, address))).to.equal('UNAUTHENTICATED')
  })

  it('creates no key that is expired already, for an unknown environment or without a name', async () => {
    const wanted = { environment: refId, kind: 'SERVER', name: 'x', expiresAt: null } as const
    expect(await reasonOf(environments.createKey({ ...wanted, expiresAt: startedAt }))).to.equal('BAD_USER_INPUT')
    expect(await reasonOf(environments.createKey({ ...wanted, environment: 'nowhere' }))).to.equal('ENVIRONMENT_NOT_FOUND')
    expect(await reasonOf(environments.createKey({ ...wanted, name: ' ' }))).to.equal('BAD_USER_INPUT')
    expect(await environments.listKeys(refId)).to.deep.equal([])
  })

  it('ends a revoked key at once here, and within 5 seconds in every other process', async () => {
    const other = anotherProcess()
    const { key, record } = await createKey()
    await Promise.all([environments.authenticate(key, address), other.authenticate(key, address)])
    expect(await environments.revokeKey(record.id)).to.include({ id: record.id, revokedAt: startedAt })
    expect(await reasonOf(environments.authenticate(key, address))).to.equal('UNAUTHENTICATED')
    clock.set(startedAt + 5_000)
    expect(await reasonOf(other.authenticate(key, address))).to.equal('UNAUTHENTICATED')
    expect(await environments.revokeKey(record.id), 'the first revocation counts').to.include({ revokedAt: startedAt })
    expect(await reasonOf(environments.revokeKey('not-an-id'))).to.equal('API_KEY_NOT_FOUND')
  })

  it('rotates a key: both are valid until the overlap is over', async () => {
    const old = await createKey()
    const { key, record, replaced } = await environments.rotateKey(old.record.id, { overlapMs: hourMs, expiresAt: null })
    expect(record).to.include({ kind: 'SERVER', name: 'backend', expiresAt: null, environmentId })
    expect(replaced).to.include({ id: old.record.id, expiresAt: startedAt + hourMs })
    for (const valid of [key, old.key]) expect(await reasonOf(environments.authenticate(valid, address))).to.equal('none')
    clock.set(startedAt + hourMs)
    expect(await reasonOf(environments.authenticate(old.key, address))).to.equal('UNAUTHENTICATED')
    expect(await reasonOf(environments.authenticate(key, address))).to.equal('none')
    expect((await environments.listKeys(refId)).map(({ id }) => id)).to.deep.equal([old.record.id, record.id])
  })

  it('never lengthens the life of a key by rotating it, and rotates none that is over', async () => {
    const short = await createKey(startedAt + 1_000)
    const { replaced } = await environments.rotateKey(short.record.id, { overlapMs: hourMs, expiresAt: null })
    expect(replaced.expiresAt).to.equal(startedAt + 1_000)
    clock.set(startedAt + 1_000)
    expect(await reasonOf(environments.rotateKey(short.record.id, { overlapMs: 0, expiresAt: null }))).to.equal('API_KEY_NOT_VALID')
    const revoked = await createKey()
    await environments.revokeKey(revoked.record.id)
    expect(await reasonOf(environments.rotateKey(revoked.record.id, { overlapMs: 0, expiresAt: null }))).to.equal('API_KEY_NOT_VALID')
    expect(await reasonOf(environments.rotateKey(revoked.record.id, { overlapMs: -1, expiresAt: null }))).to.equal('BAD_USER_INPUT')
  })

  it('remembers for a minute that a key is unknown, so that a wrong one does not hammer the database', async () => {
    const { key } = await createKey()
    await postgres.prisma.apiKey.updateMany({ where: { environmentId }, data: { hash: Buffer.alloc(32, count) } })
    expect(await reasonOf(environments.authenticate(key, address))).to.equal('UNAUTHENTICATED')
    await postgres.prisma.apiKey.updateMany({ where: { environmentId }, data: { hash: Buffer.from(hashKey(key)) } })
    clock.set(startedAt + 59_999)
    expect(await reasonOf(environments.authenticate(key, address))).to.equal('UNAUTHENTICATED')
    clock.set(startedAt + 60_000)
    expect(await reasonOf(environments.authenticate(key, address))).to.equal('none')
  })

  it('hears of keys that others create, and of those that were created while nothing was heard', async () => {
    const queues = { redisUrl: testRedisUrl(), prefix: testRedisPrefix() }
    const parts = { prisma: postgres.prisma, clock }
    const creator = new EnvironmentService({ ...parts, tellCreated: keyNewsTeller(life, queues) })
    const heard: string[] = []
    hearKeyNews(life, queues, {
      created: (hash) => void heard.push(hash.toString('hex')),
      forgetUnknown: () => void heard.push('all'),
    })
    await eventually('to be listening', async () => heard.length > 0)
    const { key, record } = await creator.createKey({ environment: refId, kind: 'SERVER', name: 'new', expiresAt: null })
    const rotated = await creator.rotateKey(record.id, { overlapMs: 0, expiresAt: null })
    const expected = [key, rotated.key].map((each) => hashKey(each).toString('hex'))
    await eventually('both to be heard of', async () => expected.every((hash) => heard.includes(hash)))
    const admin = new Redis(queues.redisUrl)
    try {
      await admin.call('CLIENT', 'KILL', 'TYPE', 'pubsub')
      await eventually('all to be forgotten once it listens again', async () => heard.filter((each) => each === 'all').length > 1)
    } finally {
      admin.disconnect()
    }
  })

  it('makes one environment of a refId', async () => {
    expect(await reasonOf(environments.create({ refId }))).to.equal('DUPLICATED_ENTITY_NOT_ALLOWED')
    expect(await reasonOf(environments.create({ refId: '' }))).to.equal('BAD_USER_INPUT')
    expect(await environments.find(refId)).to.deep.include({
      id: environmentId,
      refId,
      displayName: refId,
      isTest: false,
      createdAt: startedAt,
    })
    expect((await environments.list()).filter((environment) => environment.refId === refId)).to.have.length(1)
  })

  it('accepts customer tokens of the current and the previous signing secret, and of no other', async () => {
    const { environment, signingSecret: first } = await environments.create({ refId: `${refId}-signing` })
    const verify = (secret: string) =>
      environments
        .verifyCustomerToken(environment.id, makeToken('customer-1', secret))
        .catch((error: unknown) => Problem.from(error).reason)
    expect(await verify(first)).to.equal('customer-1')

    const { signingSecret: second, previousExpiresAt } = await environments.rotateSigningSecret(environment.refId, { overlapMs: hourMs })
    expect(previousExpiresAt).to.equal(startedAt + hourMs)
    expect([await verify(first), await verify(second)]).to.deep.equal(['customer-1', 'customer-1'])
    clock.set(startedAt + hourMs)
    expect([await verify(first), await verify(second)]).to.deep.equal(['UNAUTHENTICATED', 'customer-1'])

    const { signingSecret: third } = await environments.rotateSigningSecret(environment.refId, { overlapMs: hourMs })
    expect([await verify(first), await verify(second), await verify(third)]).to.deep.equal(['UNAUTHENTICATED', 'customer-1', 'customer-1'])
  })

  it('accepts tokens of the secret that is in use until its overlap is over, however often it is rotated meanwhile', async () => {
    const { environment, signingSecret: first } = await environments.create({ refId: `${refId}-repeated` })
    const accepts = (secret: string) => reasonOf(environments.verifyCustomerToken(environment.id, makeToken('customer-1', secret)))
    const rotate = (overlapMs: number) => environments.rotateSigningSecret(environment.refId, { overlapMs })
    // Its answer was lost.
    const { signingSecret: unknown } = await rotate(3 * hourMs)
    const { signingSecret: second } = await rotate(hourMs)
    expect([await accepts(first), await accepts(unknown), await accepts(second)]).to.deep.equal(['none', 'none', 'none'])
    clock.set(startedAt + hourMs)
    expect([await accepts(first), await accepts(unknown), await accepts(second)]).to.deep.equal(['none', 'UNAUTHENTICATED', 'none'])
    for (let n = 0; n < 9; n++) await rotate(hourMs)
    expect(await reasonOf(rotate(hourMs))).to.equal('TOO_MANY_SECRETS')
    expect([await accepts(first), await accepts(second)]).to.deep.equal(['none', 'none'])
    const { signingSecret: last } = await rotate(0)
    const ended = ['UNAUTHENTICATED', 'UNAUTHENTICATED', 'none']
    expect([await accepts(first), await accepts(second), await accepts(last)]).to.deep.equal(ended)
  })

  it('keeps the secrets of environments apart', async () => {
    const { signingSecret } = await environments.create({ refId: `${refId}-other` })
    expect(await reasonOf(environments.verifyCustomerToken(environmentId, makeToken('customer-1', signingSecret)))).to.equal(
      'UNAUTHENTICATED',
    )
    expect(
      await reasonOf(environments.verifyCustomerToken('00000000-0000-7000-8000-000000000000', makeToken('c', signingSecret))),
    ).to.equal('UNAUTHENTICATED')
  })

  it('takes no signed name that no customer can have', async () => {
    const { environment, signingSecret } = await environments.create({ refId: `${refId}-long` })
    const verify = (customerId: string) => reasonOf(environments.verifyCustomerToken(environment.id, makeToken(customerId, signingSecret)))
    expect(await environments.verifyCustomerToken(environment.id, makeToken('c'.repeat(255), signingSecret))).to.have.length(255)
    for (const customerId of ['c'.repeat(256), 'a\u0001']) expect(await verify(customerId)).to.equal('UNAUTHENTICATED')
  })
})
