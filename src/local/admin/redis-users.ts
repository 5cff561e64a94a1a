/** `environment queue-access`: the Redis users of who is outside the platform. */
import { randomBytes } from 'node:crypto'
import { hidden } from '../../audit/model/difference.js'
import type { AuditedChange } from '../../audit/model/entry.js'
import type { Command } from '../../cli/command-line.js'
import { environmentOption } from '../../cli/entries.js'
import { text, UsageError, type Values } from '../../cli/input.js'
import { nodesOf } from '../../platform/redis/cluster.js'
import { isReply } from '../../platform/redis.js'
import { cacheUserRules, type QueueUser, queueUserRules } from '../../wiring/redis-users.js'
import { type AdminContext, findEnvironment } from './context.js'

interface MadeUser {
  user: string
  password: string
  rules: string[]
}

const kinds: readonly QueueUser[] = ['sidecar', 'persistent-cache-service']
/** It always has a queue; a sidecar needs one only where it adds usage to it. */
const usualKind: QueueUser = 'persistent-cache-service'
/** What its processes call it, too. */
const defaultCachePrefix = 'production'

export const queueAccess: Command<AdminContext> = {
  name: 'environment queue-access',
  alias: 'environment redis-acl',
  argument: null,
  summary: 'Prints a Redis user, with a new password, who reaches what one sidecar or persistent-cache-service needs and nothing else',
  options: {
    environment: environmentOption,
    for: { type: 'string', help: `${kinds.join(' or ')}; ${usualKind} unless given` },
    'cache-prefix': {
      type: 'string',
      help: `prefix of the external cache's keys: ${defaultCachePrefix} unless given; a sidecar without it has no such cache`,
    },
    apply: { type: 'boolean', help: "make the user of the queue in the platform's Redis, or give it a new password" },
  },
  async run({ environments, redis, queuePrefix, record }, values) {
    const kind = kindOf(values)
    const { id, refId } = await findEnvironment(environments, values)
    const queue = made(`${kind}-${refId}`, queueUserRules(kind, { queuePrefix, environmentId: id }))
    const cachePrefix = text(values['cache-prefix']) ?? (kind === 'sidecar' ? null : defaultCachePrefix)
    const cache = cachePrefix === null ? null : made(`${queue.user}-cache`, cacheUserRules(kind, { cachePrefix: oneWord(cachePrefix) }))
    const applied = values.apply === true ? await make(redis(), queue, () => record(audited(id, kind, queue))) : null
    return {
      text: [
        applied === null ? "# In the platform's Redis:" : `# Made in the platform's Redis (${keptUntil[applied]}):`,
        lineOf(queue),
        ...(cache ? ['# In the Redis of the external cache:', lineOf(cache)] : []),
      ].join('\n'),
      json: { queue, applied, cache },
    }
  },
}

/** Whether Redis has written it where it reads its users from. */
type Applied = 'saved' | 'unsaved'

const keptUntil: Record<Applied, string> = {
  saved: 'and kept in its ACL file',
  unsaved: 'until it restarts: put the line into its configuration, as `user <name> …`',
}

const made = (user: string, rules: string[]): MadeUser => ({ user, password: randomBytes(24).toString('base64url'), rules })

/** Of what it was allowed before, nothing is left. */
const setting = ({ password, rules }: MadeUser) => ['reset', 'on', `>${password}`, ...rules]

const lineOf = (user: MadeUser) => ['ACL', 'SETUSER', user.user, ...setting(user).map(quoted)].join(' ')

/** For redis-cli, in which quotes are as in other shells. */
const quoted = (word: string) => (/^[\w+>|:-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`)

const audited = (environmentId: string, kind: QueueUser, { user, password }: MadeUser): AuditedChange => ({
  environmentId,
  kind: 'QUEUE_USER',
  id: user,
  before: null,
  after: { user, for: kind, password: hidden(password) },
})

/** `record`: writes down that the user is made, which Redis is told then. */
async function make(redis: ReturnType<AdminContext['redis']>, user: MadeUser, record: () => Promise<void>): Promise<Applied> {
  // The nodes of a cluster are known once it has answered; each has users of its own.
  await redis.ping()
  await record()
  const nodes = nodesOf(redis)
  try {
    for (const node of nodes) await node.acl('SETUSER', user.user, ...setting(user))
  } catch (error) {
    if (!isReply(error, 'NOPERM')) throw error
    throw new UsageError('the user of REDIS_URL may not make others (ACL SETUSER): have the line run by one who may, without --apply')
  }
  return Promise.all(nodes.map((node) => node.acl('SAVE'))).then(
    () => 'saved',
    () => 'unsaved',
  )
}

function kindOf(values: Values): QueueUser {
  const given = text(values.for) ?? usualKind
  const kind = kinds.find((known) => known === given)
  if (!kind) throw new UsageError(`--for must be ${kinds.join(' or ')}, not "${given}"`)
  return kind
}

/** Redis has no way to write a space into a pattern. */
function oneWord(prefix: string): string {
  if (prefix === '' || /[\s\0]/.test(prefix)) throw new UsageError('--cache-prefix must be a prefix without spaces')
  return prefix
}
