/**
 * customer   whom the host application provisions; `refId` is the host application's identifier
 * resource   a thing of the customer that holds its own subscription
 * archived   has no access and no name or email; its identifier stays taken
 */
import type { EpochMs } from '../../kernel/clock.js'
import { invalidInput } from '../../kernel/problem.js'

export interface Customer {
  id: string
  refId: string
  environmentId: string
  name: string | null
  email: string | null
  /** IANA name; null: UTC. */
  timeZone: string | null
  billingCurrency: string | null
  billingId: string | null
  crmId: string | null
  salesforceId: string | null
  awsMarketplaceCustomerId: string | null
  /** Ours; null: none. */
  couponId: string | null
  additionalMetaData: Record<string, unknown> | null
  archivedAt: EpochMs | null
  createdAt: EpochMs
  updatedAt: EpochMs
}

/** What a caller may set. Absent: unchanged; null: cleared. Metadata is merged, see `mergeMetaData`. */
export type CustomerFields = Partial<
  Pick<
    Customer,
    | 'name'
    | 'email'
    | 'timeZone'
    | 'billingCurrency'
    | 'billingId'
    | 'crmId'
    | 'salesforceId'
    | 'awsMarketplaceCustomerId'
    | 'couponId'
    | 'additionalMetaData'
  >
>

/**
 * Metadata after a change: keys that are sent replace theirs (whole: what is nested is not merged), a key that is sent as null goes, the others stay.
 * Null clears all.
 */
function mergeMetaData(current: Customer['additionalMetaData'], change: Record<string, unknown> | null): Customer['additionalMetaData'] {
  if (change === null) return null
  return Object.fromEntries(Object.entries({ ...current, ...change }).filter(([, value]) => value !== null))
}

/** What of a change is written over a customer as it is. Without one, as for a new customer. */
export function toWritten(current: Customer | null, change: CustomerFields): CustomerFields {
  const { additionalMetaData, timeZone, ...fields } = change
  return {
    ...fields,
    // Under one name, in whatever case and by whichever of its names it is sent: another name would be taken for another zone.
    ...(timeZone === undefined ? {} : { timeZone: timeZone && zoneNamed(timeZone) }),
    ...(additionalMetaData === undefined
      ? {}
      : { additionalMetaData: mergeMetaData(current?.additionalMetaData ?? null, additionalMetaData) }),
  }
}

/** @throws Problem BAD_USER_INPUT */
export function checkFields({ timeZone, email, name }: CustomerFields): void {
  if (timeZone !== null && timeZone !== undefined && zoneNamed(timeZone) === null)
    throw invalidInput(`"${timeZone}" is not a time zone: give an IANA name such as Europe/Berlin.`, {
      path: 'billingInformation.timezone',
    })
  if (email && !/^\S+@[^\s@]+$/.test(email)) throw invalidInput(`"${email}" is not an e-mail address.`, { path: 'email' })
  for (const [path, value] of Object.entries({ email, name }))
    if (value && value.length > maxTextLength) throw invalidInput(`${path} has more than ${maxTextLength} characters.`, { path })
}

/** Longer than any name or address, and short enough to be answered in lists. */
const maxTextLength = 1_000

/** Null: there is no such zone. An offset is none: it knows no summer. */
function zoneNamed(text: string): string | null {
  try {
    return /^[+-]/.test(text) ? null : new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone
  } catch {
    return null
  }
}
