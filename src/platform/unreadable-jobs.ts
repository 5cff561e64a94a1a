/**
 * Jobs that the queue library cannot work off, whoever wrote them: it fails on reading them, or on recording how they ended, keeps them in work, and has them
 * begin again each time their worker is found silent.
 */
import type { Redis } from './redis.js'

/** A job as Redis has it. */
type Row = Readonly<Record<string, string>>

/** Its queue has no flows and no schedules, so a job of ours belongs to neither. */
const foreign = ['parent', 'parentKey', 'rjk', 'nrjid'] as const

/** Why the job can't be worked off; null: nothing is wrong with how it is written. */
export function unreadableFor(row: Row): string | null {
  for (const field of foreign) if (row[field]) return `it has the field ${field}`
  if (!isObject(row.data)) return 'its data is no JSON object'
  if (!isObject(row.opts)) return 'its options are no JSON object'
  return null
}

function isObject(text: string | undefined): boolean {
  try {
    const value: unknown = JSON.parse(text ?? '')
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}

const longestKept = 10_000

/** The row of a failed job that tools can read, with what it said as text. */
export function readableRow(row: Row, reason: string, now: number): Record<string, string> {
  return {
    name: row.name ?? '',
    data: JSON.stringify({ unreadable: (row.data ?? '').slice(0, longestKept) }),
    opts: '{}',
    timestamp: String(now),
    finishedOn: String(now),
    failedReason: `The job cannot be read: ${reason}`,
    atm: '1',
  }
}

/** Puts the job among the failed ones when it can't be worked off; answers why. `queueKey`: prefix and name of the queue. */
export async function setAsideUnreadable(redis: Redis, queueKey: string, jobId: string, now: number): Promise<string | null> {
  const key = `${queueKey}:${jobId}`
  const row = await redis.hgetall(key)
  const reason = Object.keys(row).length === 0 ? null : unreadableFor(row)
  if (reason === null) return null
  await redis
    .multi()
    .lrem(`${queueKey}:wait`, 0, jobId)
    .lrem(`${queueKey}:active`, 0, jobId)
    .del(key)
    .hset(key, readableRow(row, reason, now))
    .zadd(`${queueKey}:failed`, now, jobId)
    .exec()
  return reason
}
