import { isatty } from 'node:tty'
import { type Logger, pino } from 'pino'
import pretty from 'pino-pretty'

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
  return isatty(1) ? pino(options, pretty({ sync: true, ignore: 'pid' })) : pino(options)
}

/** Tests and tools that want silence. */
export const silentLogger = (): Logger => pino({ level: 'silent' })
