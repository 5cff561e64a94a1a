/**
 * The audit log: who changed what, when, from what to what. Pure.
 *
 * entry      one change of one entity, written in the transaction that makes it
 * actor      who changed it: a key, the operator, or a rule of ours that time or a message set off
 * operation  in whose course it was changed: a mutation, a command of the operator, or a process of ours
 * hidden     a value of which only is stored that it is there, and that it changed: names, addresses, secrets
 */
import type { EpochMs } from '../../kernel/clock.js'

export const actorKinds = ['KEY', 'OPERATOR', 'SYSTEM'] as const
export type ActorKind = (typeof actorKinds)[number]

export const entityKinds = [
  'ADDON',
  'ALERT',
  'API_KEY',
  'BALANCE_ENTRY',
  'BILLING_CALL',
  'COUPON',
  'CUSTOMER',
  'DEAD_LETTER',
  'ENVIRONMENT',
  'FEATURE',
  'IMPORT',
  'INVOICE',
  'METER',
  'PAYMENT_METHOD',
  'PLAN',
  'PRODUCT',
  'PROMOTIONAL_ENTITLEMENT',
  'QUEUE_USER',
  'SUBSCRIPTION',
  'TAX_RATE',
  'USAGE_EVENT',
  'USAGE_MEASUREMENT',
  'USAGE_RECOMPUTATION',
  'WEBHOOK_ENDPOINT',
] as const
export type EntityKind = (typeof entityKinds)[number]

export interface Actor {
  kind: ActorKind
  /** Of a key, or of what the rule works off (an import); null: there is nothing of the kind. */
  id: string | null
  /** Of the key, or of the rule. */
  name: string
}

/** Whoever has the operator key, or reaches the database. */
export const operatorActor: Actor = { kind: 'OPERATOR', id: null, name: 'operator' }

/** Where a change comes from. */
export interface Origin {
  actor: Actor
  operation: string
  /** Of the caller; null: nobody has called. */
  address: string | null
  /** Joins it with log lines; null: nobody has called. */
  traceId: string | null
}

/** Fields as the API names them; values as JSON has them, or hidden. */
export type Fields = Readonly<Record<string, unknown>>

/** An entity before and after a change; null: it was not there, or is no more. */
export interface AuditedChange {
  environmentId: string
  kind: EntityKind
  /** The caller's identifier where the entity has one. */
  id: string
  before: Fields | null
  after: Fields | null
}

/** An entry as it is stored. */
export interface AuditEntry {
  id: string
  environmentId: string
  at: EpochMs
  actor: Actor
  operation: string
  address: string | null
  traceId: string | null
  entityKind: EntityKind
  entityId: string
  before: Fields | null
  after: Fields | null
}
