import { createHash } from 'node:crypto'
import { newId } from '../../kernel/id.js'
import { invalidInput, Problem } from '../../kernel/problem.js'
import { Backlog } from '../../metering/intake/backlog.js'
import { Door, Replies } from '../../metering/intake/door.js'
import { fromPlainProblem, type RefusedItem, refusedItem, withItems } from '../../metering/model/problems.js'
import { checkEvent, checkReport, maxItemsPerCall, type ReportedUsage } from '../../metering/model/report.js'
import { checkUsageValue } from '../../metering/model/usage-value.js'
import type { EventAnswer, ReportAnswer } from '../../metering/wire/call.js'
import { directDoorPrefix, ingestDirectUsage } from '../../metering/wire/jobs.js'
import type { Secret } from '../../platform/config.js'
import { DatabaseClock } from '../../platform/database-clock.js'
import type { Life } from '../../platform/process.js'
import { openQueue } from '../../platform/queue.js'
import { openRedis } from '../../platform/redis.js'
import type { UsageEvent, UsageReport } from '../api/client.js'
import type { ReportUsageJson } from '../api/messages.js'
import type { UsageQueueAddress } from '../config/config.js'
import type { UsageDoor } from './source.js'

/** As the API's own door gathers them. */
const maxReportsPerBatch = 500
const maxEventsPerBatch = 1_000
/** As the API's own door refuses more, unless it is told otherwise. */
const maxWaitingJobs = 2_000

/**
 * Adds usage to the environment's own queue and reads the results back, as the API's door does: two hops less, and the API may be away. Deadlines are
 * by the clock of Redis, which must not be a second off that of the database.
 */
export function openDirectQueue(life: Life, { redisUrl, environmentId, prefix }: UsageQueueAddress, apiKey: Secret): UsageDoor {
  const connection = { redisUrl: redisUrl.reveal(), prefix }
  const redis = openRedis(life, connection.redisUrl, 'request')
  const door = `${directDoorPrefix(environmentId)}${newId()}`
  const clock = new DatabaseClock(async () => {
    const [seconds = 0, microseconds = 0] = await redis.time()
    return seconds * 1_000 + microseconds / 1_000
  })
  const queues = [openQueue(life, connection, ingestDirectUsage(environmentId))]
  const parts = {
    queues,
    replies: new Replies(openRedis(life, connection.redisUrl, 'subscriber'), prefix, life.log, door),
    clock,
    backlog: new Backlog({ redis, queues, limits: { maxWaitingJobs, maxRedisBytes: null }, log: life.log, metrics: life.metrics }),
    keyHash: createHash('sha256').update(apiKey.reveal()).digest('base64'),
  }
  const reports = new Door({ ...parts, kind: 'reports', maxItems: maxReportsPerBatch })
  const events = new Door({ ...parts, kind: 'events', maxItems: maxEventsPerBatch })

  async function reportUsageBulk(given: readonly UsageReport[], signal: AbortSignal): Promise<ReportUsageJson[]> {
    const now = await clock.now()
    const { checked, refused, first } = checkAll(given, (report) => checkReport(fromReport(report), newId(), now))
    if (first) throw given.length === 1 ? first : withItems(first, refused)
    const answer = (await reports.send(environmentId, checked, signal)) as ReportAnswer
    if ('problem' in answer) throw fromPlainProblem(answer.problem)
    return answer.usages.map(toJson)
  }

  return {
    reportUsageBulk,
    reportUsage: async (report, signal) => (await reportUsageBulk([report], signal))[0]!,
    reportEvents: async (given, signal) => {
      const now = await clock.now()
      const { checked, positions, refused, first } = checkAll(given, (event: UsageEvent) => checkEvent(event, now))
      if (checked.length > 0) {
        const answer = (await events.send(environmentId, checked, signal)) as EventAnswer
        if ('problem' in answer) throw fromPlainProblem(answer.problem)
        refused.push(...answer.refused.map((item) => ({ ...item, index: positions[item.index]! })))
      }
      if (refused.length > 0) throw withItems(first ?? new Problem('INVALID_ARGUMENT', refused[0]!.code, refused[0]!.message), refused)
    },
  }
}

/** `positions` are those of the checked items in the call. */
function checkAll<T, Checked>(items: readonly T[], check: (item: T) => Checked) {
  if (items.length > maxItemsPerCall) throw invalidInput(`a call has at most ${maxItemsPerCall} items`)
  const checked: Checked[] = []
  const positions: number[] = []
  const refused: RefusedItem[] = []
  let first: Problem | undefined
  for (const [index, item] of items.entries()) {
    try {
      checked.push(check(item))
      positions.push(index)
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      first ??= error
      refused.push(refusedItem(index, error))
    }
  }
  return { checked, positions, refused, first }
}

/** The key made here keeps a batch that is worked on twice from counting twice. */
const fromReport = ({ updateBehavior, createdAt, value, ...report }: UsageReport) => ({
  ...report,
  value: checkUsageValue(value),
  behavior: updateBehavior ?? ('DELTA' as const),
  timestamp: createdAt,
  idempotencyKey: newId(),
})

const toJson = ({
  id,
  customerId,
  resourceId,
  featureId,
  currentUsage,
  periodStart,
  periodEnd,
  timestamp,
}: ReportedUsage): ReportUsageJson => ({
  id,
  customerId,
  resourceId,
  featureId,
  currentUsage: Number(currentUsage),
  timestamp: new Date(timestamp).toISOString(),
  usagePeriodStart: toIso(periodStart),
  usagePeriodEnd: toIso(periodEnd),
})

const toIso = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString())
