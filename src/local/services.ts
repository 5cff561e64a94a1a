import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { Problem } from '../kernel/problem.js'
import { silentLogger } from '../platform/logger.js'
import { Life } from '../platform/process.js'
import { parseRedisAddress } from '../platform/redis/address.js'
import { openRedis } from '../platform/redis.js'
import { readLastPorts, rememberPorts } from './last-ports.js'
import { startPostgres } from './postgres/server.js'
import type { Children, OwnService } from './processes/children.js'
import type { Ports } from './processes/ports.js'
import { describeExit, restartDelayMs, untilAborted } from './processes/supervise.js'
import { startRedis } from './redis/server.js'

interface ServicesOptions {
  /** The project's folder: `.cache` is in it. */
  root: string
  /** Where the embedded servers keep their data. */
  dataFolder: string
  /** A PostgreSQL to use instead of an own one. */
  databaseUrl: string | undefined
  /** A Redis to use instead of an own one. */
  redisUrl: string | undefined
  children: Children
  ports: Ports
  /** See PostgresOptions. */
  isDurable: boolean
  notice: (line: string) => void
  signal: AbortSignal
}

export interface Services {
  databaseUrl: string
  redisUrl: string
  /** Starts own servers again when they die, until `signal`. Throws FAILED_PRECONDITION when one cannot be started any more. */
  keepRunning: (signal: AbortSignal) => Promise<void>
}

const connectTimeoutMs = 5_000

/**
 * The two services everything needs: those whose URLs are given, checked, or own ones. Throws FAILED_PRECONDITION, worded for whoever
 * typed the command.
 */
export async function startServices(options: ServicesOptions): Promise<Services> {
  const lastPorts = readLastPorts(options.dataFolder)
  const { databaseUrl, redisUrl } = options
  const cacheFolder = join(options.root, '.cache')
  // One that fails stops the other, which may be busy for a while (a download).
  const failed = new AbortController()
  const own = { ...options, signal: AbortSignal.any([options.signal, failed.signal]) }
  const postgres = (port?: number) => startPostgres({ ...own, lastPort: lastPorts.postgres, port })
  const ownRedis = (port?: number) => startRedis({ ...own, cacheFolder, lastPort: lastPorts.redis, port })
  const starting = [databaseUrl ? checkDatabase(databaseUrl) : postgres(), redisUrl ? checkRedis(redisUrl) : ownRedis()] as const
  for (const service of starting) service.catch((error) => failed.abort(error))
  // Wait for both even so: nothing may still be starting when the caller cleans up.
  await Promise.allSettled(starting)
  if (failed.signal.aborted) throw failed.signal.reason
  const [database, redis] = await Promise.all(starting)
  rememberPorts(options.dataFolder, {
    ...(database.port ? { postgres: database.port } : {}),
    ...(redis.port ? { redis: redis.port } : {}),
  })
  return {
    databaseUrl: database.url,
    redisUrl: redis.url,
    keepRunning: async (signal) => {
      await Promise.all([
        keepService('PostgreSQL', database, postgres, { ...options, signal }),
        keepService('Redis', redis, ownRedis, { ...options, signal }),
      ])
    },
  }
}

/** Port and child are absent for a service that is not ours. */
type Service = Pick<OwnService, 'url'> & Partial<OwnService>

/** A server that dies is started again on its port, later each time; the processes connect again by themselves. */
async function keepService(
  name: string,
  service: Service,
  restart: (port: number) => Promise<OwnService>,
  { notice, signal }: Pick<ServicesOptions, 'notice' | 'signal'>,
): Promise<void> {
  let { child } = service
  for (let deaths = 1; child && service.port; deaths++) {
    const exit = await untilAborted(child.exited, signal)
    if (exit === null || signal.aborted) return
    const delayMs = restartDelayMs(deaths)
    notice(`${name} ${describeExit(exit)}; it is started again in ${delayMs / 1000} s`)
    await sleep(delayMs, undefined, { signal }).catch(() => {})
    if (signal.aborted) return
    child = (await restart(service.port)).child
    notice(`${name} is back`)
  }
}

async function checkDatabase(url: string): Promise<Service> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: connectTimeoutMs })
  client.on('error', () => {})
  try {
    await client.connect()
  } catch (error) {
    // A database that does not exist yet is made by the release process.
    if ((error as { code?: string }).code !== '3D000') throw unreachable('DATABASE_URL', url, error)
  } finally {
    await client.end().catch(() => {})
  }
  return { url }
}

async function checkRedis(url: string): Promise<Service> {
  const life = new Life('start', silentLogger())
  let cause: unknown
  try {
    const client = openRedis(life, url, 'request')
    client.on('error', (error) => {
      cause = error
    })
    await Promise.race([client.ping(), once(client, 'error')])
    if (cause) throw cause
  } catch (error) {
    throw unreachable('REDIS_URL', url, cause ?? error)
  } finally {
    await life.stop()
  }
  return { url }
}

function unreachable(variable: string, url: string, cause: unknown): Problem {
  const where = serversOf(url)
  // A refused connection to a name with several addresses has its reasons inside.
  const reason = cause instanceof AggregateError ? cause.errors.join(', ') : cause instanceof Error ? cause.message : String(cause)
  return new Problem('FAILED_PRECONDITION', 'SERVICE_UNREACHABLE', `${variable} (${where}) does not answer: ${reason}`, { cause })
}

/** Without user and password. */
function serversOf(url: string): string {
  if (URL.canParse(url)) return new URL(url).host
  try {
    const address = parseRedisAddress(url)
    if (address.kind !== 'server') return address.nodes.map(({ host, port }) => `${host}:${port}`).join(', ')
  } catch {
    // Then it is said what it is not.
  }
  return 'not a URL'
}
