import { Redis } from 'ioredis'
import type { RedisAddress } from './address.js'
import { accessOptions } from './cluster.js'

const timeoutMs = 5_000

/**
 * Why one of several servers does not answer, or does not let us in: ioredis says of a cluster, and of sentinels, only that none of them could be used. Null:
 * each of them can.
 */
export async function findReason(address: Exclude<RedisAddress, { kind: 'server' }>): Promise<Error | null> {
  const { nodes, isEncrypted } = address
  const access = accessOptions(address.kind === 'cluster' ? address : { ...address.ofSentinels, isEncrypted })
  for (const node of nodes) {
    const client = new Redis({
      ...node,
      ...access,
      connectTimeout: timeoutMs,
      commandTimeout: timeoutMs,
      retryStrategy: () => null,
      enableReadyCheck: false,
      disableClientInfo: true,
      lazyConnect: true,
    })
    // What the connection itself has failed with is told here only.
    const told: Error[] = []
    client.on('error', (error) => told.push(error))
    try {
      await client.connect()
      await client.ping()
    } catch (error) {
      told.push(error as Error)
    } finally {
      client.disconnect()
    }
    if (told[0]) return told[0]
  }
  return null
}
