import { validate as isUuid } from 'uuid';
import { checkRefId, newId } from '../kernel/id.js';
import { invalidInput } from '../kernel/problem.js';
import { inTransaction } from '../platform/postgres.js';
import { Recent } from '../platform/recent.js';
import { verifyToken } from './model/customer-token.js';
import { isValidKey, } from './model/environment.js';
import { hashKey, hintOf, isWellFormedKey, makeKey, randomText } from './model/key.js';
import { environmentExists, environmentNotFound, keyNotFound, keyNotValid, noTestEnvironment, testClockExists, testClockMissing, unauthenticated, } from './model/problems.js';
import * as repository from './records/environments.js';
/** How long a revoked, expired or new key can go unnoticed by a process: each remembers what it looked up, absence too. */
const recentMs = 5_000;
// Some megabytes at most, however many keys a caller makes up.
const maxRecent = 10_000;
/** Environments, their keys and signing secrets; who a request comes from. */
export class EnvironmentService {
    #prisma;
    #clock;
    #identities;
    #secrets;
    constructor({ prisma, clock }) {
        this.#prisma = prisma;
        this.#clock = clock;
        this.#identities = new Recent({ ttlMs: recentMs, max: maxRecent, clock });
        this.#secrets = new Recent({ ttlMs: recentMs, max: maxRecent, clock });
    }
    /** Answers the signing secret too, this once. Fails with DUPLICATED_ENTITY_NOT_ALLOWED when the refId is taken. */
    async create(input) {
        const refId = checkRefId(input.refId, 'refId');
        const { displayName = refId, isTest = false, hasPersistentCache = false, allowsUnsignedClientReads = false } = input;
        const signingSecret = randomText();
        const settings = { isTest, hasPersistentCache, allowsUnsignedClientReads };
        const wanted = { id: newId(), refId, displayName: checkRefId(displayName, 'displayName'), ...settings, createdAt: this.#clock.now() };
        const environment = await repository.insertEnvironment(this.#prisma, wanted, Buffer.from(signingSecret));
        if (!environment)
            throw environmentExists(refId);
        return { environment, signingSecret };
    }
    now(environmentId) {
        return repository.readTime(this.#prisma, environmentId);
    }
    /** Null: it has none, and the database's time counts. */
    async testClock(environmentId) {
        const stored = await repository.findTestClock(this.#prisma, environmentId);
        return stored?.testClock ? { now: await this.now(environmentId) } : null;
    }
    /** The clock stands at the time of now; `at` is where it is going to be moved, and only checked here. */
    async createTestClock(environmentId, at) {
        const stored = await repository.findTestClock(this.#prisma, environmentId);
        if (!stored?.isTest)
            throw noTestEnvironment();
        if (stored.testClock)
            throw testClockExists();
        const now = await this.now(environmentId);
        if (at < now)
            throw invalidInput('A test clock cannot be in the past.', { path: 'frozenTime' });
        await repository.moveTestClock(this.#prisma, environmentId, now);
    }
    /** @throws Problem unless there is a clock and `to` is not before it */
    async checkTestClockMove(environmentId, to) {
        const clock = await this.testClock(environmentId);
        if (!clock)
            throw testClockMissing();
        if (to < clock.now)
            throw invalidInput(`A test clock only goes forward: it stands at ${new Date(clock.now).toISOString()}.`, { path: 'frozenTime' });
    }
    /** Never back: of two moves at once the later instant counts. */
    moveTestClock(environmentId, to) {
        return repository.moveTestClock(this.#prisma, environmentId, to);
    }
    /** Oldest first. */
    list() {
        return repository.listEnvironments(this.#prisma);
    }
    /** Null: there is none. */
    find(refId) {
        return repository.findEnvironment(this.#prisma, refId);
    }
    /** Whether the environment's changes also go to its queue. Unknown environments: no. */
    async hasPersistentCache(environmentId) {
        return (await repository.findEnvironmentById(this.#prisma, environmentId))?.hasPersistentCache ?? false;
    }
    async createKey({ environment, kind, name, expiresAt }) {
        const { id } = await this.#environment(environment);
        return this.#insertKey(this.#prisma, { environmentId: id, kind, name: checkRefId(name, 'name'), expiresAt });
    }
    /** Oldest first, also those that are no longer valid. */
    async listKeys(environment) {
        const { id } = await this.#environment(environment);
        return repository.listKeys(this.#prisma, id);
    }
    /** A new key of the same kind and name; both are valid until the overlap is over. Rotating again makes one more. */
    async rotateKey(keyId, { overlapMs, expiresAt }) {
        checkOverlap(overlapMs);
        const rotated = await inTransaction(this.#prisma, async (db) => {
            const old = await findKey(db, keyId);
            const now = this.#clock.now();
            if (!isValidKey(old, now))
                throw keyNotValid(keyId);
            const endsAt = Math.min(old.expiresAt ?? Number.POSITIVE_INFINITY, now + overlapMs);
            if (!(await repository.setKeyEnd(db, old, { expiresAt: endsAt })))
                throw keyNotValid(keyId);
            const created = await this.#insertKey(db, { ...old, expiresAt });
            return { ...created, replaced: { ...old, expiresAt: endsAt } };
        });
        this.#identities.clear();
        return rotated;
    }
    /** Safe to repeat: the first time counts. Other processes may accept the key for 5 seconds more. */
    async revokeKey(keyId) {
        await repository.setKeyEnd(this.#prisma, await findKey(this.#prisma, keyId), { revokedAt: this.#clock.now() });
        this.#identities.clear();
        return findKey(this.#prisma, keyId);
    }
    /**
     * A new secret for customer tokens, answered this once. Tokens of the old one are accepted until the overlap is over, tokens of the one
     * before it no longer: an overlap of 0 leaves only the new one.
     */
    async rotateSigningSecret(environment, { overlapMs }) {
        checkOverlap(overlapMs);
        const { id } = await this.#environment(environment);
        const signingSecret = randomText();
        const previousExpiresAt = this.#clock.now() + overlapMs;
        await repository.replaceSigningSecret(this.#prisma, id, Buffer.from(signingSecret), previousExpiresAt);
        this.#secrets.clear();
        return { signingSecret, previousExpiresAt };
    }
    /** Whom the key speaks for. Fails with UNAUTHENTICATED when it is unknown, expired or revoked. */
    async authenticate(key) {
        if (!isWellFormedKey(key))
            throw unauthenticated('API key');
        return this.#identity(key, () => hashKey(key));
    }
    /** The same for who shows the SHA-256 of the key instead of the key itself. */
    authenticateHash(hash) {
        return this.#identity(hash.toString('base64'), () => hash);
    }
    /** Hashed only when it has to be looked up: every request comes this way. */
    async #identity(name, hash) {
        const stored = await this.#identities.get(name, () => repository.findIdentity(this.#prisma, hash()));
        if (!stored || !isValidKey(stored, this.#clock.now()))
            throw unauthenticated('API key');
        return stored.identity;
    }
    /** The refId of the customer that an `X-CUSTOMER-KEY` is of. Fails with UNAUTHENTICATED when it was not signed with a valid secret. */
    async verifyCustomerToken(environmentId, header) {
        const secrets = await this.#secrets.get(environmentId, () => repository.findSigningSecrets(this.#prisma, environmentId));
        const previous = secrets?.previous && secrets.previous.expiresAt > this.#clock.now() ? [secrets.previous.secret] : [];
        const customerId = secrets && verifyToken(header, [secrets.current, ...previous]);
        if (!customerId)
            throw unauthenticated('customer key');
        return customerId;
    }
    async #environment(refId) {
        const environment = await this.find(refId);
        if (!environment)
            throw environmentNotFound(refId);
        return environment;
    }
    async #insertKey(db, { environmentId, kind, name, expiresAt }) {
        const createdAt = this.#clock.now();
        if (expiresAt !== null && expiresAt <= createdAt)
            throw invalidInput('expiresAt is in the past.', { field: 'expiresAt' });
        const key = makeKey(kind);
        const record = await repository.insertKey(db, {
            id: newId(),
            environmentId,
            kind,
            name,
            hash: hashKey(key),
            hint: hintOf(key),
            createdAt,
            expiresAt,
        });
        return { key, record };
    }
}
async function findKey(db, keyId) {
    const key = isUuid(keyId) ? await repository.findKey(db, keyId) : null;
    if (!key)
        throw keyNotFound(keyId);
    return key;
}
function checkOverlap(overlapMs) {
    if (!Number.isSafeInteger(overlapMs) || overlapMs < 0)
        throw invalidInput('The overlap must be a time of 0 or more.', { field: 'overlap' });
}
//# sourceMappingURL=service.js.map