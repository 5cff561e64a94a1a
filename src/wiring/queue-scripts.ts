/** The Lua that users who may not send any run by its digest (`RedisUser`). Redis keeps loaded scripts until it restarts, or somebody flushes them. */
import { Queue } from 'bullmq'
import type { Life } from '../platform/process.js'
import { nodesOf } from '../platform/redis/cluster.js'
import { openRedis, type Redis } from '../platform/redis.js'
import { every } from '../platform/timer.js'

/** Of the queue library: what adding jobs and working them off takes. */
const queueScripts = [
  'addStandardJob',
  'extendLock',
  'extendLocks',
  'getCounts',
  'getJobs',
  'moveStalledJobsToWait',
  'moveToActive',
  'moveToDelayed',
  'moveToFinished',
  'releaseLock',
  'retryJob',
]

/** A flush is noticed so late. */
const lookAgainMs = 10_000

/** Has Redis know the scripts of queues: from now on, after each of its restarts, and after a flush. */
export function keepQueueScriptsLoaded(life: Life, { redisUrl }: { redisUrl: string }): void {
  const client = openRedis(life, redisUrl, 'request')
  const scripts = scriptsOf(client)
  const load = () =>
    loadScripts(client, scripts).catch((error: unknown) => {
      // A process that has just started may be stopped while it loads them.
      if (!life.signal.aborted) life.log.warn({ err: error }, 'scripts of queues not loaded yet')
    })
  client.on('ready', load)
  every(life, 'scripts of queues', lookAgainMs, load)
}

async function loadScripts(client: Redis, scripts: readonly string[]): Promise<void> {
  for (const node of nodesOf(client)) for (const lua of scripts) await node.script('LOAD', lua)
}

/** The library defines all of its scripts as commands of a client. */
function scriptsOf(client: Redis): string[] {
  void new Queue('scripts', { connection: client, skipWaitingForReady: true, skipVersionCheck: true }).on('error', () => undefined)
  const defined = Object.entries(client.scriptsSet as Record<string, { lua: string }>)
  return queueScripts.map((name) => {
    const found = defined.find(([command]) => command.startsWith(`${name}:`))
    if (!found) throw new Error(`the queue library has no script ${name}`)
    return found[1].lua
  })
}
