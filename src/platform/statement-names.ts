/** A plan takes some 100 KB of each connection. */
const mostNames = 100
/** Texts that are counted. Those of lists are different each time. */
const mostCounted = 1_000
/** Another text, such as that of another number of rows, is not worth a plan until it comes again. */
const timesBefore = 2

/** Adding rows is done alike whatever is in them. Where the values decide on the best plan, one that was made without them could be a bad one. */
const addsRows = /^\s*(insert|with\s.*\sinsert)\s/is

const unnamed = ''

/** Gives names to statements that take longer to plan than to execute: PostgreSQL keeps their plans with the connection. Empty: it is planned each time. */
export function statementNames(): (statement: { sql: string }) => string {
  const names = new Map<string, string>()
  const counts = new Map<string, number>()
  return ({ sql }) => {
    const known = names.get(sql)
    if (known !== undefined) return known
    if (names.size >= mostNames || !addsRows.test(sql)) return unnamed
    const times = counts.get(sql) ?? 0
    if (counts.size >= mostCounted) counts.clear()
    if (times < timesBefore) {
      counts.set(sql, times + 1)
      return unnamed
    }
    counts.delete(sql)
    const name = `prisma_${names.size}`
    names.set(sql, name)
    return name
  }
}
