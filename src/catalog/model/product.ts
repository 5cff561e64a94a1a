import type { PackageVersion } from './package.js'

export const endSettings = ['CANCEL_SUBSCRIPTION', 'DOWNGRADE_TO_FREE'] as const
export const changeTimings = ['IMMEDIATE', 'END_OF_BILLING_PERIOD'] as const
export const usageOnPlanChangeSettings = ['ALWAYS_RESET', 'NEVER_RESET', 'BILLING_PERIOD_CHANGE'] as const

/** What a product says about its subscriptions. */
export interface ProductRules {
  id: string
  refId: string
  endSetting: (typeof endSettings)[number]
  /** The latest published version of the plan that DOWNGRADE_TO_FREE leads to. */
  downgradePlan: PackageVersion | null
  cancellationTiming: (typeof changeTimings)[number]
  downgradeTiming: (typeof changeTimings)[number]
  usageOnPlanChange: (typeof usageOnPlanChangeSettings)[number]
  allowsMultipleSubscriptions: boolean
}

/** A product as it is shown. */
export interface ProductFacts {
  id: string
  refId: string
  displayName: string
  description: string | null
  /** The plan (package) that follows when a subscription ends; null: none does. */
  downgradePlanId: string | null
  additionalMetaData: Record<string, unknown> | null
}
