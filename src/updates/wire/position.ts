/**
 * Where an entry stands in the change stream of an environment: its id in Redis, and the epoch of Redis and of the database in which it was written. In another
 * epoch entries may be missing that were before it, or what they told of was never committed.
 */
export type Position = string

/** Lua, after `redisEpochLua`: what follows the id in each position. */
export const epochSuffixLua = `
local function epochSuffix(databaseEpoch)
  return '@' .. redisEpoch() .. '.' .. databaseEpoch
end`

/** The id in Redis; null: it is no position. */
export const idOf = (position: Position): string | null => /^(\d+-\d+)@/.exec(position)?.[1] ?? null

/** Empty: it says none. */
export const epochOf = (position: Position): string => /@(.*)$/.exec(position)?.[1] ?? ''

/** Whether `position` is at or before `other`, of the same epoch. */
export function isReached(position: Position, other: Position): boolean {
  const [[ms, sequence], [otherMs, otherSequence]] = [numbersOf(position), numbersOf(other)]
  return ms < otherMs || (ms === otherMs && sequence <= otherSequence)
}

function numbersOf(position: Position): [number, number] {
  const [ms, sequence] = (idOf(position) ?? '0-0').split('-')
  return [Number(ms), Number(sequence)]
}
