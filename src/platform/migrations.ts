/** The migrations of this code: a folder each, as Prisma Migrate has them. */
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { StartError } from './health.js'

export interface Migration {
  /** The folder's name, such as `20260101120000_first`; applied in this order. */
  name: string
  script: string
  /** Why older code can't work with the database afterwards, or null when it can. */
  breakingReason: string | null
  /** False for `-- no transaction`: each statement stands alone, as `CREATE INDEX CONCURRENTLY` demands. */
  isTransactional: boolean
}

/**
 * The migrations in a directory, in order.
 * @throws StartError when there are none, when a folder has no migration.sql, or when a breaking one does not say why
 */
export async function readMigrations(directory: string): Promise<Migration[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => [])
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name)
  if (names.length === 0) throw new StartError(`there are no migrations in ${directory}: deploy the prisma folder together with dist`)
  return Promise.all(
    names.sort().map(async (name) => {
      const script = await readFile(join(directory, name, 'migration.sql'), 'utf8').catch(() => {
        throw new StartError(
          `migration ${name} has no readable migration.sql: restore the file, or remove its folder if it was never applied`,
        )
      })
      return { name, script, ...marksOf(name, script) }
    }),
  )
}

/** Reads the marks among the comment lines that a script begins with. */
function marksOf(name: string, script: string): Pick<Migration, 'breakingReason' | 'isTransactional'> {
  let breakingReason: string | null = null
  let isTransactional = true
  for (const line of script.split('\n')) {
    const comment = /^\s*--\s*(.*?)\s*$/.exec(line)?.[1]
    if (comment === undefined) break
    if (/^no transaction$/i.test(comment)) isTransactional = false
    const breaking = /^breaking(?::\s*(.*))?$/i.exec(comment)
    if (!breaking) continue
    breakingReason = breaking[1] || null
    if (!breakingReason) throw new StartError(`migration ${name} is marked breaking without a reason: write "-- breaking: <why>"`)
  }
  return { breakingReason, isTransactional }
}

/** Prisma's checksum of a script. */
export const checksumOf = (script: string): string => createHash('sha256').update(script).digest('hex')

/** Whether a script is the one that was applied. Line ends may differ: a checkout may rewrite them. */
export function isUnchanged(script: string, checksum: string): boolean {
  const unix = script.replaceAll('\r\n', '\n')
  return [script, unix, unix.replaceAll('\n', '\r\n')].some((text) => checksumOf(text) === checksum)
}
