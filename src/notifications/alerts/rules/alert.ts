/**
 * What the host application wants to be told of. Pure.
 *
 * alert       thresholds of a feature, or of budgets, for all customers, those of a plan, or one
 * threshold   a share of the limit in per cent, or an amount
 * crossing    a threshold that was reached, until usage is back under it, or starts again
 * hysteresis  how far usage has to fall below a threshold, in per cent of it, to be back under it
 */
import type { EpochMs } from '../../../kernel/clock.js'
import * as decimal from '../../../kernel/decimal.js'

export const thresholdKinds = ['SHARE', 'AMOUNT'] as const
export type ThresholdKind = (typeof thresholdKinds)[number]

export interface Threshold {
  kind: ThresholdKind
  /** Above 0. SHARE: per cent, with at most two decimals. */
  value: decimal.Decimal
}

export interface Alert {
  id: string
  environmentId: string
  description: string | null
  /** Null: of the budgets of subscriptions. */
  feature: { id: string; refId: string } | null
  /** Only those with a subscription of the plan (refId); null: all. */
  planId: string | null
  /** Only this one; null: all. */
  customer: { id: string; refId: string } | null
  thresholds: Threshold[]
  /** 0 to 99. */
  hysteresisPercent: number
  createdAt: EpochMs
  updatedAt: EpochMs
}

/** Whether two alerts watch and tell the same. Thresholds are in the order of checked ones. */
export function saysTheSame(a: Omit<Alert, 'id' | 'createdAt' | 'updatedAt'>, b: Omit<Alert, 'id' | 'createdAt' | 'updatedAt'>): boolean {
  const said = ({ description, feature, planId, customer, thresholds, hysteresisPercent }: typeof a) => [
    [description, feature?.id, planId, customer?.id, hysteresisPercent],
    thresholds.map(({ kind, value }) => [kind, value]),
  ]
  return JSON.stringify(said(a)) === JSON.stringify(said(b))
}

/** Of what is stored, those that can be read: what a later release has written is told by that one. */
export const knownThresholds = (stored: unknown): Threshold[] => (Array.isArray(stored) ? stored.filter(isKnown) : [])

function isKnown(stored: unknown): stored is Threshold {
  const { kind, value } = (stored ?? {}) as Partial<Record<keyof Threshold, unknown>>
  return thresholdKinds.some((known) => known === kind) && typeof value === 'string' && /^\d+(\.\d+)?$/.test(value)
}

/** All of the limit. */
export const isLimit = ({ kind, value }: Threshold): boolean => kind === 'SHARE' && value === '100'

const hundred = '100' as decimal.Decimal
const tenThousand = '10000' as decimal.Decimal

interface Measured {
  usage: decimal.Decimal
  /** Null: unlimited. */
  limit: decimal.Decimal | null
}

/**
 * Both sides of the comparison, in the same unit and exact: products of more than nine decimals would be rounded. Null: of an unlimited usage there are no shares,
 * and of a limit of 0 neither.
 */
function sides({ kind, value }: Threshold, { usage, limit }: Measured): { usage: decimal.Decimal; threshold: decimal.Decimal } | null {
  if (kind === 'AMOUNT') return { usage, threshold: value }
  if (limit === null || decimal.compare(limit, decimal.zero) <= 0) return null
  return { usage: decimal.multiply(usage, tenThousand), threshold: decimal.multiply(limit, decimal.multiply(value, hundred)) }
}

/** At the threshold is reached. */
export function isReached(threshold: Threshold, measured: Measured): boolean {
  const compared = sides(threshold, measured)
  return compared !== null && decimal.compare(compared.usage, compared.threshold) >= 0
}

/** Whether usage is below the threshold by the hysteresis; without one, whether it is below it. */
export function isLeft(threshold: Threshold, measured: Measured, hysteresisPercent: number): boolean {
  const compared = sides(threshold, measured)
  if (compared === null) return true
  const kept = decimal.fromNumber(100 - hysteresisPercent)
  return decimal.compare(decimal.multiply(compared.usage, hundred), decimal.multiply(compared.threshold, kept)) < 0
}
