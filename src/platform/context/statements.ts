import { LRUCache } from 'lru-cache'
import { beginChildSpan, kindOf, recordedSpan, type SpanFacts } from './tracing.js'

/** They are of the code; those that Prisma writes differ by how many values they take. */
const remembered = new LRUCache<string, Omit<SpanFacts, 'parent'>>({ max: 500 })

/** Of a text in a span. */
const maxLength = 2_000

const nothing = () => undefined

/** Has a statement be a span of the current trace. Answers what is to be called when it has ended, with its error if there was one. */
export function beginStatement(query: unknown): (error?: unknown) => void {
  const text = recordedSpan() && textOf(query)
  const span = text ? beginChildSpan(factsOf(text)) : null
  if (!span) return nothing
  return (error) => {
    if (error) span.fail(kindOf(error))
    span.end()
  }
}

function textOf(query: unknown): string | null {
  const text = typeof query === 'string' ? query : (query as { text?: unknown } | null)?.text
  return typeof text === 'string' ? text : null
}

function factsOf(text: string): Omit<SpanFacts, 'parent'> {
  const known = remembered.get(text)
  if (known) return known
  const { operation, table, shown } = describeStatement(text)
  const facts = {
    name: table === null ? operation : `${operation} ${table}`,
    kind: 'client',
    attributes: {
      'db.system.name': 'postgresql',
      'db.operation.name': operation,
      'db.query.text': shown,
      ...(table === null ? {} : { 'db.collection.name': table }),
    },
  } as const
  remembered.set(text, facts)
  return facts
}

const comments = /--[^\n]*|\/\*[\s\S]*?\*\//g
const quotedTexts = /\$(\w*)\$[\s\S]*?\$\1\$|\bE'(?:[^'\\]|''|\\.)*'|'(?:[^']|'')*'/gi
const numbers = /(?<![\w$".])\d+(?:\.\d+)?(?![\w"])/g
/** What follows `FOR` or `DO` changes nothing by itself. */
const change = /\b(insert|delete|merge)\s+(?:into|from)\b|(?<!\b(?:for|for\s+no\s+key|do)\s+)\b(update)\b/i
const table = /\b(?:from|into|update|join|table)\s+(?:only\s+|if\s+exists\s+)*((?:"?\w+"?\.)*"?\w+"?)/i

/** What a statement does, to which table (or by which function) first, and its text without values. */
export function describeStatement(text: string): { operation: string; table: string | null; shown: string } {
  const shown = text.replace(comments, ' ').replace(quotedTexts, '?').replace(numbers, '?').replace(/\s+/g, ' ').trim()
  const first = /^\w+/.exec(shown)?.[0].toUpperCase() ?? 'STATEMENT'
  const [, written, updated] = (first === 'WITH' && change.exec(shown)) || []
  const operation = first === 'WITH' ? (written ?? updated ?? 'select').toUpperCase() : first
  const named = table.exec(operation === first ? shown : shown.slice(Math.max(0, shown.search(change))))?.[1]
  return {
    operation,
    table: named?.replaceAll('"', '').replace(/^public\./, '') ?? null,
    shown: shown.length > maxLength ? `${shown.slice(0, maxLength)}…` : shown,
  }
}
