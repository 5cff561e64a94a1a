/** A page of the lines of a history. */
import { invalidInput } from '../../kernel/problem.js'

/** As lists have it: `first` and `after` walk forwards, `last` and `before` backwards. Cursors are positions in the order of the lines. */
export interface LinePaging {
  first: number | null
  last: number | null
  after: string | null
  before: string | null
}

/** As lists have it. */
const defaultSize = 10
const maxSize = 100

interface Tagged {
  tags: { key: string; value: string }[]
}

/** What stands for a line: opaque, and good for histories that are grouped by the same dimensions. */
export function lineCursor({ tags }: Tagged): string {
  return Buffer.from(JSON.stringify(tags.map(({ key, value }) => [key, value]))).toString('base64url')
}

/** The lines of the page, of lines in the order of their values. Fails with INVALID_ARGUMENT for sizes that are not served and cursors of another grouping. */
export function pageOfLines<Line extends Tagged>(
  lines: Line[],
  { first, last, after, before }: LinePaging,
  groupBy: readonly string[],
): Line[] {
  if (first !== null && last !== null) throw invalidInput('Send first or last, not both.', { path: 'paging' })
  const size = first ?? last ?? defaultSize
  if (!Number.isInteger(size) || size < 0 || size > maxSize)
    throw invalidInput(`A page has 0 to ${maxSize} items, not ${size}: ask for the next ones with a cursor.`, {
      path: 'paging',
      limit: maxSize,
    })
  const [start, end] = [after, before].map((cursor) => (cursor === null ? null : positionOf(readCursor(cursor, groupBy))))
  const between = lines.filter((line) => {
    const position = positionOf(line.tags.map(({ value }) => value))
    return (start === null || position > start!) && (end === null || position < end!)
  })
  // Who gives only a position to stop at wants what is just before it.
  const isBackward = last !== null || (before !== null && after === null && first === null)
  return isBackward ? between.slice(Math.max(0, between.length - size)) : between.slice(0, size)
}

/** In the order of their values. */
export function sortLines<Line extends Tagged>(lines: Line[]): Line[] {
  const positions = new Map(lines.map((line) => [line, positionOf(line.tags.map(({ value }) => value))]))
  return [...lines].sort((a, b) => (positions.get(a)! < positions.get(b)! ? -1 : 1))
}

const positionOf = (values: readonly string[]): string => JSON.stringify(values)

function readCursor(cursor: string, groupBy: readonly string[]): string[] {
  const tags = parse(cursor)
  const fits =
    tags.length === groupBy.length && groupBy.every((key, index) => tags[index]?.[0] === key && typeof tags[index][1] === 'string')
  if (!fits) throw invalidInput('The cursor is not one of a history that is grouped so.', { path: 'paging' })
  return tags.map(([, value]) => value as string)
}

function parse(cursor: string): [unknown, unknown][] {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    return Array.isArray(value) && value.every(Array.isArray) ? (value as [unknown, unknown][]) : []
  } catch {
    return []
  }
}
