import { byRule } from '../audit/record/origin.js'
import { recordEvents } from '../changes/events.js'
import { invalidInput, Problem } from '../kernel/problem.js'
import { inLanes } from '../platform/due-sweep.js'
import { type Db, type PrismaClient } from '../platform/postgres.js'
import { inTransaction } from '../platform/transaction.js'
import * as repository from './records/imports.js'

/**
 * Imports of many records: accepted at once, worked off in the background, with one outcome per record.
 *
 * import   the records of one request, in their order
 * slice    what one job works off before it makes room for other imports
 */

/** Imports one record in the transaction that notes its outcome; answers the caller's identifier of it. Throws a Problem to refuse it. */
type Importer = (db: Db, environmentId: string, input: unknown) => Promise<string>

export type { ImportItem, ImportJob } from './records/imports.js'

interface ImportsOptions {
  prisma: PrismaClient
  importers: Partial<Record<repository.ImportKind, Importer>>
  /** Called after each slice that changed something. */
  changed: (environmentId: string) => void
  /** Told of a record that failed by our own fault, for somebody to look at it. */
  unexpected: (error: unknown, record: { environmentId: string; importId: string; position: number }) => void
  /** Wakes a worker for an import; losing it loses nothing. */
  wake: (environmentId: string, importId: string) => void
  /** How many of those wait for a worker. */
  waiting: () => Promise<number>
}

/** As long as a list in a request may be; a bigger import is several. */
const maxImportItems = 1_000
/** How many outcomes one answer tells. */
const maxAnsweredItems = 1_000
/** Far shorter than what makes a queue look stalled. */
const sliceMs = 2_000
/** How long a killed worker keeps an import from others: longer than a slice and the transaction with which it may end. */
const leaseMs = 30_000
/** How long an import is left alone of which something cannot be imported now: twice as long each time. */
const firstPauseMs = 5_000
const longestPauseMs = 300_000
/** After so many, in more than an hour, what was expected to pass has not: the record is refused, so that the import comes to an end. */
const mostAttempts = 20
/** With so many jobs in the queue a sweep adds none: most of what it finds waits among them. */
const manyWaiting = 20
/** Records that are imported at the same time. Of a database's work most is waiting for it; more would take the connections of transitions. */
const lanes = 4
const retentionDays = 30

export class ImportService {
  readonly #prisma: PrismaClient
  readonly #importers: ImportsOptions['importers']
  readonly #changed: ImportsOptions['changed']
  readonly #unexpected: ImportsOptions['unexpected']
  readonly #wake: ImportsOptions['wake']
  readonly #waiting: ImportsOptions['waiting']
  /** Environments with a slice in work here, and whether somebody was turned away meanwhile. */
  readonly #inWork = new Map<string, boolean>()

  constructor({ prisma, importers, changed, unexpected, wake, waiting }: ImportsOptions) {
    this.#prisma = prisma
    this.#importers = importers
    this.#changed = changed
    this.#unexpected = unexpected
    this.#wake = wake
    this.#waiting = waiting
  }

  /** Accepts the records and answers the import's id. They are imported later, each on its own, so a refused one hinders no other; those of one customer in their order. */
  async start(environmentId: string, kind: repository.ImportKind, inputs: readonly object[]): Promise<string> {
    if (inputs.length === 0 || inputs.length > maxImportItems) throw invalidInput(`Give 1 to ${maxImportItems} records.`, { path: 'input' })
    const importId = await inTransaction(this.#prisma, (db) => repository.insertImport(db, environmentId, kind, inputs))
    this.#wake(environmentId, importId)
    return importId
  }

  /** How far an import is. Null: unknown, or finished more than 30 days ago. */
  find(environmentId: string, importId: string): Promise<repository.ImportJob | null> {
    return isUuid.test(importId) ? repository.findImport(this.#prisma, environmentId, importId) : Promise.resolve(null)
  }

  /** The outcomes after a position (-1: from the start), of one status or all. */
  async items(
    environmentId: string,
    importId: string,
    { status = null, after = -1, limit = 100 }: { status?: repository.ImportItemStatus | null; after?: number; limit?: number },
  ): Promise<repository.ImportItem[]> {
    if (limit < 1 || limit > maxAnsweredItems) throw invalidInput(`first must be 1 to ${maxAnsweredItems}.`, { path: 'first' })
    return repository.findItems(this.#prisma, environmentId, importId, { status, after, limit })
  }

  /**
   * Works off a slice of an import, and asks for the next one of its environment; does nothing while one of the environment is in work here, which asks for
   * the others. Running it twice is harmless: one has the import at a time, and each record is imported in the transaction that notes it as done.
   * @throws the first failure that is expected to pass, at the end of the slice: such records stay to be imported, and so do those that follow of their customers
   */
  async run(environmentId: string, importId: string, signal: AbortSignal): Promise<void> {
    if (this.#inWork.has(environmentId)) return void this.#inWork.set(environmentId, true)
    this.#inWork.set(environmentId, false)
    let isNextWanted = false
    try {
      const lease = await repository.leaseImport(this.#prisma, environmentId, importId, leaseMs)
      if (!lease) return
      isNextWanted = true
      await this.#runSlice(environmentId, importId, lease, signal)
    } finally {
      isNextWanted ||= this.#inWork.get(environmentId)!
      // First of all: nobody is turned away any more whom the look at the next one may miss.
      this.#inWork.delete(environmentId)
      const next = isNextWanted ? await repository.findNext(this.#prisma, environmentId, importId) : null
      if (next !== null) this.#wake(environmentId, next)
    }
  }

  /** Customers whose next record could not be imported before have their turn when all others are done: they may take long, and hold up nobody. */
  async #runSlice(environmentId: string, importId: string, lease: repository.Lease, signal: AbortSignal): Promise<void> {
    const importer = this.#importers[lease.kind]
    if (!importer) throw new Error(`no importer of ${lease.kind}`)
    const until = performance.now() + sliceMs
    const failures: unknown[] = []
    /** Of the records that are left. */
    let fewestAttempts = Number.POSITIVE_INFINITY
    const work = async (chain: readonly repository.PendingItem[]) => {
      for (const item of chain) {
        let { attempts } = item
        try {
          if (!signal.aborted && performance.now() <= until) {
            await this.#importItem(importer, environmentId, importId, item)
            continue
          }
        } catch (error) {
          failures.push(error)
          attempts += 1
        }
        fewestAttempts = Math.min(fewestAttempts, attempts)
        return
      }
    }
    try {
      const pending = await repository.findPending(this.#prisma, environmentId, importId, maxImportItems)
      for (const chains of turnsOf(pending)) await inLanes(lanes, chains, work)
    } finally {
      await this.#release(environmentId, importId, lease, failures.length > 0 ? pauseMsAfter(fewestAttempts) : null)
      this.#changed(environmentId)
    }
    if (failures.length > 0) throw failures[0]
  }

  #release(environmentId: string, importId: string, lease: repository.Lease, pausedMs: number | null): Promise<void> {
    return inTransaction(this.#prisma, async (db) => {
      if (!(await repository.releaseImport(db, environmentId, importId, lease, pausedMs))) return
      await recordEvents(db, environmentId, async () => {
        const { kind, total, failed } = (await repository.findImport(db, environmentId, importId))!
        return [{ type: 'import.finished', customerId: null, data: { importId, kind, total, failed } }]
      })
    })
  }

  /** Forgets what was finished long ago, and wakes workers for what was forgotten, unless many jobs wait; answers for how many. */
  async sweep(): Promise<number> {
    await repository.deleteFinished(this.#prisma, retentionDays)
    if ((await this.#waiting()) >= manyWaiting) return 0
    const abandoned = await repository.findAbandoned(this.#prisma, 100)
    for (const { environmentId, importId } of abandoned) this.#wake(environmentId, importId)
    return abandoned.length
  }

  /** @throws what is expected to pass */
  async #importItem(
    importer: Importer,
    environmentId: string,
    importId: string,
    { position, attempts }: repository.PendingItem,
  ): Promise<void> {
    try {
      await inTransaction(this.#prisma, async (db) => {
        const input = await repository.takeItem(db, environmentId, importId, position)
        if (input === null) return
        const refId = await byRule('import', () => importer(db, environmentId, input), importId)
        await repository.settleItem(db, environmentId, importId, position, { refId })
      })
    } catch (error) {
      // What is away or busy says nothing about the record, which stays to be imported. Whatever else it was, it must not keep the others waiting.
      const { isRetryable, code, reason: errorReason, message: errorMessage } = Problem.from(error)
      if (isRetryable && attempts + 1 < mostAttempts) {
        await repository.countAttempt(this.#prisma, environmentId, importId, position)
        throw error
      }
      await repository.settleItem(this.#prisma, environmentId, importId, position, { errorReason, errorMessage })
      if (code === 'INTERNAL') this.#unexpected(error, { environmentId, importId, position })
    }
  }
}

const isUuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

/** Of a record that was not tried since (0): as long as after the first attempt. */
const pauseMsAfter = (attempts: number): number => Math.min(firstPauseMs * 2 ** Math.max(0, attempts - 1), longestPauseMs)

/**
 * What belongs to one customer stays in its order; customers do not wait for each other. First those whose next record was never tried, then the others, of
 * which those come first that were tried least.
 */
function turnsOf(pending: readonly repository.PendingItem[]): repository.PendingItem[][][] {
  const chains = new Map<string, repository.PendingItem[]>()
  for (const item of pending) {
    const chain = chains.get(item.customer)
    if (chain) chain.push(item)
    else chains.set(item.customer, [item])
  }
  const attemptsOf = ([first]: repository.PendingItem[]) => first!.attempts
  const all = [...chains.values()].sort((a, b) => attemptsOf(a) - attemptsOf(b))
  return [all.filter((chain) => attemptsOf(chain) === 0), all.filter((chain) => attemptsOf(chain) > 0)]
}
