import { expect } from 'chai'
import { pino } from 'pino'
import type { Logger } from '../../src/platform/logger.js'

/** What tells of the inside of a process or of its stores. The values that are sent have nothing of it. */
const internal =
  /\bat \S+ \(|node_modules|\/(?:src|dist)\/|\.[jt]s:\d|Cannot read prop|Cannot (?:set|convert|destructure|mix)|Converting circular|is not a (?:function|constructor)|is not iterable|is not defined(?! by)|(?:Type|Range|Reference)Error|Maximum call stack|Invalid (?:time value|array length|string length|Date)|[Pp]risma|[Pp]ostgres|\bSQL\b|relation "|violates|at or near|invalid input syntax|byte sequence|out of range for type|duplicate key|WRONGTYPE|NOSCRIPT|ECONN|E[A-Z]{4,}:|undefined/

/** No answer may say so. */
export function expectNothingInternal(said: string, about: string): void {
  const found = internal.exec(said)
  expect(found && said.slice(Math.max(0, found.index - 100), found.index + 100), `${about.slice(0, 2_000)} is told of the inside`).to.equal(
    null,
  )
}

/** A log that keeps the lines of a level and above. */
export function watchedLog(level: 'error' | 'warn' = 'error'): { log: Logger; lines: string[] } {
  const lines: string[] = []
  return { log: pino({ level }, { write: (line: string) => void lines.push(line) }), lines }
}

/** Fails when the promise takes longer: everything is answered or closed. */
export async function soon<Value>(what: string, promise: Promise<Value>, withinMs = 15_000): Promise<Value> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no end within ${withinMs} ms: ${what.slice(0, 2_000)}`)), withinMs)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

/** Nothing that somebody sends is an error in the log. */
export function expectQuiet(lines: string[], about: string): void {
  const said = lines.splice(0)
  if (said.length > 0) expect.fail(`${about.slice(0, 2_000)} is logged: ${said.join('').slice(0, 6_000)}`)
}
