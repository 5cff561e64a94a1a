import type { ExpectedAnnouncement } from '../../changes/state-bus.js'
import { newId } from '../../kernel/id.js'
import { Problem } from '../../kernel/problem.js'
import type { JobQueue } from '../../platform/queue.js'
import { notCounted, outcomeUnknown, toPlainProblem } from '../model/problems.js'
import type { EventItem, ReportItem } from '../model/report.js'
import type { Call, EventAnswer, ReportAnswer } from '../wire/call.js'
import type { IngestionJob } from '../wire/jobs.js'
import { packEvents } from '../wire/packed-events.js'
import { type PackedAnswer, packCall, unpackAnswer } from '../wire/packed-reports.js'
import type { IngestionReply } from '../wire/replies.js'
import type { Replies } from './replies.js'

export type Answer = ReportAnswer | EventAnswer
/** What became of a call; null: it is not known. */
export type CallOutcome = { answer: Answer } | { problem: Problem } | null

/** Without a reply in that time the batch is added once more: its job, its worker or the reply may be lost, and counting is safe to repeat. */
const repeatMs = 500
/** From when a batch leaves: by then its deadline is two seconds past. */
const answerMs = 6_000
/** What is stored is said within that time, also while others wait to be. */
const questionMs = 500
/** Shares of the callers' time, for those who wait less. */
const shareOfAnswer = 0.6
const shareOfQuestion = 0.2

/** How long workers are waited for, by how long callers wait at most. */
export function waitsWithin(callersMs: number): { answerMs: number; questionMs: number } {
  return { answerMs: Math.min(answerMs, callersMs * shareOfAnswer), questionMs: Math.min(questionMs, callersMs * shareOfQuestion) }
}

export interface ExchangeParts {
  replies: Pick<Replies, 'door' | 'expect' | 'forget'>
  /**
   * A report is answered when every reader that holds a state knows of it, so that who reported reads its own usage wherever it asks: the worker
   * announces it, and says who has to hear of it. Absent: nobody holds states.
   */
  expectAnnouncement?: () => ExpectedAnnouncement
  kind: IngestionJob['batch']['kind']
  /** Of a door outside the platform: see `IngestionJob`. */
  keyHash?: string
}

export interface SentCall {
  call: Call<unknown>
  /** The worker has answered; before others have heard of it. */
  heard: Answer | null
  settle(outcome: CallOutcome): void
}

export interface Batch {
  environmentId: string
  queue: Pick<JobQueue<IngestionJob>, 'add'>
  calls: readonly SentCall[]
  /** Called as soon as the worker has answered. */
  committed: () => void
}

/**
 * Sends a batch to the workers and settles its calls; ends when all are settled. While there is no reply it asks again: once by the batch itself, and at last
 * only for what is stored, after which what it does not know is not known. Rejects when no job can be made of it.
 */
export async function exchange(parts: ExchangeParts, waits: ReturnType<typeof waitsWithin>, batch: Batch): Promise<void> {
  const { replies, keyHash } = parts
  const { environmentId, queue, calls, committed } = batch
  const batchId = newId()
  const packed = pack(parts.kind, calls)
  const announcement = parts.expectAnnouncement?.()
  const job: IngestionJob = {
    v: 1,
    environmentId,
    door: replies.door,
    batchId,
    isRepeat: false,
    ...(keyHash === undefined ? {} : { keyHash }),
    ...(announcement && { announcement: announcement.ticket }),
    batch: packed,
  }
  return new Promise((resolve) => {
    let repeat: NodeJS.Timeout | undefined
    let patience: NodeJS.Timeout | undefined
    /** Jobs that a worker may find: those that were handed over, or are being, but for those of which it is certain that the queue has not taken them. */
    let mayBeThere = 0
    let mayRepeat = true
    const repeatNoMore = () => {
      mayRepeat = false
      clearTimeout(repeat)
    }
    const end = () => {
      repeatNoMore()
      clearTimeout(patience)
      replies.forget(batchId)
      announcement?.forget()
      resolve()
    }
    const settleAll = (outcome: CallOutcome) => {
      for (const { settle } of calls) settle(outcome)
      end()
    }
    const add = async (isRepeat: boolean) => {
      mayBeThere += 1
      try {
        await queue.add({ ...job, isRepeat })
      } catch (error) {
        // Only a queue that was away before anything was sent, or that was full, is certain: else the job may be there.
        if (error instanceof Problem) mayBeThere -= 1
        if (error instanceof Problem && mayBeThere === 0) settleAll({ problem: notCounted(error) })
        else if (isRepeat) repeatLater()
      }
    }
    const repeatLater = () => {
      if (mayRepeat) repeat = setTimeout(add, repeatMs, true)
    }
    const ask = () => {
      repeatNoMore()
      patience = setTimeout(() => settleAll(null), waits.questionMs)
      queue.add({ ...job, isRepeat: true, onlyStored: true }).catch(() => undefined)
    }
    repeatLater()
    patience = setTimeout(ask, waits.answerMs)
    replies.expect(batchId, async ({ answers, listeners }) => {
      // There may be a second reply.
      replies.forget(batchId)
      repeatNoMore()
      clearTimeout(patience)
      for (const [index, call] of calls.entries()) {
        const answer = unpack(parts.kind, answers[index]!, call.call.items)
        call.heard = mayBeThere > 1 ? ofSeveral(answer) : answer
      }
      committed()
      if (listeners) await announcement?.heardBy(listeners)
      for (const { settle, heard } of calls) settle(outcomeOf(heard!))
      end()
    })
    void add(false)
  })
}

/**
 * That one worker has failed, or refuses it, says nothing of another one that has the same job and may find what was refused for mended; that the deadline has
 * passed does.
 */
function ofSeveral(answer: Answer): Answer {
  return isOfOneWorker(answer) ? { problem: toPlainProblem(outcomeUnknown([])) } : answer
}

function isOfOneWorker(answer: Answer): boolean {
  if ('usages' in answer) return false
  if ('refused' in answer) return answer.refused.length > 0
  const { code, details } = answer.problem
  return details.outcome !== 'unknown' && code !== 'DEADLINE_EXCEEDED'
}

export function outcomeOf(answer: Answer): CallOutcome {
  return 'problem' in answer && answer.problem.details.outcome === 'unknown' ? null : { answer }
}

function pack(kind: IngestionJob['batch']['kind'], calls: readonly SentCall[]): IngestionJob['batch'] {
  if (kind === 'reports') return { kind, calls: calls.map(({ call }) => packCall(call as Call<ReportItem>)) }
  return { kind, calls: calls.map(({ call: { deadline, items } }) => ({ deadline, packed: packEvents(items as EventItem[]) })) }
}

function unpack(kind: IngestionJob['batch']['kind'], answer: IngestionReply['answers'][number], items: unknown[]): Answer {
  return kind === 'reports' ? unpackAnswer(answer as PackedAnswer, items as ReportItem[]) : (answer as EventAnswer)
}
