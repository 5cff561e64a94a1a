/**
 * What each definition looks like when it is written down: keys, types and defaults, one definition at a time. What definitions say
 * about each other is checked in checks.ts.
 */

import { z } from 'zod'
import * as decimal from '../../kernel/decimal.js'
import { checkRefId } from '../../kernel/id.js'
import { suggestion } from '../../kernel/nearest.js'
import { Problem } from '../../kernel/problem.js'
import { isStorableText } from '../../kernel/storable.js'
import { aggregations, comparisons, type FilterCondition } from '../../metering/model/meter.js'
import { type ResetPeriod, type ResetRule, resetRules } from '../../metering/model/usage-period.js'
import { countryCode, nearestCountry } from '../model/country.js'
import { currencies } from '../model/currency.js'
import type { EntitlementBehavior } from '../model/package.js'
import {
  billingModels,
  billingPeriods,
  entitlementBehaviors,
  maxLimit,
  pricingTypes,
  tiersModes,
  trialEndBehaviors,
  trialUnits,
} from '../model/package.js'
import { changeTimings, endSettings, usageOnPlanChangeSettings } from '../model/product.js'
import { newCustomerSettings } from './document.js'
import { normaliseMetaData } from './normalise.js'

const maxAmount = maxLimit

const required = (message: string) => ({ error: (issue: { input?: unknown }) => (issue.input === undefined ? 'is required' : message) })

const oneOf = <const V extends readonly [string, ...string[]]>(values: V) =>
  z.enum(values, {
    error: ({ input }) => {
      if (input === undefined) return 'is required'
      const near = typeof input === 'string' ? suggestion(input, values) : ''
      return values.length > 20 ? `is not one of the known codes${near}` : `must be one of ${values.join(', ')}${near}`
    },
  })

/** A key that may be absent or null. */
const optional = <S extends z.ZodType>(schema: S) => schema.nullish().transform((value) => value ?? null)
const withDefault = <S extends z.ZodType>(schema: S, value: z.output<S>) => schema.nullish().transform((given) => given ?? value)

const text = z
  .string(required('must be text'))
  .refine((value) => value.trim() !== '', { error: 'must not be empty; leave the key out instead' })
  .refine(isStorableText, { error: 'contains a character that cannot be stored' })

const refId = z.string(required('must be text; put numbers in quotes')).superRefine((value, context) => {
  try {
    checkRefId(value, 'the identifier')
  } catch (error) {
    context.addIssue({ code: 'custom', message: Problem.from(error).message })
  }
})

const map = <S extends z.core.$ZodShape>(shape: S) => z.object(shape, required('must be a map'))
const list = <S extends z.ZodType>(element: S) => z.array(element, required('must be a list'))

const flag = z.boolean(required('must be true or false'))

const wholeNumber = (from: number, to: number) => {
  const message = `must be a whole number from ${from} to ${to}`
  return z.number(required(message)).refine((value) => Number.isInteger(value) && value >= from && value <= to, { error: message })
}

/** A number, or decimal text where exactness matters to the writer: at least 0, at most 9 digits after the point, readable from a double. */
const amount = z.unknown().transform((value, context): decimal.Decimal => {
  const problem = amountProblem(value)
  if (problem === null) return typeof value === 'number' ? decimal.fromNumber(value) : decimal.fromText(value as string)
  context.addIssue({ code: 'custom', message: problem })
  return z.NEVER
})

function amountProblem(value: unknown): string | null {
  if (value === undefined) return 'is required'
  const isText = typeof value === 'string' && /^-?\d{1,40}(\.\d{1,40})?$/.test(value)
  if (!isText && typeof value !== 'number') return 'must be a number, or a decimal number in quotes'
  if (!Number.isFinite(Number(value))) return 'must be a finite number'
  if (Math.abs(Number(value)) > maxAmount) return `must be at most ${maxAmount} (2^53 - 1)`
  if (Number(value) < 0) return 'must not be negative'
  const [mantissa = '', exponent = '0'] = String(value).split('e')
  const fraction = (mantissa.split('.')[1] ?? '').replace(/0+$/, '')
  if (fraction.length - Number(exponent) > 9) return 'has more than 9 digits after the decimal point'
  return decimal.compare(decimal.fromText(String(value)), decimal.fromNumber(maxAmount)) > 0
    ? `must be at most ${maxAmount} (2^53 - 1)`
    : null
}

const metaData = z
  .record(z.string(), z.json(), required('must be a map of keys to JSON values'))
  .superRefine((value, context) => {
    if (!isStorable(value)) context.addIssue({ code: 'custom', message: 'contains a character that cannot be stored' })
  })
  .nullish()
  .transform((value) => normaliseMetaData(value ?? null))

function isStorable(value: unknown): boolean {
  if (typeof value === 'string') return isStorableText(value)
  if (typeof value !== 'object' || value === null) return true
  return Object.entries(value).every(([key, inner]) => isStorableText(key) && isStorable(inner))
}

const named = { refId, displayName: optional(text), description: optional(text), additionalMetaData: metaData }
const nameFromRefId = <T extends { refId: string; displayName: string | null }>(item: T) => ({
  ...item,
  displayName: item.displayName ?? item.refId,
})

const packageHeadOf = <T extends { entitlements?: unknown; prices?: unknown; publish?: unknown }>({
  entitlements,
  prices,
  publish,
  ...head
}: T) => head

const names = withDefault(list(refId), [])

const dimensionValue = z.union(
  [z.string().refine(isStorableText, { error: 'contains a character that cannot be stored' }), z.number(), z.boolean()],
  required('must be text, a number, true or false'),
)

const conditionOperations = [...comparisons, 'IN', 'IS_NULL', 'IS_NOT_NULL'] as const
const orderings: readonly string[] = ['GREATER_THAN', 'GREATER_THAN_OR_EQUAL', 'LESS_THAN', 'LESS_THAN_OR_EQUAL']

const condition = map({
  field: text,
  operation: oneOf(conditionOperations),
  value: optional(dimensionValue),
  values: optional(list(dimensionValue)),
}).transform(({ field, operation, value, values }, context): FilterCondition => {
  const refuse = (key: string, message: string) => {
    context.addIssue({ code: 'custom', path: [key], message })
    return z.NEVER
  }
  if (operation === 'IN') {
    if (value !== null) return refuse('value', 'does not go with IN: give values')
    if (values === null || values.length === 0) return refuse('values', 'is required with IN')
    return { field, operation, values }
  }
  if (values !== null) return refuse('values', `does not go with ${operation}`)
  if (operation === 'IS_NULL' || operation === 'IS_NOT_NULL') {
    return value === null ? { field, operation } : refuse('value', `does not go with ${operation}`)
  }
  if (value === null) return refuse('value', `is required with ${operation}`)
  if (typeof value === 'boolean' && orderings.includes(operation))
    return refuse('value', `true and false have no order: ${operation} never holds`)
  return { field, operation, value }
})

const meter = map({
  aggregation: oneOf(aggregations),
  field: optional(text),
  filters: withDefault(list(list(condition).min(1, { error: 'must not be empty: a group without conditions would take every event' })), []),
})

export const featureShape = map({
  ...named,
  type: oneOf(['BOOLEAN', 'NUMBER', 'ENUM']),
  meter: withDefault(oneOf(['None', 'Fluctuating', 'Incremental']), 'None'),
  units: optional(text),
  unitsPlural: optional(text),
  enumValues: names,
  events: optional(meter),
  unitTransformation: optional(map({ divide: wholeNumber(1, maxAmount), round: oneOf(['UP', 'DOWN']) })),
}).transform(nameFromRefId)

const settingsShape = map({
  newCustomer: withDefault(oneOf(newCustomerSettings), 'PLAN_SELECTION'),
  newCustomerPlan: optional(refId),
  endOfSubscription: withDefault(oneOf(endSettings), 'CANCEL_SUBSCRIPTION'),
  downgradePlan: optional(refId),
  downgradeTiming: withDefault(oneOf(changeTimings), 'IMMEDIATE'),
  cancellationTiming: withDefault(oneOf(changeTimings), 'IMMEDIATE'),
  usageOnPlanChange: withDefault(oneOf(usageOnPlanChangeSettings), 'ALWAYS_RESET'),
  multipleSubscriptions: withDefault(flag, false),
})

export const productShape = map({
  ...named,
  settings: settingsShape.nullish().transform((settings) => settings ?? settingsShape.parse({})),
}).transform(nameFromRefId)

const packageHead = {
  ...named,
  product: refId,
  /** Null: follows from the prices. */
  pricingType: optional(oneOf(pricingTypes)),
  // Read one by one, so that a mistake in one does not hide what is wrong in another.
  entitlements: z.unknown().optional(),
  prices: z.unknown().optional(),
  // Said about the publication, not about what is sold: see audience.ts.
  publish: oneOf(['NEW_CUSTOMERS', 'ALL_CUSTOMERS']).nullish(),
}

/** A plan without its entitlements and prices. */
export const planShape = map({
  ...packageHead,
  basePlan: optional(refId),
  compatibleAddons: names,
  defaultTrial: optional(
    map({
      // So that its end is always a date that can be computed; a longer trial is a free plan.
      duration: wholeNumber(1, 1000),
      units: oneOf(trialUnits),
      endBehavior: withDefault(oneOf(trialEndBehaviors), 'CONVERT_TO_PAID'),
    }),
  ),
}).transform((plan) => packageHeadOf(nameFromRefId(plan)))

/** An add-on without its entitlements and prices. */
export const addonShape = map({ ...packageHead, maxQuantity: optional(wholeNumber(1, 2 ** 31 - 1)), dependencies: names }).transform(
  (addon) => packageHeadOf(nameFromRefId(addon)),
)

const resetPeriods = Object.keys(resetRules) as [ResetPeriod, ...ResetPeriod[]]
const allResetRules = [...new Set(Object.values(resetRules).flat())] as [ResetRule, ...ResetRule[]]

const entitlementShape = (defaultBehavior: EntitlementBehavior) =>
  map({
    feature: refId,
    limit: optional(amount),
    unlimited: withDefault(flag, false),
    softLimit: withDefault(flag, false),
    values: names,
    behavior: withDefault(oneOf(entitlementBehaviors), defaultBehavior),
    resetPeriod: optional(oneOf(resetPeriods)),
    resetRule: optional(oneOf(allResetRules)),
    displayNameOverride: optional(text),
  }).transform((entitlement) => ({
    ...entitlement,
    resetRule: entitlement.resetRule ?? (entitlement.resetPeriod === null ? null : resetRules[entitlement.resetPeriod][0]!),
  }))

/** By what an entitlement does that does not say it. */
export const entitlementShapes = { Override: entitlementShape('Override'), Increment: entitlementShape('Increment') }

const currency = oneOf(currencies)

const country = z.string(required('must be text')).transform((value, context) => {
  const code = countryCode(value)
  if (code !== null) return code
  const near = nearestCountry(value)
  context.addIssue({
    code: 'custom',
    message: `must be a country code of two letters (ISO 3166-1 alpha-2)${near === null ? '' : `; did you mean '${near}'?`}`,
  })
  return z.NEVER
})

export const priceShape = map({
  billingModel: oneOf(billingModels),
  billingPeriod: oneOf(billingPeriods),
  currency,
  country: optional(country),
  amount: optional(amount),
  feature: optional(refId),
  tiersMode: optional(oneOf(tiersModes)),
  tiers: optional(list(map({ upTo: optional(amount), unitPrice: optional(amount), flatPrice: optional(amount) }))),
  blockSize: optional(wholeNumber(1, maxAmount)),
  minQuantity: optional(wholeNumber(0, maxAmount)),
  maxQuantity: optional(wholeNumber(1, maxAmount)),
})

export const couponShape = map({
  refId,
  name: optional(text),
  description: optional(text),
  percentOff: optional(amount),
  amountsOff: optional(list(map({ amount, currency }))),
  // A hundred years: a longer one is for ever.
  durationInMonths: optional(wholeNumber(1, 1200)),
  maxRedemptions: optional(wholeNumber(1, 2_147_483_647)),
  additionalMetaData: metaData,
}).transform((coupon) => ({ ...coupon, name: coupon.name ?? coupon.refId }))
