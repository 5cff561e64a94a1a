/** `dead-letters`: what failed for good, in queues and among the changes. */
import { stringify } from 'yaml'
import { auditedDiscarding, auditedRetry } from '../../changes/model/audited.js'
import { UnreadableChanges } from '../../changes/unreadable.js'
import type { Command } from '../../cli/command-line.js'
import { table } from '../../cli/output.js'
import type { DeadLetter } from '../../platform/dead-letters.js'
import type { AdminContext } from './context.js'

export const deadLetterCommands: readonly Command<AdminContext>[] = [
  {
    name: 'dead-letters list',
    argument: null,
    summary: 'Lists the jobs that failed for good, in all queues, and the changes that cannot be read, the latest first',
    options: {},
    async run({ deadLetters, unreadableChanges }) {
      const all = [...(await deadLetters().list()), ...(await unreadableChanges.list())]
      const letters = all.sort((a, b) => (b.failedAt ?? 0) - (a.failedAt ?? 0)).map(shownLetter)
      const rows = letters.map(({ id, attempts, failedAt, reason }) => [
        id,
        String(attempts),
        failedAt ?? '',
        reason.split('\n')[0]!.slice(0, 80),
      ])
      return { text: rows.length === 0 ? 'No job has failed for good' : table(['ID', 'TRIES', 'FAILED', 'REASON'], rows), json: letters }
    },
  },
  {
    name: 'dead-letters show',
    argument: 'id',
    summary: 'Prints a failed job with what it carries',
    options: {},
    async run(context, _values, id) {
      const letter = shownLetter(await lettersWith(context, id).show(id))
      return { text: stringify(letter, { lineWidth: 140 }).trimEnd(), json: letter }
    },
  },
  {
    name: 'dead-letters retry',
    argument: 'id',
    summary: 'Gives a failed job to a worker once more',
    options: {},
    async run(context, _values, id) {
      await changeLetter(context, id, 'retry')
      return { text: `${id} waits for a worker again`, json: { id, retried: true } }
    },
  },
  {
    name: 'dead-letters discard',
    argument: 'id',
    summary: 'Deletes a failed job',
    options: {},
    async run(context, _values, id) {
      await changeLetter(context, id, 'discard')
      return { text: `Deleted ${id}`, json: { id, discarded: true } }
    },
  },
]

const lettersWith = ({ deadLetters, unreadableChanges }: AdminContext, id: string) =>
  UnreadableChanges.isOf(id) ? unreadableChanges : deadLetters()

const shownLetter = ({ failedAt, ...letter }: DeadLetter) => ({
  ...letter,
  failedAt: failedAt === null ? null : new Date(failedAt).toISOString(),
})

/** A change that cannot be read is written down with what is done to it; a job lies in Redis, so it is written down before that. */
async function changeLetter(context: AdminContext, id: string, action: 'retry' | 'discard'): Promise<void> {
  if (UnreadableChanges.isOf(id)) return context.unreadableChanges[action](id)
  const letters = context.deadLetters()
  const letter = await letters.show(id)
  const environmentId = await environmentOf(context, letter)
  if (environmentId !== null)
    await context.record({ retry: auditedRetry, discard: auditedDiscarding }[action]({ ...letter, environmentId }))
  await letters[action](id)
}

/** Null: it names none that there is. */
async function environmentOf({ environments }: AdminContext, { queue, data }: DeadLetter): Promise<string | null> {
  const { environmentId } = (data ?? {}) as { environmentId?: unknown }
  return (await environments.list()).find(({ id }) => id === environmentId || queue.endsWith(id))?.id ?? null
}
