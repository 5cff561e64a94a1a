import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Redis } from 'ioredis'
import { Children } from '../../src/local/processes/children.js'
import { isAlive } from '../../src/local/processes/os-process.js'
import { Ports } from '../../src/local/processes/ports.js'
import { startRedis } from '../../src/local/redis/server.js'
import { eventually } from './eventually.js'

const root = fileURLToPath(new URL('../../../', import.meta.url))

const startMs = 30_000
const isPortTaken = ({ message }: Error) => message.includes('Address already in use')

/** A Redis that a test may kill. Its port stays the same when it comes back. */
export class OwnRedis {
  readonly #children = new Children()
  readonly #ports = new Ports()
  #port: number | undefined
  readonly #temporary: string | null
  private readonly folder: string
  url = ''

  /** Without a folder it has one that goes with it. */
  constructor(folder?: string) {
    this.#temporary = folder === undefined ? mkdtempSync(join(tmpdir(), 'tollgate-redis-')) : null
    this.folder = folder ?? this.#temporary!
  }

  async start(): Promise<void> {
    // A connection of somebody may have the port while nobody listens there: it is waited for.
    await eventually(
      'Redis to be there, at its port',
      async () => this.#tryStart().catch((error: Error) => !isPortTaken(error) && Promise.reject(error)),
      startMs,
    )
  }

  async #tryStart(): Promise<true> {
    const { url, port } = await startRedis({
      dataFolder: this.folder,
      cacheFolder: join(root, '.cache'),
      children: this.#children,
      ports: this.#ports,
      lastPort: undefined,
      port: this.#port,
      notice: (line) => console.error(line),
      signal: AbortSignal.timeout(60_000),
    })
    this.url = url
    this.#port = port
    return true
  }

  /** Kills it without a word and throws away what it had on disk. */
  async lose(): Promise<void> {
    const data = join(this.folder, 'redis')
    const pid = Number(readFileSync(join(data, 'redis.pid'), 'utf8'))
    process.kill(pid, 'SIGKILL')
    await eventually('Redis to be gone', () => !isAlive(pid))
    rmSync(data, { recursive: true })
  }

  async stop(): Promise<void> {
    await this.#children.stopAll()
    this.#ports.release()
    if (this.#temporary !== null) rmSync(this.#temporary, { recursive: true, force: true })
  }
}

/** As a failover has it that loses the last writes: those that `lost` makes here are not there any more, and it is another primary that says so. */
export async function failOver(redis: Redis, lost: (redis: Redis) => Promise<unknown>): Promise<void> {
  await lost(redis)
  // A replica that is promoted gets another replication id, as does a primary that was one's replica in between.
  await redis.call('REPLICAOF', '127.0.0.1', '1')
  await redis.call('REPLICAOF', 'NO', 'ONE')
}
