/** What is sent to PostgreSQL while a test runs, however it was put together: statements that do not say their environment, and are no known exception. */
import { readFileSync } from 'node:fs'
import { loadModule } from 'libpg-query'
import pg from 'pg'
import { readSchema } from '../table-use.js'
import { knownAs, plain } from './exceptions.js'
import { type Fault, faultsOf } from './scope.js'

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

/** What is wrong with what is sent by the connections of this process from now on, once each. */
export async function watchStatements(): Promise<{ take(): string[]; end(): void }> {
  await loadModule()
  const found = new Set<string>()
  const { query } = pg.Client.prototype
  // biome-ignore lint/suspicious/noExplicitAny: pg overloads this for callbacks, streams and promises
  pg.Client.prototype.query = function (this: pg.Client, ...args: any[]): any {
    const text: unknown = typeof args[0] === 'string' ? args[0] : args[0]?.text
    if (typeof text === 'string') {
      const faults = judge(text).filter((fault) => !knownAs(text, fault))
      if (faults.length > 0) found.add(`${faults.join(', ')}: ${plain(text)}`)
    }
    return query.apply(this, args as never)
  }
  return {
    take() {
      const all = [...found]
      found.clear()
      return all
    },
    end() {
      pg.Client.prototype.query = query
    },
  }
}
