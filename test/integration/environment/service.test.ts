import { expect } from 'chai'
import { hashKey } from '../../../src/environment/model/key.js'
import { EnvironmentService } from '../../../src/environment/service.js'
import { FrozenClock } from '../../../src/kernel/clock.js'
import { Problem } from '../../../src/kernel/problem.js'
import { ensurePartitionsAround } from '../../../src/metering/retention/partitions-around.js'
import { silentLogger } from '../../../src/platform/logger.js'
import { openPostgres, type Postgres } from '../../../src/platform/postgres.js'
import { Life } from '../../../src/platform/process.js'
import { makeToken } from '../../support/customer-token.js'
import { createTestDatabase, type TestDatabase } from '../../support/database.js'

const startedAt = Date.parse('2026-05-01T00:00:00Z')
const hourMs = 3_600_000

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

  const anotherProcess = () => new EnvironmentService({ prisma: postgres.prisma, clock, prepareForEvents: ensurePartitionsAround })
  const createKey = (expiresAt: number | null = null) =>
    environments.createKey({ environment: refId, kind: 'SERVER', name: 'backend', expiresAt })
  const reasonOf = (work: Promise<unknown>) =>
    work.then(
      () => 'none',
      (error: unknown) => Problem.from(error).reason,
    )

  it('maps a key to its one environment', async () => {
    const { key, record } = await createKey()
    expect(await environments.authenticate(key)).to.deep.equal({
      environmentId,
      environmentRefId: refId,
      hasPersistentCache: true,
      allowsUnsignedClientReads: false,
      kind: 'SERVER',
      keyId: record.id,
    })
    const client = await environments.createKey({ environment: refId, kind: 'CLIENT', name: 'browser', expiresAt: null })
    expect(await environments.authenticate(client.key)).to.include({ environmentId, kind: 'CLIENT', keyId: client.record.id })
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
      expect(await reasonOf(environments.authenticate(wrong)), wrong).to.equal('UNAUTHENTICATED')
    }
  })

  it('refuses a key from the instant it expires, also one that was just used', async () => {
    const { key } = await createKey(startedAt + 1_000)
    clock.set(startedAt + 999)
    expect(await reasonOf(environments.authenticate(key))).to.equal('none')
    clock.set(startedAt + 1_000)
    expect(await reasonOf(environments.authenticate(key))).to.equal('UNAUTHENTICATED')
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
    await Promise.all([environments.authenticate(key), other.authenticate(key)])
    expect(await environments.revokeKey(record.id)).to.include({ id: record.id, revokedAt: startedAt })
    expect(await reasonOf(environments.authenticate(key))).to.equal('UNAUTHENTICATED')
    clock.set(startedAt + 5_000)
    expect(await reasonOf(other.authenticate(key))).to.equal('UNAUTHENTICATED')
    expect(await environments.revokeKey(record.id), 'the first revocation counts').to.include({ revokedAt: startedAt })
    expect(await reasonOf(environments.revokeKey('not-an-id'))).to.equal('API_KEY_NOT_FOUND')
  })

  it('rotates a key: both are valid until the overlap is over', async () => {
    const old = await createKey()
    const { key, record, replaced } = await environments.rotateKey(old.record.id, { overlapMs: hourMs, expiresAt: null })
    expect(record).to.include({ kind: 'SERVER', name: 'backend', expiresAt: null, environmentId })
    expect(replaced).to.include({ id: old.record.id, expiresAt: startedAt + hourMs })
    for (const valid of [key, old.key]) expect(await reasonOf(environments.authenticate(valid))).to.equal('none')
    clock.set(startedAt + hourMs)
    expect(await reasonOf(environments.authenticate(old.key))).to.equal('UNAUTHENTICATED')
    expect(await reasonOf(environments.authenticate(key))).to.equal('none')
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

  it('remembers for 5 seconds that a key is unknown, so that a wrong one does not hammer the database', async () => {
    const { key } = await createKey()
    await postgres.prisma.apiKey.updateMany({ where: { environmentId }, data: { hash: Buffer.alloc(32, count) } })
    expect(await reasonOf(environments.authenticate(key))).to.equal('UNAUTHENTICATED')
    await postgres.prisma.apiKey.updateMany({ where: { environmentId }, data: { hash: Buffer.from(hashKey(key)) } })
    clock.set(startedAt + 4_999)
    expect(await reasonOf(environments.authenticate(key))).to.equal('UNAUTHENTICATED')
    clock.set(startedAt + 5_000)
    expect(await reasonOf(environments.authenticate(key))).to.equal('none')
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

  it('keeps the secrets of environments apart', async () => {
    const { signingSecret } = await environments.create({ refId: `${refId}-other` })
    expect(await reasonOf(environments.verifyCustomerToken(environmentId, makeToken('customer-1', signingSecret)))).to.equal(
      'UNAUTHENTICATED',
    )
    expect(
      await reasonOf(environments.verifyCustomerToken('00000000-0000-7000-8000-000000000000', makeToken('c', signingSecret))),
    ).to.equal('UNAUTHENTICATED')
  })
})
