/** Tables that are printed a row at a time. */

/** A negative width: to the left. */
export type Column<Row> = readonly [heading: string, width: number, value: (row: Row) => string | number]

const padded = (value: string | number, width: number) => (width < 0 ? String(value).padEnd(-width) : String(value).padStart(width))

export const headingsOf = <Row>(columns: readonly Column<Row>[]): string =>
  columns.map(([heading, width]) => padded(heading, width)).join('')

/** Widths are known beforehand, so that each row is printed when it is there. */
export const lineOf = <Row>(columns: readonly Column<Row>[], row: Row): string =>
  columns.map(([, width, value]) => padded(value(row), width)).join('')

/** As Markdown, with what stands to the left and to the right as in the lines. */
export function markdownOf<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
  const line = (cells: readonly (string | number)[]) => `| ${cells.map((cell) => String(cell).trim().replaceAll('|', '\\|')).join(' | ')} |`
  return [
    line(columns.map(([heading]) => heading)),
    line(columns.map(([, width]) => (width < 0 ? '---' : '---:'))),
    ...rows.map((row) => line(columns.map(([, , value]) => value(row)))),
  ].join('\n')
}
