import { LRUCache } from 'lru-cache'

/** Entitlements, prices and features that are kept: some 400 bytes each. Whoever makes the catalog decides how many a version has. */
const maxKeptRows = 150_000
const maxKept = 2_000
/** Of what is kept beside its rows. */
const rowsOfOne = 5

/** A cache that keeps fewer of what is large. */
export const keptByRows = <Kept extends object>(rows: (kept: Kept) => number) =>
  new LRUCache<string, Kept>({ max: maxKept, maxSize: maxKeptRows, sizeCalculation: (kept) => rowsOfOne + rows(kept) })

export const rowsOf = (version: { entitlements: readonly unknown[]; prices: readonly unknown[] } | null): number =>
  version ? version.entitlements.length + version.prices.length : 0
