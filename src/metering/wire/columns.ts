/** What travels by column: what values have in common is written once. */

/** Null when there is none. */
export function orNone<T>(values: (T | null)[]): (T | null)[] | null {
  return values.some((value) => value !== null) ? values : null
}

/** Each value once, and of each where it stands among these, from 0 on. */
export function eachOnce<T>(all: readonly T[]): { values: T[]; positions: number[] } {
  const positions = new Map<T, number>()
  const positionsOf = all.map((value) => {
    const position = positions.get(value) ?? positions.size
    positions.set(value, position)
    return position
  })
  return { values: [...positions.keys()], positions: positionsOf }
}
