/** What source text does with the tables of the database: SQL in strings and templates, calls of the Prisma client, and files of SQL. */

/** Named as in the schema: `raw_event`. */
export interface Schema {
  tables: ReadonlySet<string>
  /** Table by what the Prisma client calls its model: `rawEvent`. */
  models: ReadonlyMap<string, string>
  /** By table: what the fields are called that lead to other tables, and which. */
  relations: ReadonlyMap<string, ReadonlyMap<string, string>>
}

/** A lock is one of rows, for a change that is yet to come. */
export type Use = 'read' | 'lock' | 'write'

export interface TableUse {
  table: string
  use: Use
}

export function readSchema(text: string): Schema {
  const blocks = [...text.matchAll(/^model (\w+) \{\n([\s\S]*?)^\}/gm)].map(([, name, body]) => ({ name: name!, body: body! }))
  const tableOf = new Map(blocks.map(({ name, body }) => [name, body.match(/@@map\("(\w+)"\)/)![1]!]))
  const relations = blocks.map(({ name, body }): [string, ReadonlyMap<string, string>] => {
    const fields = [...body.matchAll(/^ {2}(\w+)\s+(\w+)/gm)]
    return [tableOf.get(name)!, new Map(fields.flatMap(([, field, type]) => (tableOf.has(type!) ? [[field!, tableOf.get(type!)!]] : [])))]
  })
  const models = new Map([...tableOf].map(([name, table]) => [name[0]!.toLowerCase() + name.slice(1), table]))
  return { tables: new Set(tableOf.values()), models, relations: new Map(relations) }
}

/** The uses in one file, each once. */
export function tableUses(file: string, text: string, schema: Schema): TableUse[] {
  const uses = file.endsWith('.sql')
    ? sqlUses(text, schema)
    : [...literalsOf(text).flatMap((sql) => sqlUses(sql, schema)), ...callUses(text, schema)]
  return [...new Map(uses.map((one) => [`${one.use} ${one.table}`, one])).values()]
}

/** Functions of the database that a file of SQL makes. */
export function functionsIn(sql: string): string[] {
  return [...withoutComments(sql).matchAll(/\bCREATE (?:OR REPLACE )?FUNCTION (\w+)/gi)].map(([, name]) => name!)
}

/** Those of the functions that the file calls in its SQL. */
export function functionsCalled(file: string, text: string, functions: Iterable<string>): string[] {
  const sql = (file.endsWith('.sql') ? [text] : literalsOf(text)).map(withoutComments).join('\n')
  // `callOf` makes the call of a name.
  const isNamed = (name: string) => new RegExp(`\\bcallOf\\(\\s*'${name}'`).test(text)
  return [...functions].filter((name) => isNamed(name) || new RegExp(`(?<!FUNCTION )\\b${name}\\s*\\(`, 'i').test(sql))
}

const withoutComments = (sql: string) => sql.replace(/--.*$/gm, '').replace(/\/\*[\s\S]*?\*\//g, '')

const tableName = String.raw`(?:ONLY\s+)?(?:"?public"?\.)?"?\w+"?`
const writingStatements = [
  String.raw`\b(?:INSERT|MERGE)\s+INTO\s+(${tableName})`,
  String.raw`\bUPDATE\s+(${tableName})(?:\s+(?:AS\s+)?\w+)?\s+SET\b`,
  String.raw`\bDELETE\s+FROM\s+(${tableName})`,
  String.raw`\b(?:TRUNCATE(?:\s+TABLE)?|LOCK\s+TABLE|DROP\s+TABLE(?:\s+IF\s+EXISTS)?)\s+(${tableName}(?:\s*,\s*${tableName})*)`,
  String.raw`\bCOPY\s+(${tableName})[^;]*?\bFROM\b`,
].map((pattern) => new RegExp(pattern, 'gi'))

function sqlUses(text: string, { tables }: Schema): TableUse[] {
  const sql = withoutComments(text)
  // Names that the statement gives itself hide tables of that name.
  const own = new Set([...sql.matchAll(/\b(\w+)(?:\s*\([\w\s,]*\))?\s+AS\s+(?:NOT\s+)?(?:MATERIALIZED\s*)?\(/gi)].map(([, name]) => name!))
  const uses: TableUse[] = []
  const add = (use: Use, names: Iterable<string | undefined>) => {
    // Who writes to such a name writes to the table all the same.
    for (const table of names)
      if (table !== undefined && tables.has(table) && (use === 'write' || !own.has(table))) uses.push({ table, use })
  }
  const all = (pattern: RegExp) => [...sql.matchAll(pattern)]
  for (const pattern of writingStatements)
    for (const [, list] of all(pattern))
      add(
        'write',
        list!.split(',').map((name) => name.replace(/"|\b(?:ONLY|public\.)/gi, '').trim()),
      )
  const item = String.raw`(?:ONLY\s+)?\w+(?:\s+(?:AS\s+)?\w+)?`
  for (const [, list] of all(new RegExp(String.raw`(?<!DELETE\s+)\b(?:FROM|JOIN|USING)\s+(${item}(?:\s*,\s*${item})*)`, 'g')))
    add(
      'read',
      list!.split(',').map(
        (one) =>
          one
            .trim()
            .replace(/^ONLY\s+/, '')
            .split(/\s+/)[0],
      ),
    )
  for (const match of all(/\bFOR\s+(?:NO\s+KEY\s+)?(?:UPDATE|SHARE)(?:\s+OF\s+(\w+))?/g)) {
    const before = sql.slice(0, match.index)
    const named = match[1] && (before.match(new RegExp(String.raw`\b(\w+)\s+(?:AS\s+)?${match[1]}\b`))?.[1] ?? match[1])
    add('lock', [named && (tables.has(named) ? named : match[1])].concat(named ? [] : [before.match(/[\s\S]*\bFROM\s+(\w+)/)?.[1]]))
  }
  return uses
}

const writingCalls = /^(create|update|upsert|delete)/
/** A relation that is written through with the record. */
const nestedWrite = /\b(\w+)\s*:\s*\{\s*(?:create|connectOrCreate|update|upsert|delete)\w*\s*:/g

/** A call of the Prisma client. */
export interface PrismaCall {
  table: string
  method: string
  /** With its brackets. */
  argument: string
}

export function prismaCalls(text: string, { models }: Schema): (PrismaCall & { at: number })[] {
  const call = /\.(\w+)\s*\.((?:create|update|upsert|delete|find|count|aggregate|groupBy)\w*)(?:<[^()]*>)?\(/g
  return [...text.matchAll(call)].flatMap((match) => {
    const table = models.get(match[1]!)
    return table ? [{ table, method: match[2]!, argument: inBrackets(text, match.index + match[0].length - 1), at: match.index }] : []
  })
}

/** Which records a call is about, as the code says it, with what the variables in it were last given before. */
export function whereOf({ argument, at }: PrismaCall & { at: number }, text: string): string {
  const begin = argument.search(/\bwhere: \{/)
  const where = begin === -1 ? (argument.match(/\bwhere(?:: \w+)?|^\(\w+\)$/)?.[0] ?? '') : inBrackets(argument, begin + 'where: '.length)
  const given = [...where.matchAll(/(?<![.\w'])(\w+)\b(?!\s*:)/g)].map(([, name]) => givenBefore(text.slice(0, at), name!))
  return [where, ...given].join('\n')
}

function givenBefore(text: string, name: string): string {
  const last = [...text.matchAll(new RegExp(String.raw`\bconst ${name}(?:: [^=\n]+)? = `, 'g'))].at(-1)
  if (!last) return ''
  const value = text.slice(last.index + last[0].length)
  return value.startsWith('{') ? inBrackets(value, 0) : value.slice(0, value.indexOf('\n'))
}

/** Calls of the Prisma client, with the tables that they reach by relations; and of the functions that write rows of a table by its name. */
function callUses(text: string, schema: Schema): TableUse[] {
  const { models, relations, tables } = schema
  const uses: TableUse[] = []
  for (const { table, method, argument } of prismaCalls(text, schema)) {
    uses.push({ table, use: writingCalls.test(method) ? 'write' : 'read' })
    for (const reached of reachedFrom(table, keysOf(argument), relations)) uses.push({ table: reached, use: 'read' })
    const written = new Set([...argument.matchAll(nestedWrite)].map(([, field]) => field!))
    for (const reached of reachedFrom(table, written, relations)) uses.push({ table: reached, use: 'write' })
  }
  for (const match of text.matchAll(
    /=\s*(\{(?:(?!\bconst\b)[\s\S])*?\})\s*(?:as const\s+)?satisfies Prisma\.(\w+?)(?:Include|Select)\b/g,
  )) {
    const table = models.get(match[2]![0]!.toLowerCase() + match[2]!.slice(1))
    for (const reached of table ? reachedFrom(table, keysOf(match[1]!), relations) : []) uses.push({ table: reached, use: 'read' })
  }
  for (const [, table] of text.matchAll(/\b(?:insertRows|updateRows)\(\s*[\w.#]+,\s*'(\w+)'/g))
    if (tables.has(table!)) uses.push({ table: table!, use: 'write' })
  // What a list is read from, which is written without its FROM.
  for (const [, table] of text.matchAll(/\bfrom:\s*Prisma\.sql`\s*(\w+)/g))
    if (tables.has(table!)) uses.push({ table: table!, use: 'read' })
  return uses
}

const keysOf = (text: string): Set<string> => new Set([...text.matchAll(/\b(\w+)\s*:\s*(?:\{|true\b)/g)].map(([, key]) => key!))

function reachedFrom(table: string, names: ReadonlySet<string>, relations: Schema['relations']): Set<string> {
  const reached = new Set<string>()
  const visit = (from: string) => {
    for (const [field, to] of relations.get(from) ?? [])
      if (names.has(field) && !reached.has(to)) {
        reached.add(to)
        visit(to)
      }
  }
  visit(table)
  return reached
}

/** From the bracket at `start` to the one that closes it. */
function inBrackets(text: string, start: number): string {
  let depth = 0
  for (let at = start; at < text.length; at++) {
    if ('([{'.includes(text[at]!)) depth += 1
    if (')]}'.includes(text[at]!)) depth -= 1
    if (depth === 0) return text.slice(start, at + 1)
  }
  return text.slice(start)
}

/** The texts of strings and templates, without comments; what a template has in `${…}` is left out, and read for itself. */
export const literalsOf = (source: string): string[] => templatesOf(source).map(({ parts }) => parts.join(' '))

/** A string or template: what stands between the `${…}` of it, and the code in them. */
export interface Template {
  parts: string[]
  holes: string[]
}

export function templatesOf(source: string): Template[] {
  const found: Template[] = []
  let at = 0
  /** Reads code until the bracket that closes it, or the end. */
  const readCode = (isInTemplate: boolean) => {
    let depth = 0
    let last = ''
    while (at < source.length) {
      const char = source[at]!
      if (source.startsWith('//', at)) at = endOf('\n', at)
      else if (source.startsWith('/*', at)) at = endOf('*/', at) + 1
      else if (char === '/' && /[(,=:[!&|?{};\n]|^$/.test(last)) skipPattern()
      else if (char === "'" || char === '"') readString(char)
      else if (char === '`') readTemplate()
      else if (isInTemplate && char === '}' && depth === 0) return
      else if (char === '{') depth += 1
      else if (char === '}') depth -= 1
      if (/\S/.test(char)) last = char
      at += 1
    }
  }
  const endOf = (mark: string, from: number) => {
    const end = source.indexOf(mark, from + 2)
    return end === -1 ? source.length : end
  }
  const skipPattern = () => {
    let isInClass = false
    for (at += 1; at < source.length && (isInClass || source[at] !== '/'); at++) {
      if (source[at] === '\\') at += 1
      else if (source[at] === '[') isInClass = true
      else if (source[at] === ']') isInClass = false
    }
  }
  const readString = (quote: string) => {
    const start = at + 1
    for (at += 1; at < source.length && source[at] !== quote; at++) if (source[at] === '\\') at += 1
    found.push({ parts: [source.slice(start, at)], holes: [] })
  }
  const readTemplate = () => {
    const template: Template = { parts: [''], holes: [] }
    for (at += 1; at < source.length && source[at] !== '`'; at++) {
      if (source[at] === '\\') at += 1
      if (source.startsWith('${', at)) {
        at += 2
        const start = at
        readCode(true)
        template.holes.push(source.slice(start, at))
        template.parts.push('')
      } else template.parts[template.parts.length - 1] += source[at]!
    }
    found.push(template)
  }
  readCode(false)
  return found
}
