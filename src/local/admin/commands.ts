/** What an operator can do from the command line: one entry per command, from its options to what is printed. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { stringify } from 'yaml'
import type { Command } from '../../cli/command-line.js'
import { entries, environmentOption, newEnvironmentOf } from '../../cli/entries.js'
import { expiryOf, kindOf, overlapHelp, overlapOf, requiredName, text, UsageError, type Values } from '../../cli/input.js'
import {
  describeChange,
  describeEnvironments,
  describeKeys,
  describeNewEnvironment,
  describeNewKey,
  describePersistentCache,
  describeReplaced,
  describeRevoked,
} from '../../cli/output.js'
import { type ApiKey, type Environment, isValidKey } from '../../environment/model/environment.js'
import type { EnvironmentService } from '../../environment/service.js'
import type { EpochMs } from '../../kernel/clock.js'
import { auditExport } from './audit.js'
import { cacheVerify } from './cache.js'
import { type AdminContext, findEnvironment } from './context.js'
import { deadLetterCommands } from './dead-letters.js'
import { queueAccess } from './redis-users.js'
import { webhookListen } from './webhook.js'

export const commands: readonly Command<AdminContext>[] = [
  {
    ...entries.environmentCreate,
    async run({ environments }, values, refId) {
      const { environment: created, signingSecret } = await environments.create(newEnvironmentOf(refId, values))
      const json = { ...shownEnvironment(created), signingSecret }
      return { text: describeNewEnvironment(json, signingSecret), json }
    },
  },
  {
    ...entries.environmentEnableCache,
    async run({ environments }, values, refId) {
      const json = shownEnvironment(await environments.enablePersistentCache(refId, { queueUrl: text(values['queue-url']) ?? null }))
      return { text: describePersistentCache(json), json }
    },
  },
  {
    ...entries.environmentDisableCache,
    async run({ environments }, _values, refId) {
      const json = shownEnvironment(await environments.disablePersistentCache(refId))
      return { text: describePersistentCache(json), json }
    },
  },
  {
    ...entries.environmentList,
    async run({ environments }) {
      const all = (await environments.list()).map(shownEnvironment)
      return { text: describeEnvironments(all), json: all }
    },
  },
  queueAccess,
  cacheVerify,
  auditExport,
  webhookListen,
  {
    ...entries.keyCreate,
    async run({ environments, clock }, values) {
      const name = requiredName(values)
      const created = await environments.createKey({
        environment: await environmentOf(environments, values),
        kind: kindOf(values),
        name,
        expiresAt: expiryOf(values, clock.now()),
      })
      const key = shownKey(created.record, clock.now())
      return { text: describeNewKey(key, created.key), json: { key: created.key, ...key } }
    },
  },
  {
    ...entries.keyList,
    async run({ environments, clock }, values) {
      const keys = (await environments.listKeys(await environmentOf(environments, values))).map((key) => shownKey(key, clock.now()))
      return { text: describeKeys(keys), json: keys }
    },
  },
  {
    ...entries.keyRotate,
    async run({ environments, clock }, values, keyId) {
      const overlapMs = overlapOf(values)
      const rotated = await environments.rotateKey(keyId, { overlapMs, expiresAt: expiryOf(values, clock.now()) })
      const [key, replaced] = [shownKey(rotated.record, clock.now()), shownKey(rotated.replaced, clock.now())]
      const answer = { key: rotated.key, ...key, replaced }
      return { text: `${describeNewKey(key, rotated.key)}\n${describeReplaced(replaced)}`, json: answer }
    },
  },
  {
    ...entries.keyRevoke,
    async run({ environments, clock }, _values, keyId) {
      const key = shownKey(await environments.revokeKey(keyId), clock.now())
      return { text: describeRevoked(key), json: key }
    },
  },
  {
    name: 'signing-secret rotate',
    argument: null,
    summary: 'Makes a new secret for signing X-CUSTOMER-KEY and prints it, once; for a while the old one is valid too',
    options: { environment: environmentOption, overlap: { type: 'string', help: overlapHelp('secret') } },
    async run({ environments }, values) {
      const refId = await environmentOf(environments, values)
      const { signingSecret, previousExpiresAt } = await environments.rotateSigningSecret(refId, { overlapMs: overlapOf(values) })
      const shown = `Signing secret of environment "${refId}" (shown only now): ${signingSecret}`
      return {
        text: `${shown}\nThe old secret ends ${isoOf(previousExpiresAt)}`,
        json: { environment: refId, signingSecret, previousExpiresAt: isoOf(previousExpiresAt) },
      }
    },
  },
  {
    name: 'catalog apply',
    argument: 'file',
    summary: 'Brings the catalog to what a YAML or JSON file says (- reads standard input), all or nothing',
    options: {
      environment: environmentOption,
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
    options: { environment: environmentOption },
    async run({ environments, catalog }, values) {
      const { id } = await findEnvironment(environments, values)
      const document = await catalog.write(id)
      return { text: stringify(document, { lineWidth: 140 }).trimEnd(), json: document }
    },
  },
  ...deadLetterCommands,
]

async function environmentOf(environments: EnvironmentService, values: Values): Promise<string> {
  return (await findEnvironment(environments, values)).refId
}

function readText(folder: string, file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : resolve(folder, file), 'utf8')
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${(error as Error).message}`)
  }
}

const isoOf = (at: EpochMs) => new Date(at).toISOString()

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
