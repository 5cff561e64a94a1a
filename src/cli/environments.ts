/** Environments and their API keys, with the operator's key. */
import type { Api } from './api.js'
import type { Command } from './command-line.js'
import type { CliContext } from './context.js'
import { chooseEnvironment, expiresHelp, expiryOf, kindOf, overlapHelp, overlapOf, requiredName, text, type Values } from './input.js'
import {
  describeEnvironments,
  describeKeys,
  describeNewEnvironment,
  describeNewKey,
  describeReplaced,
  describeRevoked,
  type ShownEnvironment,
  type ShownKey,
} from './output.js'

const environment = { type: 'string', help: 'refId of the environment; may be left out when there is only one' } as const
const expires = { type: 'string', help: expiresHelp } as const

const environmentFields = 'id refId displayName isTest hasPersistentCache allowsUnsignedClientReads createdAt'
const keyFields = 'id kind name hint status createdAt expiresAt revokedAt'

export const environmentCommands: readonly Command<CliContext>[] = [
  {
    name: 'environment list',
    argument: null,
    summary: 'Lists the environments, with the ids that configuration asks for',
    options: {},
    async run({ operator }) {
      const all = await environments(operator())
      return { text: describeEnvironments(all), json: all }
    },
  },
  {
    name: 'environment create',
    argument: 'refId',
    summary: 'Creates an environment and prints its signing secret, once',
    options: {
      name: { type: 'string', help: 'display name; the refId unless given' },
      test: { type: 'boolean', help: 'mark it as one for tests, with a clock of its own if you like' },
      'persistent-cache': { type: 'boolean', help: "send changes to the environment's queue, for its persistent cache" },
      'unsigned-client-reads': { type: 'boolean', help: 'client keys may read customers without a signed X-CUSTOMER-KEY' },
    },
    async run({ operator }, values, refId) {
      const input = {
        refId,
        displayName: text(values.name),
        isTest: values.test === true,
        hasPersistentCache: values['persistent-cache'] === true,
        allowsUnsignedClientReads: values['unsigned-client-reads'] === true,
      }
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
    name: 'key create',
    argument: null,
    summary: 'Creates an API key and prints it, once',
    options: {
      environment,
      kind: { type: 'string', help: 'server (default): may do everything; client: reads what belongs to one customer' },
      name: { type: 'string', help: 'where the key is used (required)' },
      expires,
    },
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
    name: 'key list',
    argument: null,
    summary: 'Lists the API keys of an environment, without what is secret',
    options: { environment },
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
    name: 'key rotate',
    argument: 'key id',
    summary: 'Replaces an API key by a new one and prints it, once; for a while both are valid',
    options: { overlap: { type: 'string', help: overlapHelp('key') }, expires },
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
    name: 'key revoke',
    argument: 'key id',
    summary: 'Ends an API key at once (running processes notice within 5 seconds)',
    options: {},
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
