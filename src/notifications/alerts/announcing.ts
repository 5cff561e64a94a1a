import type { Logger } from '../../platform/logger.js'
import type { Redis } from '../../platform/redis.js'
import type { AlertMessage } from '../../updates/wire/alert-message.js'
import { changeChannel } from '../../updates/wire/change-message.js'

/** Tells those who listen at the moment what was reached. Never throws: who is not told can ask for it. */
export const announceOver =
  ({ redis, prefix, log }: { redis: Pick<Redis, 'publish'>; prefix: string; log: Logger }) =>
  (messages: readonly AlertMessage[]): void => {
    for (const message of messages)
      redis
        .publish(changeChannel(prefix, message.environmentId), JSON.stringify(message))
        .catch((error: unknown) => log.debug({ err: error }, 'an alert was not pushed, who listened can ask for it'))
  }
