/** Who holds entitlements and so has usage: a customer, or one of its resources. Ids are the caller's. */
export interface Holder {
  customerId: string
  /** Null: the customer itself. */
  resourceId: string | null
}

/** The same text for the same holder, and for no other: no id contains U+0000. */
export const holderKey = ({ customerId, resourceId }: Holder): string => (resourceId === null ? customerId : `${customerId}\0${resourceId}`)
