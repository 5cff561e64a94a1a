import type { AuditedChange, EntityKind } from '../../audit/model/entry.js'
import type { FeatureDefinition } from './document.js'
import type { DefinitionOf, PlannedChange } from './plan.js'

const kinds = {
  addon: 'ADDON',
  coupon: 'COUPON',
  feature: 'FEATURE',
  meter: 'METER',
  plan: 'PLAN',
  product: 'PRODUCT',
} as const satisfies Record<keyof DefinitionOf, EntityKind>

/**
 * A change of a catalog for the audit log: of what was made or archived its whole definition, of what was changed the paths that `applyCatalog` answers
 * too. What is archived is in the catalog no more.
 */
export function auditedChange(environmentId: string, { change, was, is }: PlannedChange): AuditedChange {
  const { kind, refId, action, fields } = change
  const of = { environmentId, kind: kinds[kind], id: refId }
  if (action === 'create') return { ...of, before: null, after: contentOf(kind, is!) }
  if (action === 'archive') return { ...of, before: contentOf(kind, was!), after: null }
  return {
    ...of,
    before: Object.fromEntries(fields.map(({ path, from }) => [path, from])),
    after: Object.fromEntries(fields.map(({ path, to }) => [path, to])),
  }
}

/** A feature and its meter are two entities. */
function contentOf(kind: keyof DefinitionOf, definition: DefinitionOf[keyof DefinitionOf]): Record<string, unknown> {
  if (kind !== 'feature' && kind !== 'meter') return { ...definition }
  const { events, ...feature } = definition as FeatureDefinition
  return kind === 'feature' ? feature : { ...events }
}
