import type { Life } from '../platform/process.js'
import type { QueueConnection } from '../platform/queue.js'
import { keepSubscribed, openSubscriber, sharedRedis } from '../platform/redis.js'
import type { KeyLookups } from './key-lookups.js'

const channelOf = ({ prefix }: QueueConnection): string => `${prefix}:keys-created`

/** Tells all processes of a key that was created. Never fails: they find out by themselves, only later. */
export function keyNewsTeller(life: Life, queues: QueueConnection): (keyHash: Buffer) => Promise<void> {
  return async (keyHash) => {
    try {
      await sharedRedis(life, queues.redisUrl, 'request').publish(channelOf(queues), keyHash.toString('base64'))
    } catch (error) {
      life.log.debug({ err: error }, 'a new key could not be told to others')
    }
  }
}

/** Hears of keys that were created by whichever process. While Redis is away nothing is heard, so what is remembered as unknown is forgotten then. */
export function hearKeyNews(life: Life, queues: QueueConnection, keys: Pick<KeyLookups, 'created' | 'forgetUnknown'>): void {
  const subscriber = openSubscriber(life, queues)
  subscriber.on('message', (_channel: string, hash: string) => keys.created(Buffer.from(hash, 'base64')))
  keepSubscribed(subscriber, channelOf(queues), () => keys.forgetUnknown())
}
