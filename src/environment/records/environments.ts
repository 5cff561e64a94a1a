import { recordAudit } from '../../audit/record/record.js'
import type { EpochMs } from '../../kernel/clock.js'
import { type Db, Prisma } from '../../platform/postgres.js'
import { auditedEnvironment, auditedKey, auditedSecret, auditedTestClock } from '../model/audited.js'
import type { ApiKey, Environment, KeyIdentity, KeyKind, PersistentCacheTarget } from '../model/environment.js'
import { formerOnceReplaced, fromColumns, type Secrets } from '../model/former-secrets.js'

const environmentFields = {
  id: true,
  refId: true,
  displayName: true,
  isTest: true,
  hasPersistentCache: true,
  persistentCacheQueueUrl: true,
  allowsUnsignedClientReads: true,
  createdAt: true,
} as const

const keyFields = {
  id: true,
  environmentId: true,
  kind: true,
  name: true,
  hint: true,
  createdAt: true,
  expiresAt: true,
  revokedAt: true,
} as const

/** Answers null when the refId is taken. */
export async function insertEnvironment(db: Db, environment: Environment, signingSecret: Uint8Array): Promise<Environment | null> {
  // Not caught as an error, because one inside a transaction would end it.
  const { count } = await db.environment.createMany({
    data: [{ ...environment, createdAt: new Date(environment.createdAt), signingSecret: Buffer.from(signingSecret) }],
    skipDuplicates: true,
  })
  if (count === 0) return null
  recordAudit(db, auditedEnvironment(null, environment))
  return environment
}

/** Oldest first. */
export async function listEnvironments(db: Db): Promise<Environment[]> {
  const rows = await db.environment.findMany({ select: environmentFields, orderBy: [{ createdAt: 'asc' }, { refId: 'asc' }] })
  return rows.map((row) => ({ ...row, createdAt: row.createdAt.getTime() }))
}

export async function findEnvironment(db: Db, refId: string): Promise<Environment | null> {
  const row = await db.environment.findUnique({ where: { refId }, select: environmentFields })
  return row && { ...row, createdAt: row.createdAt.getTime() }
}

export async function findEnvironmentById(db: Db, id: string): Promise<Environment | null> {
  const row = await db.environment.findUnique({ where: { id }, select: environmentFields })
  return row && { ...row, createdAt: row.createdAt.getTime() }
}

/** The same for a change of it: nobody else changes it until the transaction ends. */
async function holdEnvironment(db: Db, by: { refId: string } | { id: string }): Promise<Environment | null> {
  await db.$queryRaw(
    'refId' in by
      ? Prisma.sql`SELECT FROM environment WHERE ref_id = ${by.refId} FOR NO KEY UPDATE`
      : Prisma.sql`SELECT FROM environment WHERE id = ${by.id}::uuid FOR NO KEY UPDATE`,
  )
  return 'refId' in by ? findEnvironment(db, by.refId) : findEnvironmentById(db, by.id)
}

/** Null: there is no such environment. */
export async function setPersistentCache(db: Db, refId: string, target: PersistentCacheTarget | null): Promise<Environment | null> {
  const before = await holdEnvironment(db, { refId })
  if (!before) return null
  // By the clock of the database, as who sends changes compares it with that.
  await db.$executeRaw(Prisma.sql`
    UPDATE environment SET has_persistent_cache = ${target !== null}, persistent_cache_queue_url = ${target?.queueUrl ?? null},
      persistent_cache_since = CASE WHEN ${target !== null} THEN greatest(clock_timestamp(), persistent_cache_since + interval '1 ms') ELSE persistent_cache_since END
    WHERE ref_id = ${refId}`)
  const after = (await findEnvironment(db, refId))!
  recordAudit(db, auditedEnvironment(before, after))
  return after
}

export async function findTestClock(db: Db, id: string): Promise<{ isTest: boolean; testClock: Date | null } | null> {
  return db.environment.findUnique({ where: { id }, select: { isTest: true, testClock: true } })
}

export async function moveTestClock(db: Db, id: string, to: EpochMs): Promise<void> {
  const at = new Date(to)
  const before = await holdEnvironment(db, { id })
  const stood = before && (await findTestClock(db, id))!.testClock
  await db.$executeRaw(Prisma.sql`UPDATE environment SET test_clock = greatest(test_clock, ${at}) WHERE id = ${id}::uuid AND is_test`)
  if (before) recordAudit(db, auditedTestClock(before, stood, (await findTestClock(db, id))!.testClock))
}

/** The time in the environment. */
export async function readTime(db: Db, environmentId: string): Promise<EpochMs> {
  const [row] = await db.$queryRaw<{ now: number }[]>(Prisma.sql`SELECT environment_clock(${environmentId}::uuid)::float8 AS now`)
  return row!.now
}

/** Null: there is no such environment. */
export async function findSigningSecrets(db: Db, environmentId: string): Promise<Secrets | null> {
  const row = await db.environment.findUnique({
    where: { id: environmentId },
    select: { signingSecret: true, formerSigningSecrets: true, formerSigningSecretsExpireAt: true },
  })
  return (
    row && {
      current: row.signingSecret,
      former: fromColumns({ secrets: row.formerSigningSecrets, expireAt: row.formerSigningSecretsExpireAt }),
    }
  )
}

/** The current secret becomes a former one. The environment is held, so that two rotations at once are one after the other. */
export async function replaceSigningSecret(
  db: Db,
  environmentId: string,
  secret: Uint8Array,
  { now, overlapMs }: { now: EpochMs; overlapMs: number },
): Promise<void> {
  const environment = (await holdEnvironment(db, { id: environmentId }))!
  const before = (await findSigningSecrets(db, environmentId))!
  const former = formerOnceReplaced(before, { now, overlapMs })
  await db.environment.update({
    where: { id: environmentId },
    data: {
      signingSecret: Buffer.from(secret),
      formerSigningSecrets: former.map((each) => Buffer.from(each.secret)),
      formerSigningSecretsExpireAt: former.map(({ expiresAt }) => new Date(expiresAt)),
    },
    select: { id: true },
  })
  recordAudit(db, auditedSecret(environment, { before: before.current, after: secret, previousExpiresAt: now + overlapMs }))
}

interface NewKey {
  id: string
  environmentId: string
  kind: KeyKind
  name: string
  hash: Uint8Array
  hint: string
  createdAt: EpochMs
  expiresAt: EpochMs | null
}

export async function insertKey(db: Db, key: NewKey): Promise<ApiKey> {
  const row = await db.apiKey.create({
    data: {
      ...key,
      hash: Buffer.from(key.hash),
      createdAt: new Date(key.createdAt),
      expiresAt: key.expiresAt === null ? null : new Date(key.expiresAt),
    },
    select: keyFields,
  })
  const created = fromKeyRow(row)
  recordAudit(db, auditedKey(null, created))
  return created
}

/** Oldest first, revoked and expired ones too. */
export async function listKeys(db: Db, environmentId: string): Promise<ApiKey[]> {
  const rows = await db.apiKey.findMany({ where: { environmentId }, select: keyFields, orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] })
  return rows.map(fromKeyRow)
}

/** Ids are ours, hence unique beyond the environment. */
export async function findKey(db: Db, id: string): Promise<ApiKey | null> {
  const row = await db.apiKey.findFirst({ where: { id }, select: keyFields })
  return row && fromKeyRow(row)
}

/** Answers false when the key was revoked already. */
export async function setKeyEnd(db: Db, before: ApiKey, end: { expiresAt: EpochMs } | { revokedAt: EpochMs }): Promise<boolean> {
  const { environmentId, id } = before
  const data = 'expiresAt' in end ? { expiresAt: new Date(end.expiresAt) } : { revokedAt: new Date(end.revokedAt) }
  const { count } = await db.apiKey.updateMany({ where: { environmentId, id, revokedAt: null }, data })
  if (count === 1) recordAudit(db, auditedKey(before, { ...before, ...end }))
  return count === 1
}

export interface StoredIdentity extends Pick<ApiKey, 'expiresAt' | 'revokedAt'> {
  identity: KeyIdentity
}

export async function findIdentity(db: Db, hash: Uint8Array): Promise<StoredIdentity | null> {
  const row = await db.apiKey.findUnique({
    where: { hash: Buffer.from(hash) },
    select: { ...keyFields, environment: { select: { refId: true, hasPersistentCache: true, allowsUnsignedClientReads: true } } },
  })
  if (!row) return null
  const { id, environmentId, kind, name, expiresAt, revokedAt } = fromKeyRow(row)
  const { refId, ...settings } = row.environment
  return { identity: { environmentId, environmentRefId: refId, ...settings, kind, keyId: id, keyName: name }, expiresAt, revokedAt }
}

interface KeyRow extends Omit<ApiKey, 'createdAt' | 'expiresAt' | 'revokedAt'> {
  createdAt: Date
  expiresAt: Date | null
  revokedAt: Date | null
}

function fromKeyRow({ id, environmentId, kind, name, hint, createdAt, expiresAt, revokedAt }: KeyRow): ApiKey {
  return {
    id,
    environmentId,
    kind,
    name,
    hint,
    createdAt: createdAt.getTime(),
    expiresAt: expiresAt?.getTime() ?? null,
    revokedAt: revokedAt?.getTime() ?? null,
  }
}
