import { fromText } from '../../kernel/decimal.js'
import {
  type ChangeKind,
  changeKinds,
  type FeatureUsage,
  type PendingChange,
  type PublishedPackage,
  type ToldUsage,
} from '../model/change.js'
import { unpackTold } from './told-reports.js'

/** A row of the outbox. Another release may have written it, so nothing is known of what it carries. */
export interface ChangeRow extends Pick<PendingChange, 'id' | 'customerId' | 'resourceId' | 'createdAt'> {
  kind: string
  version: string
  payload: unknown
  told: string | null
}

/** What the row tells of. Fails, saying why, when it is none that this release can read. */
export function changesOf({ id, kind, customerId, resourceId, version, payload, told, createdAt }: ChangeRow): PendingChange[] {
  if (!isKind(kind)) throw new Error(`a change of the kind ${kind}`)
  if (kind === 'usage') {
    if (customerId === null) {
      const usages = told === null ? usagesOf(payload) : unpackTold(told)
      return usages.map(({ customerId, resourceId, ...change }) => {
        return { id, kind, customerId, resourceId, version: change.usage.updatedAt, payload: change, createdAt }
      })
    }
    if (!isUsage(payload)) throw new Error('a change of usage without the usage')
  } else if (kind === 'package') {
    if (!isPackages(payload)) throw new Error('a change of the catalog with something else than packages')
  } else if (customerId === null) throw new Error(`a change of the kind ${kind} without a customer`)
  return [{ id, kind, customerId, resourceId, version: Number(version), payload: payload as PendingChange['payload'], createdAt }]
}

const isKind = (kind: string): kind is ChangeKind => (changeKinds as readonly string[]).includes(kind)

function usagesOf(payload: unknown): ToldUsage[] {
  const usages = (payload as { usages?: unknown } | null)?.usages ?? []
  if (!Array.isArray(usages) || !usages.every((usage) => isUsage(usage) && typeof (usage as ToldUsage).customerId === 'string'))
    throw new Error('changes of usage with something else than usages')
  return usages
}

function isUsage(payload: unknown): payload is FeatureUsage {
  const { featureId, usage } = (payload ?? {}) as Partial<FeatureUsage>
  if (typeof featureId !== 'string' || typeof usage?.currentUsage !== 'string' || typeof usage.updatedAt !== 'number') return false
  fromText(usage.currentUsage)
  return true
}

function isPackages(payload: unknown): payload is { packages: PublishedPackage[] } | null {
  if (payload === null) return true
  const { packages } = payload as { packages?: unknown }
  return packages === undefined || (Array.isArray(packages) && packages.every((one) => typeof one === 'object' && one !== null))
}
