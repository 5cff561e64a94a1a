/** The definitions of a catalog with the paths at which they were written, for saying what is wrong where. */

import { Suggestions, shortened } from '../../kernel/nearest.js'
import type {
  AddonDefinition,
  CouponDefinition,
  EntitlementDefinition,
  FeatureDefinition,
  PlanDefinition,
  PriceDefinition,
  ProductDefinition,
} from './document.js'

/** A definition at its path. */
export interface Located<T> {
  path: string
  /** Null when it could not be read. */
  refId: string | null
  /** Null when it could not be read: it exists, but nothing more is known of it. */
  value: T | null
}

export type PlanHead = Omit<PlanDefinition, 'entitlements' | 'prices'>
export type AddonHead = Omit<AddonDefinition, 'entitlements' | 'prices'>

/** Entitlements and prices that could not be read are null, so that the others keep their index. */
export interface LocatedPackage<H> extends Located<H> {
  entitlements: (EntitlementDefinition | null)[]
  prices: (PriceDefinition | null)[]
}

/** The definitions that would be in force together. */
export interface LocatedCatalog {
  features: Located<FeatureDefinition>[]
  products: Located<ProductDefinition>[]
  plans: LocatedPackage<PlanHead>[]
  addons: LocatedPackage<AddonHead>[]
  coupons: Located<CouponDefinition>[]
}

export type Report = (path: string, message: string) => void

/** Definitions of one kind by refId. */
export class Index<T> {
  private readonly byRefId = new Map<string, Located<T>>()

  constructor(
    private readonly kind: string,
    /** Of the document. */
    readonly suggestions = new Suggestions(),
  ) {}

  /** Answers the definition that has this refId already, else null. */
  add(item: Located<T>): Located<T> | null {
    if (item.refId === null) return null
    const first = this.byRefId.get(item.refId)
    if (first) return first
    this.byRefId.set(item.refId, item)
    return null
  }

  /** The definition named at `path`. Null when it could not be read, or does not exist, which is reported. */
  find(refId: string, path: string, report: Report): T | null {
    const found = this.byRefId.get(refId)
    if (!found) report(path, `there is no ${this.kind} '${shortened(refId)}'${this.suggestions.of(refId, this.byRefId.keys())}`)
    return found?.value ?? null
  }
}

/** Reports every value that stands in the list before. */
export function checkDistinct(values: string[], path: string, report: Report): void {
  const seen = new Set<string>()
  for (const [position, value] of values.entries()) {
    if (seen.has(value)) report(`${path}[${position}]`, `'${shortened(value)}' is listed twice`)
    seen.add(value)
  }
}
