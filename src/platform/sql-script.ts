/** One statement of a script. `start` is its offset in the script, for error positions. */
export interface Statement {
  text: string
  start: number
}

/** The line that PostgreSQL means with `position`: it counts characters, from 1 on, of the statement that starts at the offset `start`. */
export function lineAt(script: string, position: number, start = 0): number {
  const before = [...script.slice(0, start), ...[...script.slice(start)].slice(0, position - 1)]
  return before.filter((character) => character === '\n').length + 1
}

// A semicolon inside any of these does not end a statement. Words are taken whole so that `a$b$` is not read as a dollar quote. A doubled
// quote needs no rule: it reads as two literals side by side, except in E'' strings, where a backslash hides the quote after it.
const tokens = new RegExp(
  [
    /(?<comment>--[^\n]*|\/\*)/,
    /[eE]'(?:[^'\\]|''|\\[\s\S])*'?|'[^']*'?|"[^"]*"?/,
    /\$(?<tag>(?:[A-Za-z_\x80-\uffff][\w\x80-\uffff]*)?)\$[\s\S]*?\$\k<tag>\$/,
    /[\w\x80-\uffff][\w$\x80-\uffff]*/,
    /(?<end>;)/,
    /(?<blank>\s+)/,
    /[\s\S]/,
  ]
    .map((token) => token.source)
    .join('|'),
  'y',
)

/** Where the block comment that opens at `from` ends. PostgreSQL nests them. */
function endOfBlockComment(script: string, from: number): number {
  const edges = /\/\*|\*\//g
  edges.lastIndex = from
  for (let depth = 0, edge = edges.exec(script); edge; edge = edges.exec(script)) {
    depth += edge[0] === '/*' ? 1 : -1
    if (depth === 0) return edges.lastIndex
  }
  return script.length
}

/**
 * The statements of a PostgreSQL script, each with the comments before it and without its semicolon; what is only comment is left out.
 * Function bodies written between `BEGIN ATOMIC` and `END` are not known: quote them with `$$`.
 */
export function splitStatements(script: string): Statement[] {
  const statements: Statement[] = []
  let start = 0
  let hasCode = false
  const finish = (end: number) => {
    if (hasCode) statements.push({ text: script.slice(start, end), start })
    hasCode = false
    start = end + 1
  }
  for (let at = 0; at < script.length; at = tokens.lastIndex) {
    tokens.lastIndex = at
    const token = tokens.exec(script)?.groups ?? {}
    if (token.end) finish(at)
    else if (token.comment === '/*') tokens.lastIndex = endOfBlockComment(script, at)
    else if (!token.comment && !token.blank) hasCode = true
  }
  finish(script.length)
  return statements
}
