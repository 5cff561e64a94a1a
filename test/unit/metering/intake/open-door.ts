import { Door, type DoorParts } from '../../../../src/metering/intake/door.js'
import { patienceOf } from '../../../../src/metering/intake/patience.js'
import type { EventItem } from '../../../../src/metering/model/report.js'
import type { EventAnswer } from '../../../../src/metering/wire/call.js'
import type { IngestionJob } from '../../../../src/metering/wire/jobs.js'
import type { IngestionReply } from '../../../../src/metering/wire/replies.js'

/** A door whose queue and worker are this test. */
export function openDoor({
  shards = 1,
  expectAnnouncement,
  backlog,
  answerWithinMs,
  add = async () => undefined,
}: { shards?: number } & Pick<Partial<DoorParts>, 'expectAnnouncement' | 'backlog' | 'answerWithinMs'> & {
    add?: (job: IngestionJob) => Promise<void>
  } = {}) {
  const jobs: IngestionJob[] = []
  const heard = new Map<string, (reply: IngestionReply) => void>()
  const queues = Array.from({ length: shards }, () => [] as IngestionJob[])
  const parts: Omit<DoorParts, 'kind' | 'maxItems'> = {
    queues: queues.map((queue) => ({
      add: async (job: IngestionJob) => {
        await add(job)
        jobs.push(job)
        queue.push(job)
      },
    })),
    replies: {
      door: 'door',
      expect: (batchId, listener) => void heard.set(batchId, listener),
      forget: (batchId) => void heard.delete(batchId),
    },
    clock: { now: () => 1_000 },
    expectAnnouncement,
    backlog,
    answerWithinMs,
  }
  const door = new Door({ ...parts, kind: 'events', maxItems: 50 })
  const send = (count: number, signal?: AbortSignal, customerId = 'customer', environmentId = 'environment') =>
    door.send(
      environmentId,
      Array.from({ length: count }, (_, index) => ({ customerId, idempotencyKey: `key ${index}` }) as EventItem),
      signal && patienceOf(signal),
    )
  const reply = ({ batchId, batch }: IngestionJob, answer: EventAnswer, holders?: string[]) =>
    heard.get(batchId)?.({
      batchId,
      answers: batch.calls.map(() => answer),
      ...(holders && { listeners: { epoch: 'e', holders } }),
    })
  const answer = (job: IngestionJob, holders?: string[]) => reply(job, { refused: [] }, holders)
  const itemsOf = ({ batch }: IngestionJob) =>
    batch.calls.reduce((sum, call) => sum + ('packed' in call ? call.packed.keys.length : call.length - 1), 0)
  /** The turns of the event loop in which batches leave. */
  const settle = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)))
  return { door, parts, jobs, queues, send, answer, reply, itemsOf, settle }
}
