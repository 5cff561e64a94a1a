import * as decimal from '../../../kernel/decimal.js'
import { invalidInput } from '../../../kernel/problem.js'
import { type Threshold, thresholdKinds } from './alert.js'

const maxThresholds = 10
const maxShare = '1000' as decimal.Decimal
const maxAmount = decimal.fromNumber(2 ** 53 - 1)
const maxHysteresis = 99
const maxDescription = 1_000

/** As they are kept: shares first, the lowest first. @throws INVALID_ARGUMENT, with what is wrong */
export function checkedThresholds(thresholds: readonly Threshold[]): Threshold[] {
  const refused = (message: string) => invalidInput(message, { path: 'thresholds' })
  if (thresholds.length === 0 || thresholds.length > maxThresholds) throw refused(`An alert has 1 to ${maxThresholds} thresholds.`)
  for (const { kind, value } of thresholds) {
    const most = kind === 'SHARE' ? maxShare : maxAmount
    if (decimal.compare(value, decimal.zero) <= 0 || decimal.compare(value, most) > 0)
      throw refused(`A threshold of kind ${kind} is above 0, and ${most} at most.`)
    if (kind === 'SHARE' && !/^\d+(\.\d{1,2})?$/.test(value)) throw refused('A share has two decimals at most.')
  }
  if (new Set(thresholds.map(({ kind, value }) => `${kind} ${value}`)).size < thresholds.length)
    throw refused('A threshold is given twice.')
  return [...thresholds].sort(
    (a, b) => thresholdKinds.indexOf(a.kind) - thresholdKinds.indexOf(b.kind) || decimal.compare(a.value, b.value),
  )
}

/** @throws INVALID_ARGUMENT, with what is wrong */
export function checkSettings({ hysteresisPercent, description }: { hysteresisPercent?: number; description?: string | null }): void {
  const isWhole = hysteresisPercent === undefined || Number.isInteger(hysteresisPercent)
  if (!isWhole || (hysteresisPercent ?? 0) < 0 || (hysteresisPercent ?? 0) > maxHysteresis)
    throw invalidInput(`hysteresisPercent must be a whole number, 0 to ${maxHysteresis}.`, { path: 'hysteresisPercent' })
  if (description && description.length > maxDescription)
    throw invalidInput(`description has more than ${maxDescription} characters.`, { path: 'description' })
}
