/** The statements in the files of the code, as PostgreSQL's parser takes them. */
import { parsePlPgSQLSync, parseSync } from 'libpg-query'
import { busyEnvironments } from '../../../src/platform/sql.js'
import { type Schema, type Template, tableUses, templatesOf } from '../table-use.js'

// biome-ignore lint/suspicious/noExplicitAny: the tree of PostgreSQL's parser
type Node = any

/** Statements of a file; what looks like one and is not understood is in `unread`. */
export interface Statements {
  texts: string[]
  unread: string[]
}

/** What a hole in a template may stand for when nothing in the file says what: a value, nothing, an operator, a table, a function. */
const guesses = [' $1 ', ' ', ' = ', ' x ', ' x WHERE true ', ' f() ']
/** What a part of a statement may stand in. */
const frames: readonly ((part: string) => string)[] = [
  (part) => part,
  (part) => `SELECT ${part}`,
  (part) => `SELECT FROM ${part}`,
  (part) => `SELECT WHERE ${part}`,
]
const mostTrials = 5_000

export function statementsOfSource(text: string, schema: Schema): Statements {
  const templates = templatesOf(text)
  const isSql = ({ parts }: Template) => tableUses('a.sql', parts.join(' x '), schema).length > 0
  const read = templates.filter(isSql).map((template) => ({ template, sql: readTemplate(template, text, templates) }))
  return {
    texts: read.flatMap(({ sql }) => (sql === null ? [] : [sql])),
    unread: read.flatMap(({ template, sql }) => (sql === null ? [template.parts.join('…').trim()] : [])),
  }
}

/** The first reading that PostgreSQL would take. */
function readTemplate({ parts, holes }: Template, source: string, templates: readonly Template[]): string | null {
  const choices = holes.map((hole) => {
    const known = knownText(hole, source, templates)
    return known === null ? guesses : [known, ...guesses]
  })
  let trials = 0
  for (const filling of combinations(choices)) {
    const sql = parts
      .map((part, at) => part + (filling[at] ?? ''))
      .join('')
      .replaceAll('\\\\', '\\')
    for (const frame of frames) if (isStatement(frame(sql))) return frame(sql)
    trials += frames.length
    if (trials > mostTrials) break
  }
  return null
}

/** What a name or call in a hole is: a string or template that it is given in the same file, or what `busyEnvironments` makes. */
function knownText(hole: string, source: string, templates: readonly Template[]): string | null {
  const busy = hole.match(/^busyEnvironments\('(\w+)', (['"])(.*?)\2(, )?/)
  if (busy) return busyEnvironments(busy[1]!, busy[3]!, busy[4] ? { from: '', to: '' } : undefined).text
  const name = hole.match(/^(?:this\.)?#?(\w+)(?:\(.*\))?$/)?.[1]
  const given =
    name &&
    source.match(
      new RegExp(String.raw`\b(?:const|function) ${name}\b[^\n]*?(?:=>|[^=!]=|\{\s*return)\s*(?:Prisma\.sql)?(['\x60])([\s\S]*?)\1`),
    )
  if (!given) return null
  const template = templates.find(({ parts }) => given[2]!.startsWith(parts[0]!) && parts[0] !== '')
  return template ? template.parts.join(' $1 ') : null
}

function* combinations(choices: readonly (readonly string[])[]): Generator<string[]> {
  const [first, ...others] = choices
  if (!first) yield []
  else for (const one of first) for (const rest of combinations(others)) yield [one, ...rest]
}

function isStatement(sql: string): boolean {
  try {
    return (parseSync(sql).stmts ?? []).length > 0
  } catch {
    return false
  }
}

/** The statements in the functions of a file of SQL, and what they make up themselves, which nobody can read before. */
export function statementsOfFunctions(file: string): Statements {
  const found: Statements = { texts: [], unread: [] }
  for (const { stmt } of (parseSync(file).stmts ?? []) as Node[]) {
    const { CreateFunctionStmt: made } = stmt
    if (!made) continue
    const option = (name: string) => made.options.find(({ DefElem }: Node) => DefElem.defname === name).DefElem.arg
    if (option('language').String.sval === 'sql') found.texts.push(option('as').List.items[0].String.sval)
  }
  readBody(parsePlPgSQLSync(file), found)
  return found
}

/** As the parser of PL/pgSQL calls them: a statement, an expression, and assignments to a variable, a field of one, one of its elements. */
function readBody(node: Node, found: Statements): void {
  if (node === null || typeof node !== 'object') return
  for (const [key, value] of Object.entries<Node>(node)) {
    if (key === 'PLpgSQL_stmt_dynexecute') readMadeUp(value.query.PLpgSQL_expr.query, found)
    else if (key === 'PLpgSQL_expr') found.texts.push(asStatement(value))
    else readBody(value, found)
  }
}

/** A statement that the function makes up of names and values: `format('… %I … %L', …)`. */
function readMadeUp(expression: string, found: Statements): void {
  const call = (parseSync(`SELECT ${expression}`).stmts![0]!.stmt as Node).SelectStmt.targetList[0].ResTarget.val.FuncCall
  const text: string | undefined = call?.args[0].A_Const?.sval?.sval
  if (text === undefined) found.unread.push(expression)
  else found.texts.push(text.replaceAll(/%[Is]/g, 'raw_event_default').replaceAll('%L', "''"))
}

function asStatement({ query, parseMode }: { query: string; parseMode: number }): string {
  if (parseMode === 0) return query
  return `SELECT ${parseMode === 2 ? query : query.slice(query.search(/:?=/)).replace(/^:?=/, '')}`
}
