/**
 * Whether a statement says which environment each of its tables is read, locked or written in. PostgreSQL's own parser reads it.
 *
 * bound    of a table in a statement: its `environment_id` equals a value that the statement is given, that of what is outside of it, or that of a table that
 *          is bound. So all rows that it touches are of environments that are named
 * sweep    the tables of a query are of the same environment, and nothing says which: it goes through all of them
 * apart    a table beside others that is not of their environment, as far as the statement says
 */
import { parseSync } from 'libpg-query'

export type Fault = `${'sweeps' | 'locks by a sweep' | 'writes by a sweep' | 'apart' | 'inserts without' | 'truncates'} ${string}`

// biome-ignore lint/suspicious/noExplicitAny: the tree of PostgreSQL's parser, whose nodes are told apart by their one key
type Node = any

/** Something that a query reads from, by the name that the query has for it. */
interface Source {
  name: string
  /** Null: what another query, a function or a list of values answers. */
  table: string | null
  /** Those of what is not a table, where they are known. */
  columns: ReadonlySet<string> | null
}

interface Level {
  sources: Source[]
  outer: Level | null
}

interface Reading {
  tables: ReadonlySet<string>
  faults: Set<Fault>
}

/** A source whose environment is known once the other's is; a string: of a source of this level; null: it is known. */
type Edge = readonly [from: string, to: string | null]

/** Every table that has it; the environments themselves are a table that every part of a sharded database has whole. */
const ofTenants = (table: string) => table !== 'environment'

/**
 * What is wrong with the statements of a text of SQL; nothing: none.
 * @param tables  all that belong to environments, and `environment`
 * @throws the parser's error when it is not SQL
 */
export function faultsOf(sql: string, tables: ReadonlySet<string>): Fault[] {
  const reading: Reading = { tables, faults: new Set() }
  for (const { stmt } of parseSync(sql).stmts ?? []) readStatement(stmt, reading, null, new Map())
  return [...reading.faults].sort()
}

/** Partitions are their table. */
export const tableOf = (name: string): string =>
  name.replace(/^(raw_event|audit_entry)_(?:default|ahead|\d+)$/, '$1').replace(/^(ingestion_key)_\d+$/, '$1')

/** What queries answer that have a name of their own, by it. */
type Named = ReadonlyMap<string, ReadonlySet<string> | null>

function readStatement(node: Node, reading: Reading, outer: Level | null, named: Named): void {
  const [kind, statement] = Object.entries<Node>(node)[0]!
  if (kind === 'SelectStmt') readSelect(statement, reading, outer, named)
  else if (kind === 'InsertStmt') readInsert(statement, reading, outer, named)
  else if (kind === 'UpdateStmt' || kind === 'DeleteStmt' || kind === 'MergeStmt') readChange(statement, reading, outer, named)
  else if (kind === 'TruncateStmt') for (const { RangeVar } of statement.relations) reading.faults.add(`truncates ${RangeVar.relname}`)
  // A cursor, a plan, a copy of what a query answers.
  else if (statement.query) readStatement(statement.query, reading, outer, named)
}

function withNamed(statement: Node, reading: Reading, outer: Level | null, named: Named): Named {
  const known = new Map(named)
  for (const { CommonTableExpr: one } of statement.withClause?.ctes ?? []) {
    const columns = one.aliascolnames ? new Set<string>(one.aliascolnames.map(stringOf)) : answersOf(one.ctequery)
    // It may call itself.
    known.set(one.ctename, columns)
    readStatement(one.ctequery, reading, outer, known)
  }
  return known
}

function readSelect(select: Node, reading: Reading, outer: Level | null, before: Named): void {
  const named = withNamed(select, reading, outer, before)
  if (select.larg) {
    readSelect(select.larg, reading, outer, named)
    readSelect(select.rarg, reading, outer, named)
    return
  }
  const level: Level = { sources: [], outer }
  const edges = (select.fromClause ?? []).flatMap((item: Node) => readSource(item, level, reading, named).edges)
  edges.push(...edgesOf(select.whereClause, level, namesOf(level)))
  judge(level, edges, select.lockingClause ? 'locks by a sweep' : 'sweeps', reading)
  const { fromClause, withClause, ...rest } = select
  readInside(rest, reading, level, named)
}

function readInsert(insert: Node, reading: Reading, outer: Level | null, before: Named): void {
  const named = withNamed(insert, reading, outer, before)
  const table = tableOf(insert.relation.relname)
  const columns = (insert.cols ?? []).map(({ ResTarget }: Node) => ResTarget.name)
  if (reading.tables.has(table) && ofTenants(table) && !columns.includes('environment_id')) reading.faults.add(`inserts without ${table}`)
  const level: Level = { sources: [{ name: insert.relation.alias?.aliasname ?? table, table, columns: null }], outer }
  if (insert.selectStmt) readStatement(insert.selectStmt, reading, outer, named)
  readInside([insert.onConflictClause, insert.returningList, insert.returningClause], reading, level, named)
}

/** UPDATE, DELETE and MERGE. */
function readChange(change: Node, reading: Reading, outer: Level | null, before: Named): void {
  const named = withNamed(change, reading, outer, before)
  const level: Level = { sources: [], outer }
  readSource({ RangeVar: change.relation }, level, reading, new Map())
  const target = level.sources[0]!.name
  const others: Node[] = change.fromClause ?? change.usingClause ?? (change.sourceRelation ? [change.sourceRelation] : [])
  const edges = others.flatMap((item) => readSource(item, level, reading, named).edges)
  edges.push(...edgesOf(change.whereClause ?? change.joinCondition, level, namesOf(level)))
  judge(level, edges, 'writes by a sweep', reading, target)
  const { relation, fromClause, usingClause, sourceRelation, withClause, ...rest } = change
  readInside(rest, reading, level, named)
}

/** Adds what is read from to the level, and answers the names that were added with what is known of them by how they are joined. */
function readSource(item: Node, level: Level, reading: Reading, named: Named): { names: Set<string>; edges: Edge[] } {
  const add = (source: Source) => {
    level.sources.push(source)
    return { names: new Set([source.name]), edges: [] }
  }
  const { RangeVar, RangeSubselect, JoinExpr } = item
  if (RangeVar) {
    const name = RangeVar.alias?.aliasname ?? RangeVar.relname
    if (named.has(RangeVar.relname)) return add({ name, table: null, columns: named.get(RangeVar.relname)! })
    const table = tableOf(RangeVar.relname)
    return add({ name, table: reading.tables.has(table) ? table : null, columns: reading.tables.has(table) ? null : new Set() })
  }
  if (RangeSubselect) {
    readStatement(RangeSubselect.subquery, reading, level, named)
    return add({
      name: RangeSubselect.alias?.aliasname ?? '',
      table: null,
      columns: columnsOf(RangeSubselect) ?? answersOf(RangeSubselect.subquery),
    })
  }
  if (!JoinExpr) {
    readInside(item, reading, level, named)
    const [one] = Object.values<Node>(item)
    return add({ name: one.alias?.aliasname ?? '', table: null, columns: columnsOf(one) })
  }
  const left = readSource(JoinExpr.larg, level, reading, named)
  const right = readSource(JoinExpr.rarg, level, reading, named)
  readInside(JoinExpr.quals, reading, level, named)
  // What an outer join keeps in any case is not made fewer by its condition.
  const isKept = (name: string) =>
    (JoinExpr.jointype !== 'JOIN_INNER' && JoinExpr.jointype !== 'JOIN_RIGHT' && left.names.has(name)) ||
    (JoinExpr.jointype !== 'JOIN_INNER' && JoinExpr.jointype !== 'JOIN_LEFT' && right.names.has(name))
  const names = new Set([...left.names, ...right.names])
  const on = edgesOf(JoinExpr.quals, level, names)
  if ((JoinExpr.usingClause ?? []).map(stringOf).includes('environment_id'))
    for (const one of left.names) for (const other of right.names) on.push([one, other], [other, one])
  return { names, edges: [...left.edges, ...right.edges, ...on.filter(([from]) => !isKept(from))] }
}

/** Queries in expressions. */
function readInside(node: Node, reading: Reading, level: Level, named: Named): void {
  if (node === null || typeof node !== 'object') return
  if (Array.isArray(node)) for (const one of node) readInside(one, reading, level, named)
  else
    for (const [key, value] of Object.entries<Node>(node)) {
      if (key === 'SelectStmt') readSelect(value, reading, level, named)
      else readInside(value, reading, level, named)
    }
}

/** What follows for the environments of the level's sources when the condition holds. */
function edgesOf(condition: Node, level: Level, names: ReadonlySet<string>): Edge[] {
  if (!condition) return []
  const { BoolExpr, A_Expr, SubLink } = condition
  if (BoolExpr?.boolop === 'AND_EXPR') return BoolExpr.args.flatMap((one: Node) => edgesOf(one, level, names))
  if (BoolExpr?.boolop === 'OR_EXPR') {
    const [first, ...others]: Edge[][] = BoolExpr.args.map((one: Node) => edgesOf(one, level, names))
    return first!.filter((edge) => others.every((edges) => edges.some(([from, to]) => from === edge[0] && to === edge[1])))
  }
  if (SubLink?.subLinkType === 'ANY_SUBLINK')
    return partsOf(SubLink.testexpr).flatMap((one) => keysOf(one, level).map((key): Edge => [key, null]))
  if (!A_Expr || stringOf(A_Expr.name[0]) !== '=') return []
  if (A_Expr.kind === 'AEXPR_OP_ANY') return keysOf(A_Expr.lexpr, level).map((key) => [key, null])
  if (A_Expr.kind === 'AEXPR_IN') {
    const lists: Node[] = A_Expr.rexpr.List.items
    const all = lists.map((one) => equal(A_Expr.lexpr, one, level))
    return all[0]!
      .filter(([from]) => all.every((edges) => edges.some((edge) => edge[0] === from && edge[1] === null)))
      .map(([from]) => [from, null])
  }
  if (A_Expr.kind === 'AEXPR_OP' && A_Expr.lexpr) return equal(A_Expr.lexpr, A_Expr.rexpr, level).filter(([from]) => names.has(from))
  return []
}

/** Two values or two rows of values that are the same. */
function equal(left: Node, right: Node, level: Level): Edge[] {
  const rights = partsOf(right)
  return partsOf(left).flatMap((one, at): Edge[] => {
    const other = rights[at]
    if (!other) return []
    const [ones, others] = [keysOf(one, level), keysOf(other, level)]
    if (ones.length > 0 && others.length > 0)
      return ones.flatMap((a) =>
        others.flatMap((b): Edge[] => [
          [a, b],
          [b, a],
        ]),
      )
    if (ones.length > 0) return isGiven(other, level) ? ones.map((key) => [key, null]) : []
    return others.length > 0 && isGiven(one, level) ? others.map((key) => [key, null]) : []
  })
}

const partsOf = (node: Node): Node[] => node?.RowExpr?.args ?? [node]

/** The sources of this level whose environment a value is; none: it is something else, or of outside. */
function keysOf(node: Node, level: Level): string[] {
  if (node?.TypeCast) return keysOf(node.TypeCast.arg, level)
  const fields: string[] | undefined = node?.ColumnRef?.fields?.map(stringOf)
  if (!fields) return []
  const column = fields.at(-1)!
  const isKeyOf = ({ table, columns }: Source) =>
    column === (table === 'environment' ? 'id' : 'environment_id') && columns?.has(column) !== false
  if (fields.length > 1) return level.sources.filter((source) => source.name === fields.at(-2) && isKeyOf(source)).map(({ name }) => name)
  const sources = level.sources.filter((source) => isKeyOf(source) && (source.table !== 'environment' || level.sources.length === 1))
  const tables = sources.filter(({ table }) => table !== null)
  return (tables.length > 0 ? tables : sources).map(({ name }) => name)
}

/** Of no source of this level, nor of a query inside: a parameter, a variable, a column of what is outside. */
function isGiven(node: Node, level: Level): boolean {
  if (node === null || typeof node !== 'object') return true
  if (Array.isArray(node)) return node.every((one) => isGiven(one, level))
  if (node.SubLink) return false
  const fields: string[] | undefined = node.ColumnRef?.fields?.map(stringOf)
  if (fields)
    return fields.length > 1
      ? !level.sources.some(({ name }) => name === fields.at(-2))
      : !level.sources.some(({ columns }) => columns?.has(fields[0]!))
  return Object.values(node).every((one) => isGiven(one, level))
}

function judge(
  level: Level,
  edges: readonly Edge[],
  sweep: 'sweeps' | 'locks by a sweep' | 'writes by a sweep',
  { faults }: Reading,
  target?: string,
): void {
  // What is not a table has been judged where it was made.
  const bound = new Set(level.sources.filter(({ table }) => table === null).map(({ name }) => name))
  for (let size = -1; size < bound.size; ) {
    size = bound.size
    for (const [from, to] of edges) if (to === null || bound.has(to)) bound.add(from)
  }
  const unbound = level.sources.filter(({ name, table }) => table !== null && ofTenants(table) && !bound.has(name))
  const isTogether =
    unbound.length === level.sources.filter(({ table }) => table !== null && ofTenants(table)).length && isConnected(unbound, level, edges)
  for (const { name, table } of unbound) {
    if (!isTogether) faults.add(target === name ? `writes by a sweep ${table!}` : `apart ${table!}`)
    else if (target === undefined || target === name) faults.add(`${sweep} ${table!}`)
    else faults.add(`sweeps ${table!}`)
  }
}

function isConnected(sources: readonly Source[], level: Level, edges: readonly Edge[]): boolean {
  const all = new Set([
    ...sources.map(({ name }) => name),
    ...level.sources.filter(({ table }) => table === 'environment').map(({ name }) => name),
  ])
  const reached = new Set([sources[0]?.name])
  for (let size = -1; size < reached.size; ) {
    size = reached.size
    for (const [from, to] of edges) {
      if (to !== null && reached.has(to)) reached.add(from)
      if (to !== null && reached.has(from)) reached.add(to)
    }
  }
  return [...all].every((name) => reached.has(name))
}

const namesOf = (level: Level): Set<string> => new Set(level.sources.map(({ name }) => name))
const stringOf = (node: Node): string => node.String?.sval ?? '*'

/** The names that `AS name (a, b)` gives. */
function columnsOf({ alias, coldeflist }: Node): ReadonlySet<string> | null {
  if (coldeflist) return new Set(coldeflist.map(({ ColumnDef }: Node) => ColumnDef.colname))
  return alias?.colnames ? new Set(alias.colnames.map(stringOf)) : null
}

/** The names of what a query answers; null: not all are known. */
function answersOf(query: Node): ReadonlySet<string> | null {
  const [statement] = Object.values<Node>(query)
  const targets: Node[] = (statement.larg ? leftmost(statement) : statement).targetList ?? []
  const list: Node[] = query.SelectStmt ? targets : (statement.returningClause?.exprs ?? statement.returningList ?? [])
  const names = list.map(({ ResTarget }) => ResTarget.name ?? ResTarget.val.ColumnRef?.fields.map(stringOf).at(-1))
  return names.includes('*') ? null : new Set(names.filter((name) => name !== undefined))
}

const leftmost = (select: Node): Node => (select.larg ? leftmost(select.larg) : select)
