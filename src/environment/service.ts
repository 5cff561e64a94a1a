import { LRUCache } from 'lru-cache'
import { validate as isUuid } from 'uuid'
import type { Clock, EpochMs } from '../kernel/clock.js'
import { checkRefId, identifierFault, newId } from '../kernel/id.js'
import { invalidInput } from '../kernel/problem.js'
import { type Db, type PrismaClient } from '../platform/postgres.js'
import { inTransaction } from '../platform/transaction.js'
import { KeyLookups } from './key-lookups.js'
import { verifyToken } from './model/customer-token.js'
import {
  type ApiKey,
  type Environment,
  type EnvironmentTime,
  isValidKey,
  type KeyIdentity,
  type KeyKind,
  type PersistentCacheTarget,
  type TestClock,
} from './model/environment.js'
import { type Secrets, validSecrets } from './model/former-secrets.js'
import { hashKey, hintOf, isWellFormedKey, makeKey, randomText } from './model/key.js'
import {
  environmentExists,
  environmentNotFound,
  keyNotFound,
  keyNotValid,
  noTestEnvironment,
  testClockExists,
  testClockMissing,
  unauthenticated,
} from './model/problems.js'
import { Recent } from './recent.js'
import * as repository from './records/environments.js'

interface CreateEnvironment {
  refId: string
  /** Absent: the refId. */
  displayName?: string
  isTest?: boolean
  hasPersistentCache?: boolean
  allowsUnsignedClientReads?: boolean
}

interface CreateKey {
  /** The environment's refId. */
  environment: string
  kind: KeyKind
  /** Says where the key is used; need not be unique. */
  name: string
  /** Null: no end. */
  expiresAt: EpochMs | null
}

interface RotateKey {
  /** How long the old key stays valid; 0: not at all. It never lives longer than it would have. */
  overlapMs: number
  /** Of the new key; null: no end. */
  expiresAt: EpochMs | null
}

/** A key and its text, which is known only now. */
export interface CreatedKey {
  key: string
  record: ApiKey
}

/** How long a rotated secret can go unnoticed by a process. */
const secretsMs = 5_000
const maxSecrets = 10_000

interface ServiceParts {
  prisma: PrismaClient
  clock: Clock
  /** Tells all processes that there is a key with this hash; absent: they find out in a minute. */
  tellCreated?: (keyHash: Buffer) => Promise<void>
}

/** Environments, their keys and signing secrets; who a request comes from. */
export class EnvironmentService implements EnvironmentTime {
  readonly #withoutClock = new LRUCache<string, true>({ max: 10_000 })
  readonly #prisma: PrismaClient
  readonly #clock: Clock
  readonly #tellCreated: (keyHash: Buffer) => Promise<void>
  /** Who keys are of, as this process knows it. */
  readonly keys: KeyLookups
  readonly #secrets: Recent<Secrets | null>

  constructor({ prisma, clock, tellCreated = async () => {} }: ServiceParts) {
    this.#prisma = prisma
    this.#clock = clock
    this.#tellCreated = tellCreated
    this.keys = new KeyLookups({ load: (hash) => repository.findIdentity(prisma, hash), clock })
    this.#secrets = new Recent({ ttlMs: secretsMs, max: maxSecrets, clock })
  }

  /** Answers the signing secret too, this once. Fails with DUPLICATED_ENTITY_NOT_ALLOWED when the refId is taken. */
  async create(input: CreateEnvironment): Promise<{ environment: Environment; signingSecret: string }> {
    const refId = checkRefId(input.refId, 'refId')
    const { displayName = refId, isTest = false, hasPersistentCache = false, allowsUnsignedClientReads = false } = input
    const signingSecret = randomText()
    const settings = { isTest, hasPersistentCache, persistentCacheQueueUrl: null, allowsUnsignedClientReads }
    const wanted = { id: newId(), refId, displayName: checkRefId(displayName, 'displayName'), ...settings, createdAt: this.#clock.now() }
    const environment = await inTransaction(this.#prisma, (db) => repository.insertEnvironment(db, wanted, Buffer.from(signingSecret)))
    if (!environment) throw environmentExists(refId)
    return { environment, signingSecret }
  }

  now(environmentId: string): Promise<EpochMs> {
    return repository.readTime(this.#prisma, environmentId)
  }

  /** Null: it has none, and the database's time counts. What is no test environment is looked up once, as it never becomes one. */
  async testClock(environmentId: string): Promise<TestClock | null> {
    if (this.#withoutClock.has(environmentId)) return null
    const stored = await repository.findTestClock(this.#prisma, environmentId)
    if (stored && !stored.isTest) this.#withoutClock.set(environmentId, true)
    return stored?.testClock ? { now: await this.now(environmentId) } : null
  }

  /** The clock stands at the time of now; `at` is where it is going to be moved, and only checked here. */
  async createTestClock(environmentId: string, at: EpochMs): Promise<void> {
    const stored = await repository.findTestClock(this.#prisma, environmentId)
    if (!stored?.isTest) throw noTestEnvironment()
    if (stored.testClock) throw testClockExists()
    const now = await this.now(environmentId)
    if (at < now) throw invalidInput('A test clock cannot be in the past.', { path: 'frozenTime' })
    await this.moveTestClock(environmentId, now)
  }

  /** @throws Problem unless there is a clock and `to` is not before it */
  async checkTestClockMove(environmentId: string, to: EpochMs): Promise<void> {
    const clock = await this.testClock(environmentId)
    if (!clock) throw testClockMissing()
    if (to < clock.now)
      throw invalidInput(`A test clock only goes forward: it stands at ${new Date(clock.now).toISOString()}.`, { path: 'frozenTime' })
  }

  /** Never back: of two moves at once the later instant counts. */
  moveTestClock(environmentId: string, to: EpochMs): Promise<void> {
    return inTransaction(this.#prisma, (db) => repository.moveTestClock(db, environmentId, to))
  }

  /** Oldest first. */
  list(): Promise<Environment[]> {
    return repository.listEnvironments(this.#prisma)
  }

  /** Null: there is none. */
  find(refId: string): Promise<Environment | null> {
    return repository.findEnvironment(this.#prisma, refId)
  }

  /** Where the environment's changes go besides; null: nowhere, or there is no such environment. */
  async persistentCacheOf(environmentId: string): Promise<PersistentCacheTarget | null> {
    const environment = await repository.findEnvironmentById(this.#prisma, environmentId)
    return environment?.hasPersistentCache ? { queueUrl: environment.persistentCacheQueueUrl } : null
  }

  /**
   * Has the environment's changes go to a queue too, from a few seconds later on; the first that the queue is told is to read everything anew. Safe to repeat,
   * also with another queue. Fails with INVALID_ARGUMENT when `queueUrl` is no address of a queue of SQS.
   */
  async enablePersistentCache(refId: string, target: PersistentCacheTarget): Promise<Environment> {
    checkQueueUrl(target.queueUrl)
    return this.#setPersistentCache(refId, target)
  }

  /** Ends that, within seconds. What the queue has been told stays in it. Safe to repeat. */
  async disablePersistentCache(refId: string): Promise<Environment> {
    return this.#setPersistentCache(refId, null)
  }

  async #setPersistentCache(refId: string, target: PersistentCacheTarget | null): Promise<Environment> {
    const environment = await inTransaction(this.#prisma, (db) => repository.setPersistentCache(db, refId, target))
    if (!environment) throw environmentNotFound(refId)
    return environment
  }

  async createKey({ environment, kind, name, expiresAt }: CreateKey): Promise<CreatedKey> {
    const { id } = await this.#environment(environment)
    const wanted = { environmentId: id, kind, name: checkRefId(name, 'name'), expiresAt }
    const created = await inTransaction(this.#prisma, (db) => this.#insertKey(db, wanted))
    return this.#told(created)
  }

  /** Oldest first, also those that are no longer valid. */
  async listKeys(environment: string): Promise<ApiKey[]> {
    const { id } = await this.#environment(environment)
    return repository.listKeys(this.#prisma, id)
  }

  /** A new key of the same kind and name; both are valid until the overlap is over. Rotating again makes one more. */
  async rotateKey(keyId: string, { overlapMs, expiresAt }: RotateKey): Promise<CreatedKey & { replaced: ApiKey }> {
    checkOverlap(overlapMs)
    const rotated = await inTransaction(this.#prisma, async (db) => {
      const old = await findKey(db, keyId)
      const now = this.#clock.now()
      if (!isValidKey(old, now)) throw keyNotValid(keyId)
      const endsAt = Math.min(old.expiresAt ?? Number.POSITIVE_INFINITY, now + overlapMs)
      if (!(await repository.setKeyEnd(db, old, { expiresAt: endsAt }))) throw keyNotValid(keyId)
      const created = await this.#insertKey(db, { ...old, expiresAt })
      return { ...created, replaced: { ...old, expiresAt: endsAt } }
    })
    this.keys.forgetKnown()
    return this.#told(rotated)
  }

  /** Safe to repeat: the first time counts. Other processes may accept the key for 5 seconds more, open WebSockets for 20. */
  async revokeKey(keyId: string): Promise<ApiKey> {
    await inTransaction(this.#prisma, async (db) => repository.setKeyEnd(db, await findKey(db, keyId), { revokedAt: this.#clock.now() }))
    this.keys.forgetKnown()
    return findKey(this.#prisma, keyId)
  }

  /**
   * A new secret for customer tokens, answered this once. Tokens of the old one are accepted until the overlap is over, tokens of those before it until theirs is:
   * so it is safe to repeat. An overlap of 0 leaves only the new one. Fails with TOO_MANY_SECRETS when many are valid.
   */
  async rotateSigningSecret(
    environment: string,
    { overlapMs }: { overlapMs: number },
  ): Promise<{ signingSecret: string; previousExpiresAt: EpochMs }> {
    checkOverlap(overlapMs)
    const { id } = await this.#environment(environment)
    const signingSecret = randomText()
    const now = this.#clock.now()
    await inTransaction(this.#prisma, (db) => repository.replaceSigningSecret(db, id, Buffer.from(signingSecret), { now, overlapMs }))
    this.#secrets.clear()
    return { signingSecret, previousExpiresAt: now + overlapMs }
  }

  /**
   * Whom the key speaks for. Fails with UNAUTHENTICATED when it is unknown, expired or revoked, and with RESOURCE_EXHAUSTED when too many that were unknown
   * came `from` there.
   */
  async authenticate(key: string, from: string): Promise<KeyIdentity> {
    if (!isWellFormedKey(key)) throw unauthenticated('API key')
    // Hashed only when it has to be looked up: every request comes this way.
    return this.#identityOf(await this.keys.get({ name: key, hash: () => hashKey(key) }, from))
  }

  /** The same for who shows the SHA-256 of the key instead of the key itself. */
  async authenticateHash(hash: Buffer, from: string): Promise<KeyIdentity> {
    return this.#identityOf(await this.keys.get({ name: hash.toString('base64'), hash: () => hash }, from))
  }

  #identityOf(stored: repository.StoredIdentity | null): KeyIdentity {
    if (!stored || !isValidKey(stored, this.#clock.now())) throw unauthenticated('API key')
    return stored.identity
  }

  /** The refId of the customer that an `X-CUSTOMER-KEY` is of. Fails with UNAUTHENTICATED when it was not signed with a valid secret. */
  async verifyCustomerToken(environmentId: string, header: string): Promise<string> {
    const secrets = await this.#secrets.get(environmentId, () => repository.findSigningSecrets(this.#prisma, environmentId))
    const customerId = secrets && verifyToken(header, validSecrets(secrets, this.#clock.now()))
    // It is remembered for each customer what it asked for: not under names that no customer can have.
    if (!customerId || identifierFault(customerId) !== null) throw unauthenticated('customer key')
    return customerId
  }

  /** After the commit, here and to all others. */
  async #told<Created extends CreatedKey>(created: Created): Promise<Created> {
    const hash = hashKey(created.key)
    this.keys.created(hash)
    await this.#tellCreated(hash)
    return created
  }

  async #environment(refId: string): Promise<Environment> {
    const environment = await this.find(refId)
    if (!environment) throw environmentNotFound(refId)
    return environment
  }

  async #insertKey(
    db: Db,
    { environmentId, kind, name, expiresAt }: Pick<ApiKey, 'environmentId' | 'kind' | 'name' | 'expiresAt'>,
  ): Promise<CreatedKey> {
    const createdAt = this.#clock.now()
    if (expiresAt !== null && expiresAt <= createdAt) throw invalidInput('expiresAt is in the past.', { field: 'expiresAt' })
    const key = makeKey(kind)
    const record = await repository.insertKey(db, {
      id: newId(),
      environmentId,
      kind,
      name,
      hash: hashKey(key),
      hint: hintOf(key),
      createdAt,
      expiresAt,
    })
    return { key, record }
  }
}

async function findKey(db: Db, keyId: string): Promise<ApiKey> {
  const key = isUuid(keyId) ? await repository.findKey(db, keyId) : null
  if (!key) throw keyNotFound(keyId)
  return key
}

/** Messages of a FIFO queue would need groups; they can be applied in any order. */
function checkQueueUrl(queueUrl: string | null): void {
  if (queueUrl === null) return
  const url = URL.canParse(queueUrl) ? new URL(queueUrl) : null
  const isQueue =
    url?.protocol === 'https:' && url.username + url.password + url.search + url.hash === '' && /^\/[^/]+\/[^/]+$/.test(url.pathname)
  if (!isQueue || url.pathname.endsWith('.fifo'))
    throw invalidInput(
      'The queue must be the https:// address of a standard queue of SQS, such as https://sqs.<region>.amazonaws.com/<account>/<queue>.',
      {
        path: 'queueUrl',
      },
    )
}

function checkOverlap(overlapMs: number): void {
  if (!Number.isSafeInteger(overlapMs) || overlapMs < 0)
    throw invalidInput('The overlap must be a time of 0 or more.', { field: 'overlap' })
}
