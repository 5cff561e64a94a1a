/** A drawing of figures over time, a panel for each kind of them. */

interface Sample {
  atMs: number
  value: number
}

export interface Series {
  label: string
  samples: readonly Sample[]
}

export interface Panel {
  title: string
  series: readonly Series[]
}

const width = 960
const panelHeight = 260
const plot = { left: 64, right: 640, top: 34, bottom: 220 }
const labelHeight = 14
const colors = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#000000', '#8c564b']

/** As SVG. `machine`: one line below. */
export function plotSeries(panels: readonly Panel[], machine: string): string {
  const height = panels.length * panelHeight + 20
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" font-family="system-ui, sans-serif" font-size="12" fill="#222222">
<title>Figures over time</title>
<rect width="${width}" height="${height}" fill="#ffffff"/>
${panels.map((panel, index) => `<g transform="translate(0 ${index * panelHeight})">${drawPanel(panel)}</g>`).join('\n')}
<text x="${width - 8}" y="${height - 6}" text-anchor="end" font-size="10" fill="#666666">${escapeText(machine)}</text>
</svg>
`
}

function drawPanel({ title, series }: Panel): string {
  const known = series.map(({ label, samples }) => ({ label, samples: samples.filter(({ value }) => Number.isFinite(value)) }))
  const all = known.flatMap(({ samples }) => samples)
  const [from, to] = [Math.min(...all.map(({ atMs }) => atMs)), Math.max(...all.map(({ atMs }) => atMs))]
  const most = Math.max(1, ...all.map(({ value }) => value))
  const x = (atMs: number) => plot.left + ((atMs - from) / Math.max(1, to - from)) * (plot.right - plot.left)
  const y = (value: number) => plot.bottom - (value / most) * (plot.bottom - plot.top)
  const rows = [0, 0.5, 1].map((share) => share * most)
  const grid = rows.map(
    (value) =>
      `<path d="M${plot.left} ${at(y(value))}H${plot.right}" stroke="#dddddd"/><text x="${plot.left - 8}" y="${at(y(value) + 4)}" text-anchor="end">${Math.round(value)}</text>`,
  )
  const lines = known.flatMap(({ label, samples }, index) => {
    const color = colors[index % colors.length]
    if (samples.length === 0) return []
    const path = samples.map(({ atMs, value }) => `${at(x(atMs))} ${at(y(value))}`).join('L')
    return [
      `<path d="M${path}" fill="none" stroke="${color}" stroke-width="1.5"/>`,
      `<text x="${plot.right + 12}" y="${plot.top + 4 + index * labelHeight}" fill="${color}">${escapeText(label)}</text>`,
    ]
  })
  const minutes = all.length === 0 ? 0 : (to - from) / 60_000
  const axis = `<text x="${plot.right}" y="${plot.bottom + 18}" text-anchor="end">${minutes.toFixed(1)} minutes</text>`
  return [`<text x="${plot.left}" y="20" font-weight="bold">${escapeText(title)}</text>`, ...grid, axis, ...lines].join('\n')
}

const at = (position: number) => Number(position.toFixed(1))
const escapeText = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
