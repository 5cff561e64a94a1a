/** Where changes come from that are made while some work is under way: said by whoever begins it, read by who records them. */
import { Scope } from '../../platform/context/scope.js'
import type { Actor, Origin } from '../model/entry.js'

const origins = new Scope<Origin>()

/** Work that nobody has said more about. */
const unnamed: Origin = { actor: { kind: 'SYSTEM', id: null, name: 'system' }, operation: 'system', address: null, traceId: null }

/** Runs `work`, whose changes come from there. */
export function originating<T>(origin: Origin, work: () => T): T {
  return origins.run(origin, work)
}

/** The same for what a rule of ours does, by itself or in the course of what somebody has asked for. `id`: of what it works off. */
export function byRule<T>(rule: string, work: () => T, id: string | null = null): T {
  const actor: Actor = { kind: 'SYSTEM', id, name: rule }
  const { operation = rule, address = null, traceId = null } = origins.value ?? {}
  return origins.run({ actor, operation, address, traceId }, work)
}

export const currentOrigin = (): Origin => origins.value ?? unnamed
