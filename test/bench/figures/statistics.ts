/** The value below which the share `q` (0 to 1) of the values lies, between neighbours in proportion. NaN when there are none. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = Float64Array.from(values).sort()
  const position = (sorted.length - 1) * q
  const below = Math.floor(position)
  const low = sorted[below] ?? Number.NaN
  return low + ((sorted[below + 1] ?? low) - low) * (position - below)
}

export const median = (values: readonly number[]) => quantile(values, 0.5)

/** Half of the interquartile range as a share of the median: half of the values lie about within median × (1 ± spread). */
export const spread = (values: readonly number[]) => (quantile(values, 0.75) - quantile(values, 0.25)) / 2 / median(values)

/** Four digits: more would be noise. */
export const significant = (value: number) => Number(value.toPrecision(4))
