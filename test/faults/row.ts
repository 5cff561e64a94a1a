import { type Column, headingsOf, lineOf, markdownOf } from '../support/table.js'
import type { Finding } from './checker.js'

/** What a fault came to. */
export interface Row {
  fault: string
  /** From the first call of its load to the last comparison. */
  seconds: number
  /** Answers that the load got. */
  acknowledged: number
  refused: number
  unknown: number
  /** Reports and events: acknowledged and not counted; counted more than once, or though they were refused. */
  lost: number
  doubled: number
  /** Everything else that must not be. */
  wrong: number
  /** The longest that a report and a check of the quiet tenant took together. */
  quietWorstMs: number
  /** From the end of the fault until every door served and every process was ready. */
  recoverSeconds: number
  /** What was waited for longest. */
  recoveredLast: string
  /** What was found, in words. */
  findings: readonly Finding[]
}

export const isClean = ({ lost, doubled, wrong }: Row): boolean => lost + doubled + wrong === 0

export function countOf(findings: readonly Finding[], kind: Finding['kind']): number {
  return findings.filter((finding) => finding.kind === kind).reduce((sum, { count }) => sum + count, 0)
}

/** One line, with the figures that others may read. */
export function toJson({ findings, recoveredLast, ...figures }: Row): string {
  return JSON.stringify(figures)
}

/** Rows of such lines, by their faults; a line that was cut off is none. */
export function fromJson(text: string): Map<string, Row> {
  const lines = text.split('\n').filter((line) => line.startsWith('{') && line.endsWith('}'))
  return new Map(lines.map((line): Row => ({ ...JSON.parse(line), recoveredLast: '', findings: [] })).map((row) => [row.fault, row]))
}

const loadOf = ({ acknowledged, refused, unknown, seconds }: Row) => Math.round((acknowledged + refused + unknown) / Math.max(1, seconds))

const columns: readonly Column<Row>[] = [
  ['fault', -48, ({ fault }) => fault],
  ['seconds', 8, ({ seconds }) => seconds],
  ['calls/s', 8, loadOf],
  ['acknowledged', 13, ({ acknowledged }) => acknowledged],
  ['refused', 8, ({ refused }) => refused],
  ['unknown', 8, ({ unknown }) => unknown],
  ['lost', 5, ({ lost }) => lost],
  ['doubled', 8, ({ doubled }) => doubled],
  ['wrong', 6, ({ wrong }) => wrong],
  ['quiet worst ms', 15, ({ quietWorstMs }) => quietWorstMs],
  ['recovered s', 12, ({ recoverSeconds }) => recoverSeconds],
]

export const headings = (): string => headingsOf(columns)
export const toLine = (row: Row): string => lineOf(columns, row)
export const toMarkdown = (rows: readonly Row[]): string => markdownOf(columns, rows)

const place = /(<!-- the table: [^>]* -->\n)[\s\S]*?(<!-- end of the table -->)/

/** A page with the table in the place that it has for it; a page without one becomes the table. */
export const withTable = (page: string, table: string): string =>
  place.test(page) ? page.replace(place, (_, begin: string, end: string) => `${begin}\n${table}\n\n${end}`) : `${table}\n`
