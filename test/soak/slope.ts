/** How fast a figure grows: the straight line that is nearest to all samples. NaN of fewer than two instants. */
export function slopePerHour(samples: readonly { atMs: number; value: number }[]): number {
  const known = samples.filter(({ value }) => !Number.isNaN(value))
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const at = mean(known.map(({ atMs }) => atMs))
  const value = mean(known.map((sample) => sample.value))
  const spread = known.reduce((sum, sample) => sum + (sample.atMs - at) ** 2, 0)
  return (known.reduce((sum, sample) => sum + (sample.atMs - at) * (sample.value - value), 0) / spread) * 3_600_000
}
