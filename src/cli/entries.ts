/** The commands about environments and keys, but for what they do: with the operator's key over HTTP, or with the database (`admin`). */
import type { Command } from './command-line.js'
import { overlapHelp, text, type Values } from './input.js'

type Entry = Omit<Command<never>, 'run'>

export const environmentOption = { type: 'string', help: 'refId of the environment; may be left out when there is only one' } as const
const expires = {
  type: 'string',
  help: 'when the new key ends: a time such as 90d, or a date such as 2030-01-31T00:00:00Z; else never',
} as const

export const entries = {
  environmentList: {
    name: 'environment list',
    argument: null,
    summary: 'Lists the environments, with the ids that configuration asks for',
    options: {},
  },
  environmentCreate: {
    name: 'environment create',
    argument: 'refId',
    summary: 'Creates an environment and prints its signing secret, once',
    options: {
      name: { type: 'string', help: 'display name; the refId unless given' },
      test: { type: 'boolean', help: 'mark it as one for tests, with a clock of its own if you like' },
      'persistent-cache': { type: 'boolean', help: "send changes to the environment's queue, for its persistent cache" },
      'unsigned-client-reads': { type: 'boolean', help: 'client keys may read customers without a signed X-CUSTOMER-KEY' },
    },
  },
  environmentEnableCache: {
    name: 'environment enable-persistent-cache',
    argument: 'refId',
    summary: "Sends changes to the environment's queue too, for its persistent cache, which reads everything anew first",
    options: { 'queue-url': { type: 'string', help: 'a queue of SQS instead: https://sqs.<region>.amazonaws.com/<account>/<queue>' } },
  },
  environmentDisableCache: {
    name: 'environment disable-persistent-cache',
    argument: 'refId',
    summary: 'Sends changes to no queue any more',
    options: {},
  },
  keyCreate: {
    name: 'key create',
    argument: null,
    summary: 'Creates an API key and prints it, once',
    options: {
      environment: environmentOption,
      kind: { type: 'string', help: 'server (default): may do everything; client: reads what belongs to one customer' },
      name: { type: 'string', help: 'where the key is used (required)' },
      expires,
    },
  },
  keyList: {
    name: 'key list',
    argument: null,
    summary: 'Lists the API keys of an environment, without what is secret',
    options: { environment: environmentOption },
  },
  keyRotate: {
    name: 'key rotate',
    argument: 'key id',
    summary: 'Replaces an API key by a new one and prints it, once; for a while both are valid',
    options: { overlap: { type: 'string', help: overlapHelp('key') }, expires },
  },
  keyRevoke: {
    name: 'key revoke',
    argument: 'key id',
    summary: 'Ends an API key at once (running processes notice within 5 seconds, open WebSockets within 20)',
    options: {},
  },
} as const satisfies Record<string, Entry>

/** What `environment create` was asked for. */
export const newEnvironmentOf = (refId: string, values: Values) => ({
  refId,
  displayName: text(values.name),
  isTest: values.test === true,
  hasPersistentCache: values['persistent-cache'] === true,
  allowsUnsignedClientReads: values['unsigned-client-reads'] === true,
})
