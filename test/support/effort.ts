/** How much a run of all tests does of what has no end: 1. `EFFORT=10 npm test -- PATH` does ten times as much. */
export const effort = Number(process.env.EFFORT ?? 1)

/** A third of the list, another one at the next place; all of it with `EFFORT=3`. */
export const thirdOf = <T>(list: readonly T[], place: number): T[] =>
  effort >= 3 ? [...list] : list.filter((_, index) => index % 3 === place % 3)
