/** Turns the JSON log lines of processes into what people read on a terminal. Pure: text in, text out. */

const levels: Readonly<Record<string, { label: string; colour: number }>> = {
  10: { label: 'TRACE', colour: 90 },
  20: { label: 'DEBUG', colour: 90 },
  30: { label: 'INFO', colour: 32 },
  40: { label: 'WARN', colour: 33 },
  50: { label: 'ERROR', colour: 31 },
  60: { label: 'FATAL', colour: 31 },
}

/** Fields every line has, or that are shown in a place of their own. */
const shownElsewhere = new Set(['level', 'time', 'msg', 'pid', 'hostname', 'name', 'process', 'err', 'v'])

/** Colours that can be told apart on a dark and on a light ground; each process keeps one. */
const processColours = [36, 35, 34, 33, 32, 96, 95, 94]

interface LineStyle {
  /** Colours, and JSON rendered as text. Otherwise lines stay as the process wrote them, for programs to read. */
  isTerminal: boolean
  /** The width of the longest process name. */
  nameWidth: number
}

/** `name | line`, one line in for one line out, except that an error's stack follows on lines of its own. */
export function renderLine(name: string, index: number, line: string, style: LineStyle): string {
  const label = name.padEnd(style.nameWidth)
  if (!style.isTerminal) return `${label} | ${line}`
  const prefix = `${colour(processColours[index % processColours.length] ?? 36, label)} | `
  return renderJson(line)
    .split('\n')
    .map((part) => prefix + part)
    .join('\n')
}

function renderJson(line: string): string {
  const record = parseRecord(line)
  if (record === null) return line
  const level = levelOf(record.level)
  const fields = Object.entries(record)
    .filter(([key]) => !shownElsewhere.has(key))
    .map(([key, value]) => `${colour(90, `${key}=`)}${typeof value === 'string' ? value : JSON.stringify(value)}`)
  const { err } = record as { err?: { message?: string; stack?: string } }
  const head = [timeOf(record.time), colour(level.colour, level.label.padEnd(5)), String(record.msg ?? ''), ...fields]
  const error = err ? (err.stack ?? err.message ?? JSON.stringify(err)) : ''
  return head.filter((part) => part !== '').join(' ') + (error && `\n${error}`)
}

function parseRecord(line: string): Record<string, unknown> | null {
  if (!line.startsWith('{')) return null
  try {
    const value = JSON.parse(line) as Record<string, unknown>
    return 'level' in value ? value : null
  } catch {
    return null
  }
}

function levelOf(level: unknown): { label: string; colour: number } {
  const known = levels[String(level)] ?? Object.values(levels).find(({ label }) => label === String(level).toUpperCase())
  return known ?? { label: String(level), colour: 37 }
}

/** The time of day, in the reader's time zone. */
function timeOf(time: unknown): string {
  const date = new Date(typeof time === 'number' || typeof time === 'string' ? time : Number.NaN)
  if (Number.isNaN(date.getTime())) return ''
  const two = (value: number) => String(value).padStart(2, '0')
  const clock = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':')
  return colour(90, `${clock}.${String(date.getMilliseconds()).padStart(3, '0')}`)
}

const colour = (code: number, text: string) => `\u001b[${code}m${text}\u001b[0m`
