/** A drawing of costs by the number of stored events, both in powers of ten. */

export interface CostLine {
  label: string
  /** By size. */
  ms: readonly number[]
}

const width = 880
const height = 460
const plot = { left: 64, right: 480, top: 24, bottom: 400 }
const colors = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9']
/** Between the lowest of two labels that would else lie upon each other. */
const labelHeight = 18

/** As SVG, of at least two sizes. `machine`: one line below. */
export function plotCosts({ sizes, lines, machine }: { sizes: readonly number[]; lines: readonly CostLine[]; machine: string }): string {
  const values = lines.flatMap(({ ms }) => ms)
  const [lowest, highest] = [Math.floor(Math.log10(Math.min(...values))), Math.ceil(Math.log10(Math.max(...values)))]
  const [smallest, largest] = [Math.log10(sizes[0]!), Math.log10(sizes.at(-1)!)]
  const x = (size: number) => plot.left + ((Math.log10(size) - smallest) / (largest - smallest)) * (plot.right - plot.left)
  const y = (ms: number) => plot.bottom - ((Math.log10(ms) - lowest) / (highest - lowest)) * (plot.bottom - plot.top)
  const rows = Array.from({ length: highest - lowest + 1 }, (_, index) => lowest + index)
  const labels = spreadOut(lines.map(({ ms }) => y(ms.at(-1)!)))
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" font-family="system-ui, sans-serif" font-size="13" fill="#222222">
<title>Cost by the number of stored events</title>
<rect width="${width}" height="${height}" fill="#ffffff"/>
${rows.map((power) => `<path d="M${plot.left} ${at(y(10 ** power))}H${plot.right}" stroke="#dddddd"/><text x="${plot.left - 8}" y="${at(y(10 ** power) + 4)}" text-anchor="end">${timeOf(power)}</text>`).join('\n')}
${sizes.map((size) => `<text x="${at(x(size))}" y="${plot.bottom + 20}" text-anchor="middle">${size.toLocaleString('en')}</text>`).join('\n')}
<text x="${(plot.left + plot.right) / 2}" y="${plot.bottom + 40}" text-anchor="middle">stored events of the customer</text>
${lines.map(({ label, ms }, index) => drawLine({ label, points: ms.map((value, size) => [x(sizes[size]!), y(value)]), labelY: labels[index]!, color: colors[index % colors.length]! })).join('\n')}
<text x="${width - 8}" y="${height - 6}" text-anchor="end" font-size="10" fill="#666666">${escapeText(machine)}</text>
</svg>
`
}

function drawLine({ label, points, labelY, color }: { label: string; points: number[][]; labelY: number; color: string }): string {
  const path = points.map(([x, y]) => `${at(x!)} ${at(y!)}`).join('L')
  const dots = points.map(([x, y]) => `<circle cx="${at(x!)}" cy="${at(y!)}" r="3" fill="${color}"/>`).join('')
  return `<path d="M${path}" fill="none" stroke="${color}" stroke-width="2"/>${dots}<text x="${plot.right + 12}" y="${at(labelY + 4)}" fill="${color}">${escapeText(label)}</text>`
}

/** Moves what lies too close apart, downwards. */
function spreadOut(positions: readonly number[]): number[] {
  const placed = [...positions]
  const order = positions.map((_, index) => index).sort((a, b) => positions[a]! - positions[b]!)
  for (const [rank, index] of order.entries())
    if (rank > 0) placed[index] = Math.max(placed[index]!, placed[order[rank - 1]!]! + labelHeight)
  return placed
}

const at = (position: number) => Number(position.toFixed(1))
/** Of a power of ten milliseconds. */
const timeOf = (power: number) => (power < 0 ? `${10 ** (power + 3)} µs` : power < 3 ? `${10 ** power} ms` : `${10 ** (power - 3)} s`)
const escapeText = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
