import * as decimal from '../../kernel/decimal.js'

/** Converts what is counted (bytes) to the coarser unit that is answered and limited (gigabytes), in whole ones. */
export interface UnitTransformation {
  /** How many counted units make one; above 0. */
  divide: number
  /** Which whole number a part counts as. UP: a started unit is used. */
  round: 'UP' | 'DOWN'
}

/** Usage in the unit that is answered. Null converts nothing. Convert the sum, never its parts: each would be rounded. */
export function toAnsweredUnits(usage: decimal.Decimal, transformation: UnitTransformation | null): decimal.Decimal {
  if (transformation === null) return usage
  return decimal.divideToWhole(usage, decimal.fromNumber(transformation.divide), transformation.round)
}
