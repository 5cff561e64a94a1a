import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { parseProcfile } from '../../src/local/processes/procfile.js'

/** Where the compiler has put the processes, and this file. */
const build = fileURLToPath(new URL('../../', import.meta.url))

interface Row {
  variable: string
  default: string
  meaning: string
}

/** The lines of the Procfile: process type and what node is given, without its own options. */
export function procfileProcesses(): { name: string; args: string[] }[] {
  return parseProcfile(readFileSync('Procfile', 'utf8')).map(({ name, command }) => {
    const [, ...given] = command.split(' ')
    return { name, args: given.filter((arg) => !arg.startsWith('-')) }
  })
}

/**
 * The table of the README: every variable of every process, as the processes themselves tell with `--help`.
 * Run `node dist/test/support/config-table.js` to print it.
 */
export async function configTable(): Promise<string> {
  const processes = procfileProcesses()
  const helps = await Promise.all(processes.map(({ args: [file] }) => help(file!.replace(/^dist\//, build))))
  const users = new Map<string, string[]>()
  for (const [index, rows] of helps.entries()) {
    for (const { variable, default: value, meaning } of rows) {
      const key = `${variable}\n${value}\n${meaning}`
      users.set(key, [...(users.get(key) ?? []), processes[index]!.name])
    }
  }
  const rows = [...users].map(([key, names]) => {
    const [variable, value, meaning] = key.split('\n') as [string, string, string]
    const all = names.length === processes.length || names.length === processes.length - 1
    return { variable, value, meaning, count: names.length, processes: all ? everybodyBut(processes, names) : names.join(', ') }
  })
  // What most processes share comes first.
  rows.sort(
    (a, b) => b.count - a.count || (a.variable < b.variable ? -1 : a.variable > b.variable ? 1 : a.processes < b.processes ? -1 : 1),
  )
  const lines = rows.map((row) => `| ${row.variable} | ${row.processes} | ${row.value} | ${row.meaning} |`)
  return ['| variable | processes | default | meaning |', '|---|---|---|---|', ...lines].join('\n')
}

function everybodyBut(processes: { name: string }[], names: string[]): string {
  const others = processes.filter(({ name }) => !names.includes(name)).map(({ name }) => name)
  return others.length === 0 ? 'all' : `all but ${others.join(', ')}`
}

async function help(file: string): Promise<Row[]> {
  // Nothing of our own environment: defaults must not depend on it.
  const { stdout } = await promisify(execFile)(process.execPath, [file, '--help'], { env: { PATH: process.env.PATH } })
  const lines = stdout.split('\n').filter((line) => line.startsWith('| `'))
  return lines.map((line) => {
    const [variable, value, meaning] = line.slice(2, -2).split(' | ') as [string, string, string]
    return { variable, default: value, meaning }
  })
}

if (process.argv[1]?.endsWith('/config-table.js')) process.stdout.write(`${await configTable()}\n`)
