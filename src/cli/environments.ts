/** Environments and their API keys, with the operator's key. */
import type { Api } from './api.js'
import type { Command } from './command-line.js'
import type { CliContext } from './context.js'
import { entries, newEnvironmentOf } from './entries.js'
import { chooseEnvironment, expiryOf, kindOf, overlapOf, requiredName, text, type Values } from './input.js'
import {
  describeEnvironments,
  describeKeys,
  describeNewEnvironment,
  describeNewKey,
  describePersistentCache,
  describeReplaced,
  describeRevoked,
  type ShownEnvironment,
  type ShownKey,
} from './output.js'

const environmentFields = 'id refId displayName isTest hasPersistentCache persistentCacheQueueUrl allowsUnsignedClientReads createdAt'
const keyFields = 'id kind name hint status createdAt expiresAt revokedAt'

export const environmentCommands: readonly Command<CliContext>[] = [
  {
    ...entries.environmentList,
    async run({ operator }) {
      const all = await environments(operator())
      return { text: describeEnvironments(all), json: all }
    },
  },
  {
    ...entries.environmentCreate,
    async run({ operator }, values, refId) {
      const input = newEnvironmentOf(refId, values)
      const { createEnvironment: created } = await operator().ask<{
        createEnvironment: { environment: ShownEnvironment; signingSecret: string }
      }>(
        `mutation ($input: EnvironmentInput!) { createEnvironment(input: $input) { signingSecret environment { ${environmentFields} } } }`,
        { input },
      )
      return {
        text: describeNewEnvironment(created.environment, created.signingSecret),
        json: { ...created.environment, signingSecret: created.signingSecret },
      }
    },
  },
  {
    ...entries.environmentEnableCache,
    async run({ operator }, values, environmentRefId) {
      const input = { environmentRefId, queueUrl: text(values['queue-url']) ?? null }
      const { enablePersistentCache: set } = await operator().ask<{ enablePersistentCache: ShownEnvironment }>(
        `mutation ($input: EnablePersistentCacheInput!) { enablePersistentCache(input: $input) { ${environmentFields} } }`,
        { input },
      )
      return { text: describePersistentCache(set), json: set }
    },
  },
  {
    ...entries.environmentDisableCache,
    async run({ operator }, _values, environmentRefId) {
      const { disablePersistentCache: set } = await operator().ask<{ disablePersistentCache: ShownEnvironment }>(
        `mutation ($input: DisablePersistentCacheInput!) { disablePersistentCache(input: $input) { ${environmentFields} } }`,
        { input: { environmentRefId } },
      )
      return { text: describePersistentCache(set), json: set }
    },
  },
  {
    ...entries.keyCreate,
    async run({ operator, now }, values) {
      const wanted = { name: requiredName(values), kind: kindOf(values), expiresAt: isoOrNull(expiryOf(values, now)) }
      const api = operator()
      const input = { ...wanted, environmentRefId: await environmentOf(api, values) }
      const { createApiKey: created } = await api.ask<{ createApiKey: CreatedKey }>(
        `mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { key apiKey { ${keyFields} } } }`,
        { input },
      )
      const apiKey = shown(created.apiKey)
      return { text: describeNewKey(apiKey, created.key), json: { key: created.key, ...apiKey } }
    },
  },
  {
    ...entries.keyList,
    async run({ operator }, values) {
      const api = operator()
      const { apiKeys } = await api.ask<{ apiKeys: ShownKey[] }>(
        `query ($input: ApiKeysInput!) { apiKeys(input: $input) { ${keyFields} } }`,
        { input: { environmentRefId: await environmentOf(api, values) } },
      )
      const keys = apiKeys.map(shown)
      return { text: describeKeys(keys), json: keys }
    },
  },
  {
    ...entries.keyRotate,
    async run({ operator, now }, values, id) {
      const input = { id, overlapSeconds: overlapOf(values) / 1_000, expiresAt: isoOrNull(expiryOf(values, now)) }
      const { rotateApiKey: created } = await operator().ask<{ rotateApiKey: CreatedKey & { replaced: ShownKey } }>(
        `mutation ($input: RotateApiKeyInput!) { rotateApiKey(input: $input) { key apiKey { ${keyFields} } replaced { ${keyFields} } } }`,
        { input },
      )
      const [apiKey, replaced] = [shown(created.apiKey), shown(created.replaced)]
      return {
        text: `${describeNewKey(apiKey, created.key)}\n${describeReplaced(replaced)}`,
        json: { key: created.key, ...apiKey, replaced },
      }
    },
  },
  {
    ...entries.keyRevoke,
    async run({ operator }, _values, id) {
      const { revokeApiKey } = await operator().ask<{ revokeApiKey: ShownKey }>(
        `mutation ($input: RevokeApiKeyInput!) { revokeApiKey(input: $input) { ${keyFields} } }`,
        { input: { id } },
      )
      const key = shown(revokeApiKey)
      return { text: describeRevoked(key), json: key }
    },
  },
]

interface CreatedKey {
  key: string
  apiKey: ShownKey
}

const environments = async (api: Api) =>
  (await api.ask<{ environments: ShownEnvironment[] }>(`{ environments { ${environmentFields} } }`)).environments

const environmentOf = async (api: Api, values: Values) =>
  text(values.environment) ?? chooseEnvironment(await environments(api), values).refId

const shown = (key: ShownKey): ShownKey => ({ ...key, kind: key.kind.toLowerCase(), status: key.status.toLowerCase() })

const isoOrNull = (at: number | null) => (at === null ? null : new Date(at).toISOString())
