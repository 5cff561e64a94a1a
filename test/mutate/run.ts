// `npm run mutate [-- PATH …] [--static]`: see .github/CONTRIBUTING.md.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { Stryker } from '@stryker-mutator/core'
import { headingsOf, lineOf } from '../support/table.js'
import { filesVariable } from './mocha-runner.js'
import { columns, type Expected, isNoticed, type Mutant, nameOf, type RoomResult, resultOf, scoreOf } from './mutants.js'
import { type Room, selectRooms } from './rooms.js'

const leastScore = 90

const usage = `Usage: npm run mutate [-- PATH …] [--static]

Changes the code that only computes, a place at a time, and tells which changes no unit test notices. A path is a folder or a file of src.

  --static    also what runs once when a module is loaded, as tables; each such change is a process of its own, and takes seconds
`

const root = fileURLToPath(new URL('../../../', import.meta.url))
const read = <Value>(file: string) => JSON.parse(readFileSync(join(root, file), 'utf8')) as Value
const expected = read<Expected>('.config/mutants.json')

const compiled = (source: string) => `dist/${source.replace(/\.ts$/, '.js')}`

/** Compiled tests of the room, in it and in folders of it. */
function testsOf({ name }: Room): string[] {
  const folder = compiled(name.replace(/^src/, 'test/unit'))
  if (!existsSync(join(root, folder))) return []
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.js'))
    .map((file) => `${folder}/${file}`)
}

const sourcesOf = ({ name, files }: Room): string[] =>
  (files ?? readdirSync(join(root, name)).filter((file) => file.endsWith('.ts'))).map((file) => `${name}/${file}`)

/** The line of the source that a place in the compiled code came from; all of them count from 1. */
function sourceLines(file: string): (line: number, column: number) => number {
  const map = new SourceMap(JSON.parse(readFileSync(`${file}.map`, 'utf8')))
  return (line, column) => {
    const entry = map.findEntry(line - 1, column - 1)
    return 'originalLine' in entry ? entry.originalLine + 1 : 0
  }
}

async function mutate(room: Room, isStatic: boolean): Promise<RoomResult> {
  const sources = sourcesOf(room)
  // The code too, so that what runs once when it is loaded is known for it where no test loads it.
  process.env[filesVariable] = [...sources.map(compiled), ...testsOf(room)].join(',')
  const found = await new Stryker({
    ignoreStatic: !isStatic,
    configFile: '.config/mutate.json',
    plugins: [fileURLToPath(new URL('mocha-runner.js', import.meta.url))],
    testRunner: 'unit',
    mutate: sources.map(compiled),
  }).runMutationTest()
  const mutants = sources.flatMap((file): Mutant[] => {
    const path = join(root, compiled(file))
    const code = readFileSync(path, 'utf8')
    const lineAt = sourceLines(path)
    return found
      .filter(({ fileName }) => fileName === path)
      .flatMap((mutant): Mutant[] => {
        const { line, column } = mutant.location.start
        const name = nameOf(mutant, code)
        const isSeen = isNoticed(mutant, name)
        if (isSeen === null) return []
        return [{ file, line: lineAt(line, column), name, isNoticed: isSeen, isTimedOut: mutant.status === 'Timeout' }]
      })
  })
  return resultOf(room.name, sources, mutants, expected)
}

function readArguments() {
  const { values, positionals } = parseArgs({
    options: { static: { type: 'boolean', default: false }, help: { type: 'boolean' } },
    allowPositionals: true,
  })
  if (values.help) return null
  const rooms = selectRooms(positionals.map((path) => path.replace(/\/+$/, '')))
  if (rooms.length === 0) throw new TypeError(`Nothing under ${positionals.join(', ')} only computes`)
  return { rooms, isStatic: values.static }
}

async function main(): Promise<number> {
  const chosen = readArguments()
  if (chosen === null) {
    console.log(usage)
    return 0
  }
  const results: RoomResult[] = []
  for (const room of chosen.rooms) {
    const result = await mutate(room, chosen.isStatic)
    results.push(result)
    for (const { file, line, name } of result.unexpected) console.log(`${file}:${line} ${name}`)
    for (const name of result.outdated) console.log(`no longer a survivor: ${name}`)
  }
  console.log(`\n${headingsOf(columns)}`)
  for (const result of results) console.log(lineOf(columns, result))
  return results.some((result) => scoreOf(result) < leastScore || result.unexpected.length > 0) ? 1 : 0
}

process.chdir(root)
process.exitCode = await main()
