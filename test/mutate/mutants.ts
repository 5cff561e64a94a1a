import type { MutantResult } from '@stryker-mutator/api/core'
import type { Column } from '../support/table.js'

/** A change of the compiled code, and whether a test noticed it. */
export interface Mutant {
  /** Of the source. */
  file: string
  line: number
  /** What it is called in the list of expected survivors: what stands where, and what it becomes. It does not move when lines do. */
  name: string
  isNoticed: boolean
  /** Noticed by not ending: on a machine that does much else, or stands still for a while, that may be the machine. */
  isTimedOut: boolean
}

/** Why no test notices a mutant, by file and by name. */
export type Expected = Readonly<Record<string, Readonly<Record<string, string>>>>

export interface RoomResult {
  room: string
  mutants: number
  noticed: number
  /** Of those that were noticed. */
  timedOut: number
  expected: number
  unexpected: readonly Mutant[]
  /** Names in the list that no survivor has: noticed by now, or the code is gone. */
  outdated: readonly string[]
}

const longest = 100

/** In one line, and not longer than can be read. */
function shortened(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > longest ? `${line.slice(0, longest)}…` : line
}

type Change = Pick<MutantResult, 'location' | 'mutatorName' | 'replacement'>

/** @param code of the file that was mutated; a location counts lines and columns from 1 */
export function nameOf({ location: { start, end }, mutatorName, replacement }: Change, code: string): string {
  const lines = code.split('\n').slice(start.line - 1, end.line)
  const line = lines[0]!
  // From the end, because the cut of the start moves what is in the same line.
  lines[lines.length - 1] = lines.at(-1)!.slice(0, end.column - 1)
  lines[0] = lines[0]!.slice(start.column - 1)
  return `${mutatorName}: ${shortened(lines.join('\n'))} → ${shortened(replacement)} in ${shortened(line)}`
}

/** Of Stryker's words for what became of a mutant. The others (ignored, cannot be run) say nothing about tests. */
const noticed: Readonly<Record<string, boolean>> = { Killed: true, Timeout: true, Survived: false, NoCoverage: false }

/** Words for people, which may be said otherwise: no code of an error, no name and no key has a blank. */
const isProse = (name: string) => /^StringLiteral: ['"`][^→]*\S \S[^→]*→/.test(name)

/** Whether a test noticed it, null when it was not tried or no test needs to. */
export const isNoticed = ({ status }: Pick<MutantResult, 'status'>, name: string): boolean | null =>
  isProse(name) ? null : (noticed[status] ?? null)

/** @param files those that were mutated: of others in the list nothing is known */
export function resultOf(room: string, files: readonly string[], mutants: readonly Mutant[], expected: Expected): RoomResult {
  const survivors = mutants.filter((mutant) => !mutant.isNoticed)
  const isExpected = ({ file, name }: Mutant) => expected[file]?.[name] !== undefined
  const surviving = new Set(survivors.map(({ file, name }) => `${file}: ${name}`))
  return {
    room,
    mutants: mutants.length,
    noticed: mutants.length - survivors.length,
    timedOut: mutants.filter(({ isTimedOut }) => isTimedOut).length,
    expected: survivors.filter(isExpected).length,
    unexpected: survivors.filter((mutant) => !isExpected(mutant)),
    outdated: files
      .flatMap((file) => Object.keys(expected[file] ?? {}).map((name) => `${file}: ${name}`))
      .filter((name) => !surviving.has(name)),
  }
}

/** Of a hundred mutants, so many were noticed. A room in which nothing can be mutated lacks no test. */
export const scoreOf = ({ mutants, noticed }: Pick<RoomResult, 'mutants' | 'noticed'>): number =>
  mutants === 0 ? 100 : (100 * noticed) / mutants

export const columns: readonly Column<RoomResult>[] = [
  ['room', -28, ({ room }) => room],
  ['mutants', 9, ({ mutants }) => mutants],
  ['noticed', 9, ({ noticed }) => noticed],
  ['timed out', 11, ({ timedOut }) => timedOut],
  ['expected', 10, ({ expected }) => expected],
  ['unexpected', 12, ({ unexpected }) => unexpected.length],
  ['score', 9, (result) => `${scoreOf(result).toFixed(1)} %`],
]
