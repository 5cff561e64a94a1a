/** Fails the run when the code has sent PostgreSQL a statement that does not say its environment, and that is no known exception. */
import { readdirSync, readFileSync } from 'node:fs'
import { loadModule } from 'libpg-query'
import pg from 'pg'
import { readSchema, templatesOf } from '../table-use.js'
import { knownAs, plain } from './exceptions.js'
import { type Fault, faultsOf } from './scope.js'

/** What was sent, once each, with what is wrong with it. */
const found = new Set<string>()

/** What was found until now, which fails nothing then. */
export function takeFound(): string[] {
  const all = [...found]
  found.clear()
  return all
}

const { tables } = readSchema(readFileSync('prisma/schema.prisma', 'utf8'))
const judged = new Map<string, readonly Fault[]>()

/** Lists of any length are one statement. */
const shapeOf = (text: string) =>
  text
    .replace(/\$\d+(?=,\$\d+)/g, '$1')
    .replace(/(\$1,)+/g, '$1,')
    .replace(/(\(\$\d+(?:,\$\d+)*\),)+/g, '$1')

function judge(text: string): readonly Fault[] {
  const shape = shapeOf(text)
  let faults = judged.get(shape)
  if (!faults) {
    try {
      faults = faultsOf(shape, tables)
    } catch {
      // No SQL: PostgreSQL will say so, too.
      faults = []
    }
    judged.set(shape, faults)
  }
  return faults
}

/** SQL that stands in a test, with enough of it to be told from all other: a test may ask what it likes. What stands in none is the code's. */
function readTests(): RegExp[] {
  return readdirSync('test', { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => templatesOf(readFileSync(`test/${file}`, 'utf8')))
    .map(({ parts }) => parts.map(plain))
    .filter(([first]) => /^(?:WITH|SELECT|INSERT INTO|UPDATE|DELETE FROM|TRUNCATE)\b.{12}/i.test(first!))
    .map((parts) => new RegExp(`^${parts.map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('.*')}$`))
}
let ofTests: RegExp[] | undefined

function look(query: unknown): void {
  const text = typeof query === 'string' ? query : (query as { text?: unknown } | null)?.text
  if (typeof text !== 'string') return
  const faults = judge(text).filter((fault) => !knownAs(text, fault))
  if (faults.length === 0) return
  ofTests ??= readTests()
  if (!ofTests.some((pattern) => pattern.test(plain(text)))) found.add(`${faults.join(', ')}: ${plain(text)}`)
}

export const mochaHooks = {
  async beforeAll() {
    await loadModule()
    const { query } = pg.Client.prototype
    // biome-ignore lint/suspicious/noExplicitAny: pg overloads this for callbacks, streams and promises
    pg.Client.prototype.query = function (this: pg.Client, ...args: any[]): any {
      look(args[0])
      return query.apply(this, args as never)
    }
  },
  /** At the end, as a root hook that fails ends the run there and then. */
  afterAll() {
    const all = takeFound()
    if (all.length > 0) throw new Error(`Statements that do not say the environment of their tables:\n  ${all.join('\n  ')}`)
  },
}
