/**
 * What history is made of.
 *
 * bucket  a quarter of an hour, which the hours of every time zone are made of
 * part    the usage of one resource, or the customer's own
 */
import type { EpochMs } from '../../kernel/clock.js'

export const bucketMs = 15 * 60_000

/** The start of the bucket that contains `at`. */
export const bucketOf = (at: EpochMs): EpochMs => Math.floor(at / bucketMs) * bucketMs

/** Stands in the place of a resource's id. */
export const ownPart = '00000000-0000-0000-0000-000000000000'
