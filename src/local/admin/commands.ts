/** What an operator can do from the command line: one entry per command, from its options to what is printed. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { ParseArgsConfig } from 'node:util'
import { stringify } from 'yaml'
import type { CatalogChange } from '../../catalog/document/difference.js'
import { exportCatalog } from '../../catalog/document/export.js'
import type { CatalogService } from '../../catalog/service.js'
import { type ApiKey, type Environment, isValidKey, type KeyKind, keyKinds } from '../../environment/model/environment.js'
import type { CreatedKey, EnvironmentService } from '../../environment/service.js'
import type { Clock, EpochMs } from '../../kernel/clock.js'
import type { DeadLetter, DeadLetters } from '../../platform/dead-letters.js'
import { durationMs, instantOf, UsageError } from './input.js'

export interface AdminContext {
  /** Connects when it is asked for. */
  deadLetters(): DeadLetters
  environments: EnvironmentService
  catalog: CatalogService
  clock: Clock
  /** Where file names start from. */
  folder: string
}

/** What a command answers: for people, and with `--json` for programs. */
export interface Answer {
  text: string
  json: unknown
}

type Values = Readonly<Record<string, string | boolean | undefined>>

export interface Command {
  /** As in `key create`. */
  name: string
  /** The one argument that is not an option, or null. */
  argument: string | null
  summary: string
  options: Record<string, NonNullable<ParseArgsConfig['options']>[string] & { help: string }>
  run(context: AdminContext, values: Values, argument: string): Promise<Answer>
}

const environment = { type: 'string', help: 'refId of the environment; may be left out when there is only one' } as const
const expires = {
  type: 'string',
  help: 'when the new key ends: a time such as 90d, or a date such as 2030-01-31T00:00:00Z; else never',
} as const
const overlap = (what: string) =>
  ({ type: 'string', help: `how long the old ${what} stays valid: 30m, 24h (default), 7d; 0 for not at all` }) as const

export const commands: readonly Command[] = [
  {
    name: 'environment create',
    argument: 'refId',
    summary: 'Creates an environment and prints its signing secret, once',
    options: {
      name: { type: 'string', help: 'display name; the refId unless given' },
      test: { type: 'boolean', help: 'mark it as one for tests' },
      'persistent-cache': { type: 'boolean', help: "send changes to the environment's queue, for its persistent cache" },
      'unsigned-client-reads': { type: 'boolean', help: 'client keys may read customers without a signed X-CUSTOMER-KEY' },
    },
    async run({ environments }, values, refId) {
      const { environment: created, signingSecret } = await environments.create({
        refId,
        displayName: text(values.name),
        isTest: values.test === true,
        hasPersistentCache: values['persistent-cache'] === true,
        allowsUnsignedClientReads: values['unsigned-client-reads'] === true,
      })
      const secret = `Signing secret of environment "${refId}" (shown only now): ${signingSecret}`
      return { text: `Created environment "${refId}" (id ${created.id})\n${secret}`, json: { ...shownEnvironment(created), signingSecret } }
    },
  },
  {
    name: 'environment list',
    argument: null,
    summary: 'Lists the environments',
    options: {},
    async run({ environments }) {
      const all = (await environments.list()).map(shownEnvironment)
      const rows = all.map((one) => [one.id, one.refId, one.displayName, kindsOf(one).join(', '), one.createdAt])
      return { text: table(['ID', 'REFID', 'NAME', 'MADE AS', 'CREATED'], rows), json: all }
    },
  },
  {
    name: 'key create',
    argument: null,
    summary: 'Creates an API key and prints it, once',
    options: {
      environment,
      kind: { type: 'string', help: 'server (default): may do everything; client: reads what belongs to one customer' },
      name: { type: 'string', help: 'where the key is used (required)' },
      expires,
    },
    async run({ environments, clock }, values) {
      const name = text(values.name)
      if (name === undefined) throw new UsageError('--name is required: say where the key is used')
      const created = await environments.createKey({
        environment: await environmentOf(environments, values),
        kind: kindOf(text(values.kind) ?? 'server'),
        name,
        expiresAt: expiryOf(values, clock.now()),
      })
      return { text: describeKey(created), json: { key: created.key, ...shownKey(created.record, clock.now()) } }
    },
  },
  {
    name: 'key list',
    argument: null,
    summary: 'Lists the API keys of an environment, without what is secret',
    options: { environment },
    async run({ environments, clock }, values) {
      const keys = (await environments.listKeys(await environmentOf(environments, values))).map((key) => shownKey(key, clock.now()))
      const rows = keys.map(({ id, kind, name, hint, status, createdAt, expiresAt }) => [
        id,
        kind,
        name,
        `…${hint}`,
        status,
        createdAt,
        expiresAt ?? 'never',
      ])
      return { text: table(['ID', 'KIND', 'NAME', 'KEY', 'STATUS', 'CREATED', 'ENDS'], rows), json: keys }
    },
  },
  {
    name: 'key rotate',
    argument: 'key id',
    summary: 'Replaces an API key by a new one and prints it, once; for a while both are valid',
    options: { overlap: overlap('key'), expires },
    async run({ environments, clock }, values, keyId) {
      const overlapMs = overlapOf(values)
      const { replaced, ...created } = await environments.rotateKey(keyId, { overlapMs, expiresAt: expiryOf(values, clock.now()) })
      const end = `The old key …${replaced.hint} ends ${timeOf(replaced.expiresAt)}`
      const json = { key: created.key, ...shownKey(created.record, clock.now()), replaced: shownKey(replaced, clock.now()) }
      return { text: `${describeKey(created)}\n${end}`, json }
    },
  },
  {
    name: 'key revoke',
    argument: 'key id',
    summary: 'Ends an API key at once (running processes notice within 5 seconds, open WebSockets within 20)',
    options: {},
    async run({ environments, clock }, _values, keyId) {
      const key = shownKey(await environments.revokeKey(keyId), clock.now())
      return { text: `Revoked ${key.kind} key "${key.name}" …${key.hint}`, json: key }
    },
  },
  {
    name: 'signing-secret rotate',
    argument: null,
    summary: 'Makes a new secret for signing X-CUSTOMER-KEY and prints it, once; for a while both are valid',
    options: { environment, overlap: overlap('secret') },
    async run({ environments }, values) {
      const refId = await environmentOf(environments, values)
      const { signingSecret, previousExpiresAt } = await environments.rotateSigningSecret(refId, { overlapMs: overlapOf(values) })
      const shown = `Signing secret of environment "${refId}" (shown only now): ${signingSecret}`
      return {
        text: `${shown}\nThe old secret ends ${timeOf(previousExpiresAt)}`,
        json: { environment: refId, signingSecret, previousExpiresAt: isoOf(previousExpiresAt) },
      }
    },
  },
  {
    name: 'catalog apply',
    argument: 'file',
    summary: 'Brings the catalog to what a YAML or JSON file says (- reads standard input), all or nothing',
    options: {
      environment,
      'dry-run': { type: 'boolean', help: 'print what would change and change nothing' },
      'archive-missing': { type: 'boolean', help: 'archive what the file leaves out' },
    },
    async run({ environments, catalog, folder }, values, file) {
      const { id } = await findEnvironment(environments, values)
      const isDryRun = values['dry-run'] === true
      const changes = await catalog.apply(id, readText(folder, file), {
        dryRun: isDryRun,
        archiveMissing: values['archive-missing'] === true,
      })
      const head = changes.length === 0 ? 'Nothing to change' : isDryRun ? 'Would change:' : 'Changed:'
      return { text: [head, ...changes.map(describeChange)].join('\n'), json: { dryRun: isDryRun, changes } }
    },
  },
  {
    name: 'catalog export',
    argument: null,
    summary: 'Prints the catalog as YAML (with --json as JSON), ready to be applied',
    options: { environment },
    async run({ environments, catalog }, values) {
      const { id } = await findEnvironment(environments, values)
      const document = exportCatalog(await catalog.export(id))
      return { text: stringify(document, { lineWidth: 140 }).trimEnd(), json: document }
    },
  },
  {
    name: 'dead-letters list',
    argument: null,
    summary: 'Lists the jobs that failed for good, in all queues, the latest first',
    options: {},
    async run({ deadLetters }) {
      const letters = (await deadLetters().list()).map(shownLetter)
      const rows = letters.map(({ id, attempts, failedAt, reason }) => [
        id,
        String(attempts),
        failedAt ?? '',
        reason.split('\n')[0]!.slice(0, 80),
      ])
      return { text: rows.length === 0 ? 'No job has failed for good' : table(['ID', 'TRIES', 'FAILED', 'REASON'], rows), json: letters }
    },
  },
  {
    name: 'dead-letters show',
    argument: 'id',
    summary: 'Prints a failed job with what it carries',
    options: {},
    async run({ deadLetters }, _values, id) {
      const letter = shownLetter(await deadLetters().show(id))
      return { text: stringify(letter, { lineWidth: 140 }).trimEnd(), json: letter }
    },
  },
  {
    name: 'dead-letters retry',
    argument: 'id',
    summary: 'Gives a failed job to a worker once more',
    options: {},
    async run({ deadLetters }, _values, id) {
      await deadLetters().retry(id)
      return { text: `Job ${id} waits for a worker again`, json: { id, retried: true } }
    },
  },
  {
    name: 'dead-letters discard',
    argument: 'id',
    summary: 'Deletes a failed job',
    options: {},
    async run({ deadLetters }, _values, id) {
      await deadLetters().discard(id)
      return { text: `Deleted job ${id}`, json: { id, discarded: true } }
    },
  },
]

const shownLetter = ({ failedAt, ...letter }: DeadLetter) => ({ ...letter, failedAt: failedAt === null ? null : isoOf(failedAt) })

const text = (value: string | boolean | undefined) => (typeof value === 'string' ? value : undefined)

async function findEnvironment(environments: EnvironmentService, values: Values): Promise<Environment> {
  const refId = text(values.environment)
  const all = await environments.list()
  const found = refId === undefined && all.length === 1 ? all[0] : all.find((candidate) => candidate.refId === refId)
  if (found) return found
  const known =
    all.length === 0 ? 'there is none yet (environment create)' : `there are: ${all.map((candidate) => candidate.refId).join(', ')}`
  throw new UsageError(refId === undefined ? `say which --environment; ${known}` : `there is no environment "${refId}"; ${known}`)
}

async function environmentOf(environments: EnvironmentService, values: Values): Promise<string> {
  return (await findEnvironment(environments, values)).refId
}

function kindOf(given: string): KeyKind {
  const kind = keyKinds.find((candidate) => candidate.toLowerCase() === given.toLowerCase())
  if (!kind) throw new UsageError(`--kind must be server or client, not "${given}"`)
  return kind
}

function expiryOf(values: Values, now: EpochMs): EpochMs | null {
  const given = text(values.expires)
  return given === undefined ? null : instantOf(given, '--expires', now)
}

const overlapOf = (values: Values) => durationMs(text(values.overlap) ?? '24h', '--overlap')

function readText(folder: string, file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : resolve(folder, file), 'utf8')
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${(error as Error).message}`)
  }
}

const isoOf = (at: EpochMs) => new Date(at).toISOString()
const timeOf = (at: EpochMs | null) => (at === null ? 'never' : isoOf(at))

/** What an environment was made with, in words. */
const kindsOf = ({ isTest, hasPersistentCache, allowsUnsignedClientReads }: Omit<Environment, 'createdAt'>) => [
  ...(isTest ? ['test'] : []),
  ...(hasPersistentCache ? ['persistent cache'] : []),
  ...(allowsUnsignedClientReads ? ['unsigned client reads'] : []),
]

const shownEnvironment = ({ createdAt, ...rest }: Environment) => ({ ...rest, createdAt: isoOf(createdAt) })

function shownKey({ id, kind, name, hint, createdAt, expiresAt, revokedAt }: ApiKey, now: EpochMs) {
  const status = isValidKey({ expiresAt, revokedAt }, now) ? 'valid' : revokedAt === null ? 'expired' : 'revoked'
  const isoOrNull = (at: EpochMs | null) => (at === null ? null : isoOf(at))
  return {
    id,
    kind: kind.toLowerCase(),
    name,
    hint,
    status,
    createdAt: isoOf(createdAt),
    expiresAt: isoOrNull(expiresAt),
    revokedAt: isoOrNull(revokedAt),
  }
}

function describeKey({ key, record }: CreatedKey): string {
  const { id, kind, name, expiresAt } = record
  return `Created ${kind.toLowerCase()} key "${name}" (id ${id}, ends ${timeOf(expiresAt)}). Shown only now:\n${key}`
}

function describeChange({ kind, refId, action, fields }: CatalogChange): string {
  const value = (given: unknown) => (given === null ? '–' : JSON.stringify(given))
  return [`  ${action} ${kind} ${refId}`, ...fields.map(({ path, from, to }) => `      ${path}: ${value(from)} → ${value(to)}`)].join('\n')
}

function table(head: string[], rows: string[][]): string {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]!.length)))
  return [head, ...rows]
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
