import type { AuditedChange, EntityKind } from '../../audit/model/entry.js'
import type { CatalogChange } from './difference.js'
import type { CatalogDocument } from './document.js'

const kinds = {
  addon: 'ADDON',
  coupon: 'COUPON',
  feature: 'FEATURE',
  meter: 'METER',
  plan: 'PLAN',
  product: 'PRODUCT',
} as const satisfies Record<CatalogChange['kind'], EntityKind>

/**
 * Changes of a catalog for the audit log: of what was made or archived its whole definition, of what was changed the paths that `applyCatalog` answers
 * too. What is archived is in the catalog no more.
 */
export function auditedChanges(
  environmentId: string,
  changes: readonly CatalogChange[],
  { before, after }: { before: CatalogDocument; after: CatalogDocument },
): AuditedChange[] {
  return changes.map((change) => {
    const { kind, refId, action, fields } = change
    const of = { environmentId, kind: kinds[kind], id: refId }
    if (action === 'create') return { ...of, before: null, after: definitionOf(change, after) }
    if (action === 'archive') return { ...of, before: definitionOf(change, before), after: null }
    return {
      ...of,
      before: Object.fromEntries(fields.map(({ path, from }) => [path, from])),
      after: Object.fromEntries(fields.map(({ path, to }) => [path, to])),
    }
  })
}

function definitionOf(
  { kind, refId }: CatalogChange,
  { features, products, plans, addons, coupons }: CatalogDocument,
): Record<string, unknown> {
  if (kind === 'feature' || kind === 'meter') {
    const { events, ...feature } = find(features, refId)
    return kind === 'feature' ? feature : { ...events }
  }
  return { ...find<{ refId: string }>({ product: products, plan: plans, addon: addons, coupon: coupons }[kind], refId) }
}

function find<T extends { refId: string }>(all: readonly T[], refId: string): T {
  // For a refId defined twice the last definition counts.
  return all.findLast((one) => one.refId === refId)!
}
