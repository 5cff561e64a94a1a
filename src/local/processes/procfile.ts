import { invalidInput } from '../../kernel/problem.js'

/** One line of a Procfile: a process type and the command that runs it. */
export interface ProcfileLine {
  name: string
  command: string
}

/**
 * Reads a Procfile: `name: command` lines; blank lines and lines that begin with # are skipped. Throws INVALID_ARGUMENT naming the line
 * when one is neither, or a name comes twice.
 */
export function parseProcfile(text: string): ProcfileLine[] {
  const lines: ProcfileLine[] = []
  for (const [index, raw] of text.split('\n').entries()) {
    const line = raw.trim()
    if (line === '' || line.startsWith('#')) continue
    const [, name, command] = /^([A-Za-z0-9_-]+):\s*(\S.*)$/.exec(line) ?? []
    if (name === undefined || command === undefined) throw invalidInput(`Procfile line ${index + 1} is not "name: command": ${line}`)
    if (lines.some((other) => other.name === name)) throw invalidInput(`Procfile line ${index + 1}: ${name} is there twice`)
    lines.push({ name, command })
  }
  return lines
}

/** Commands that are no programs of their own. */
const shellWords = new Set(['.', ':', 'cd', 'exec', 'exit', 'export', 'source'])

/**
 * The program and arguments of a command. Plain words are run as they are, with our own Node for `node`; anything that only a shell
 * understands (quotes, variables, pipes) goes through one.
 */
export function programOf(command: string): { command: string; args: string[] } {
  const words = command.split(/\s+/)
  const isPlain = /^[\w./@:,+=-]+$/.test(words.join(''))
  const isProgram = !words[0]?.includes('=') && !shellWords.has(words[0] ?? '')
  if (!isPlain || !isProgram) return { command: '/bin/sh', args: ['-c', command] }
  const [program = '', ...args] = words
  return { command: program === 'node' ? process.execPath : program, args }
}
