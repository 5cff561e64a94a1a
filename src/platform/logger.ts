import { createRequire } from 'node:module'
import { isatty } from 'node:tty'
import { type Logger, pino } from 'pino'

export type { Logger }

export interface LoggerOptions {
  process: string
  level: string
  /** Fields of every line; absent: none. */
  mixin?: () => object
}

/** Of a text in what is logged of an error: it may hold what a caller has sent, as long as that was. */
const maxTextLength = 4_000
const maxItems = 20
/** Errors hold their causes, which hold theirs. */
const maxDepth = 4

/** An error as it is logged: its long texts and lists are cut. */
export const cutError = (error: Error): unknown => cut(pino.stdSerializers.err(error), maxDepth)

function cut(value: unknown, depth: number): unknown {
  if (typeof value === 'string')
    return value.length > maxTextLength ? `${value.slice(0, maxTextLength)}… (${value.length} characters)` : value
  if (typeof value !== 'object' || value === null) return value
  if (depth === 0) return '…'
  if (Array.isArray(value)) return value.slice(0, maxItems).map((item) => cut(item, depth - 1))
  const entries = Object.entries(value).slice(0, maxItems)
  return Object.fromEntries(entries.map(([name, item]) => [name, cut(item, depth - 1)]))
}

/** Structured lines on standard output: JSON, or a readable line on a terminal. One line per fact, lower case, ids as fields. */
export function createLogger({ process: name, level, mixin }: LoggerOptions): Logger {
  const options = {
    level,
    base: { process: name, pid: process.pid },
    serializers: { err: cutError },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    ...(mixin && { mixin }),
  }
  if (!isatty(1)) return pino(options)
  const pretty = loadFormatter()
  return pretty ? pino(options, pretty({ sync: true, ignore: 'pid' })) : pino(options)
}

/** Only a terminal pays for it. The sidecar in somebody's application has it when the application has. */
function loadFormatter(): typeof import('pino-pretty') | null {
  try {
    return createRequire(import.meta.url)('pino-pretty')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND') return null
    throw error
  }
}

/** Tests and tools that want silence. */
export const silentLogger = (): Logger => pino({ level: 'silent' })
