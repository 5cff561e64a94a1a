import * as decimal from '../kernel/decimal.js'
import { type Aggregation, asNumber, fieldOf, type Meter, type MeteredEvent, matches } from './meter.js'
import { maxMagnitude } from './usage-value.js'

/** The aggregations in which each event adds its own share, whatever came before it. A catalog with another one is refused. */
export const supportedAggregations = ['COUNT', 'SUM'] as const satisfies readonly Aggregation[]

/**
 * What one event adds to the usage of the meter's feature: 1 for COUNT, the number in the dimension for SUM (also one written as
 * text; rounded to 9 decimals). Usage is the sum over the events in any order, so recomputing from zero equals adding as they come.
 *
 * Null when the event adds nothing and leaves no trace: the filters do not want it, or the dimension of a SUM is missing, not a
 * number, or beyond what a report may carry (one broken event must not push a counter out of its range).
 */
export function measure(meter: Meter, event: MeteredEvent): decimal.Decimal | null {
  if (!matches(meter, event)) return null
  switch (meter.aggregation) {
    case 'COUNT':
      return one
    case 'SUM': {
      const value = meter.field === null ? null : asNumber(fieldOf(event, meter.field))
      return value === null || Math.abs(value) >= maxMagnitude ? null : decimal.fromNumber(value)
    }
    default:
      throw new Error(`the meter of feature ${meter.featureId} has the aggregation ${meter.aggregation}, which the catalog refuses`)
  }
}

const one = decimal.fromNumber(1)
