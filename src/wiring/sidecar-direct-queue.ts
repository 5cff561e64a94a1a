import { createHash } from 'node:crypto'
import type { Clock } from '../kernel/clock.js'
import { newId } from '../kernel/id.js'
import type { Secret } from '../kernel/secret.js'
import { Backlog } from '../metering/intake/backlog.js'
import { defaultMaxWaitingJobs } from '../metering/intake/config.js'
import { UsageIntake } from '../metering/intake/intake.js'
import { Replies } from '../metering/intake/replies.js'
import { directDoorPrefix, ingestDirectUsage } from '../metering/wire/jobs.js'
import type { Life } from '../platform/process.js'
import { openQueue } from '../platform/queue.js'
import { openSubscriber } from '../platform/redis.js'
import type { UsageQueueAddress } from '../sidecar/config/config.js'
import { DirectQueue } from '../sidecar/source/direct-queue.js'

/** Wires a sidecar that adds usage to its environment's queue. Deadlines are by the platform's clock, as the API tells it. */
export function openDirectQueue(
  life: Life,
  { redisUrl, environmentId, prefix }: UsageQueueAddress,
  { apiKey, clock, answerWithinMs }: { apiKey: Secret; clock: Clock; answerWithinMs: number },
): DirectQueue {
  const connection = { redisUrl: redisUrl.reveal(), prefix, user: 'limited' } as const
  const subscriber = openSubscriber(life, connection)
  const queues = [openQueue(life, connection, ingestDirectUsage(environmentId))]
  const limits = { maxWaitingJobs: defaultMaxWaitingJobs, maxRedisBytes: null }
  const intake = new UsageIntake({
    queues,
    replies: new Replies(subscriber, prefix, `${directDoorPrefix(environmentId)}${newId()}`),
    clock,
    backlog: new Backlog({ redis: null, queues, limits, log: life.log, metrics: life.metrics }),
    answerWithinMs,
    keyHash: createHash('sha256').update(apiKey.reveal()).digest('base64'),
  })
  return new DirectQueue(environmentId, intake)
}
