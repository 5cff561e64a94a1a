import { type Column, headingsOf, lineOf } from '../support/table.js'

/** What an attack came to. */
export interface Row {
  attack: string
  tried: number
  refused: number
  /** Calls that were answered as asked, as far as the attack makes calls. */
  granted: number
  /** Answers that say that it is the platform's own fault. */
  faults: number
  /** Lines of the logs of all processes that are errors, and those that carry a key or a token. */
  errorLines: number
  linesWithKeys: number
  /** The first of the errors, as it was logged. */
  firstError: string | null
  /** Processes of the platform that ended. */
  died: number
  /** Of the process that was attacked. */
  longestDelayMs: number
  /** The most CPU time that it took without serving anybody else: other than the delay it does not depend on what else the machine does. */
  longestStepMs: number
  /** What a bare process needs to take in one body of the largest size in one go, and write it again: how fast the machine is. */
  bodyStepMs: number
  /** Of a collection of its garbage, which no step is counted with. */
  longestCollectionMs: number
  /** Of the process that was attacked: what it holds in memory after its garbage was collected, and the most that it held in between. */
  memoryBeforeMb: number
  memoryMostMb: number
  memoryAfterMb: number
  /** Calls of another tenant meanwhile. */
  otherLost: number
  otherP50Ms: number
  otherP99Ms: number
  /** The same calls to a bare server under the same attack. */
  bareP99Ms: number
  mustBeRefused: boolean
}

const mostOtherMs = 100
/**
 * Nothing takes longer than 20 ms at a time, by a clock of the processor that may count in 4 ms; or, where the machine is slow, than one body does that is taken in
 * one go.
 */
const mostStepMs = 24
const mostTimesBare = 2
const mostGrowth = 0.1
/** What V8 and the allocator keep or give back as it happens, and what caches that are always full of something hold more or less. */
export const noiseMb = 24

/** Memory may be so much after an attack. */
export const mostMemoryAfter = (memoryBeforeMb: number): number => memoryBeforeMb * (1 + mostGrowth) + noiseMb

/** What must not be, in words; none: the attack came to nothing. */
export function failuresOf(row: Row): string[] {
  const failures: string[] = []
  if (row.died > 0) failures.push(`${row.died} died`)
  if (row.longestStepMs > Math.max(mostStepMs, row.bodyStepMs)) failures.push(`step of ${row.longestStepMs} ms, ${row.bodyStepMs} a body`)
  if (row.otherLost > 0) failures.push(`${row.otherLost} calls lost`)
  if (row.otherP99Ms > Math.max(mostOtherMs, mostTimesBare * row.bareP99Ms))
    failures.push(`slow: p99 of ${row.otherP99Ms} ms, ${row.bareP99Ms} bare`)
  if (row.memoryAfterMb > mostMemoryAfter(row.memoryBeforeMb)) failures.push('memory')
  if (row.mustBeRefused && row.granted > 0) failures.push(`${row.granted} let through`)
  if (row.faults > 0) failures.push(`${row.faults} internal errors`)
  if (row.errorLines > 0) failures.push(`${row.errorLines} error lines`)
  if (row.linesWithKeys > 0) failures.push('keys in the logs')
  if (row.tried === 0) failures.push('nothing tried')
  return failures
}

/** What others may read. */
const told = [
  'attack',
  'tried',
  'refused',
  'died',
  'longestDelayMs',
  'longestStepMs',
  'bodyStepMs',
  'longestCollectionMs',
  'memoryBeforeMb',
  'memoryMostMb',
  'memoryAfterMb',
  'otherP50Ms',
  'otherP99Ms',
  'bareP99Ms',
] as const satisfies (keyof Row)[]

/** One line. */
export const toJson = (row: Row): string => JSON.stringify(Object.fromEntries(told.map((name) => [name, row[name]])))

const columns: readonly Column<Row>[] = [
  ['attack', -23, ({ attack }) => attack],
  ['tried', 8, ({ tried }) => tried],
  ['refused', 8, ({ refused }) => refused],
  ['died', 5, ({ died }) => died],
  ['delay ms', 9, ({ longestDelayMs }) => longestDelayMs],
  ['step ms', 8, ({ longestStepMs }) => longestStepMs],
  ['body ms', 8, ({ bodyStepMs }) => bodyStepMs],
  ['gc ms', 6, ({ longestCollectionMs }) => longestCollectionMs],
  ['MB before', 10, ({ memoryBeforeMb }) => memoryBeforeMb],
  ['most', 6, ({ memoryMostMb }) => memoryMostMb],
  ['after', 6, ({ memoryAfterMb }) => memoryAfterMb],
  ['other p50 ms', 13, ({ otherP50Ms }) => otherP50Ms],
  ['p99', 8, ({ otherP99Ms }) => otherP99Ms],
  ['bare p99', 9, ({ bareP99Ms }) => bareP99Ms],
  ['  ', -2, (row) => `  ${failuresOf(row).join(', ') || 'ok'}`],
]

export const headings = (): string => headingsOf(columns)
export const toLine = (row: Row): string => lineOf(columns, row)
