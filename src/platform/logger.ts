import { createRequire } from 'node:module'
import { isatty } from 'node:tty'
import { type Logger, pino } from 'pino'

export type { Logger }

export interface LoggerOptions {
  process: string
  level: string
}

/** Structured lines on standard output: JSON, or a readable line on a terminal. One line per fact, lower case, ids as fields. */
export function createLogger({ process: name, level }: LoggerOptions): Logger {
  const options = {
    level,
    base: { process: name, pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  }
  if (!isatty(1)) return pino(options)
  // Only a terminal pays for the formatter.
  const pretty = createRequire(import.meta.url)('pino-pretty') as typeof import('pino-pretty')
  return pino(options, pretty({ sync: true, ignore: 'pid' }))
}

/** Tests and tools that want silence. */
export const silentLogger = (): Logger => pino({ level: 'silent' })
