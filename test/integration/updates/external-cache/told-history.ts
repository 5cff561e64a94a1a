/**
 * What happens to a customer and its one resource on a platform that fails over now and then, and all that its queue is told of it. Every happening has an
 * instant of its own, which is the version of what it changes.
 *
 * undone   committed by a database that was lost with it: its messages are in the queue all the same
 * lost     a message that the queue never had, or forgot
 * late     told in the epoch before: the worker had not heard of the new one
 * bare     a message without a state, which is asked for
 */
import fc from 'fast-check'
import type { Entitlement, EntitlementState } from '../../../../src/entitlement/rules/state.js'
import type { FetchState } from '../../../../src/updates/external-cache/apply.js'
import type { ChangeMessage } from '../../../../src/updates/wire/change-message.js'
import type { HeartbeatMessage, QueueMessage } from '../../../../src/updates/wire/queue-message.js'
import { boolean, message, metered, state, stateMessage, usage, usageMessage } from '../../../contract/cache/held.js'

type Happening =
  /** `ofAll`: its resource is told, too, and else is not heard of. */
  | { type: 'access'; featureIds: string[]; ofAll: boolean }
  | { type: 'usage'; featureId: string; value: number; ofResource: boolean }
  | { type: 'rebuild' | 'purge' | 'package' | 'heartbeat' }
  /** A new epoch. `undone`: how many of the last instants. `atOnce`: in the same instant as what happened last. */
  | { type: 'failover'; undone: number; atOnce: boolean }

interface Told {
  happening: Happening
  isLost: boolean
  isLate: boolean
  isBare: boolean
}

const features = ['calls', 'seats', 'sso']
const seldom = fc.nat(7).map((n) => n === 0)
const happening: fc.Arbitrary<Happening> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constant('access' as const), featureIds: fc.subarray(features), ofAll: seldom.map((is) => !is) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('usage' as const),
      featureId: fc.constantFrom('calls', 'seats'),
      value: fc.nat(9),
      ofResource: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constantFrom(
        'rebuild' as const,
        'rebuild' as const,
        'purge' as const,
        'package' as const,
        'heartbeat' as const,
        'heartbeat' as const,
      ),
    }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('failover' as const), undone: fc.nat(4), atOnce: fc.boolean() }) },
)

export const resources = [null, 'site-1'] as const
type Truth = readonly [EntitlementState, EntitlementState]

export interface History {
  /** In the order in which they were told, but for those that are lost. */
  messages: QueueMessage[]
  /** What the platform answers from each instant on. */
  truths: { at: number; truth: Truth }[]
  /** The last of the last epoch. */
  heartbeat: HeartbeatMessage
  /** Told in the last epoch and not lost: what every cache must hold at the end, if only one. */
  mustHold: [boolean, boolean]
}

/** Room for what is before everything. */
const beginning = 100
const periodEnd = 4_000_000_000_000

/** Plays a history as the platform does. */
function play(events: readonly Told[]): History {
  const epochs = [beginning]
  const sequences = new Map<number, number>()
  const common = { v: 1, id: 'm', environmentId: 'environment' } as const
  const messages: QueueMessage[] = [{ ...common, kind: 'reload', epoch: beginning, timestamp: beginning }]
  const nothing = (deniedReason: EntitlementState['deniedReason'], version: number): Truth => [
    state(version, [], { deniedReason }),
    state(version, [], { deniedReason, resourceId: 'site-1' }),
  ]
  let truths: History['truths'] = [{ at: 0, truth: nothing('NoActiveSubscription', 0) }]
  let mustHold: History['mustHold'] = [false, false]

  const tell = (change: ChangeMessage, { isLost, isLate, isBare }: Told) => {
    const epoch = (isLate ? epochs.at(-2) : undefined) ?? epochs.at(-1)!
    const sequence = (sequences.get(epoch) ?? 0) + 1
    sequences.set(epoch, sequence)
    // What is told late is told all the same: nobody would miss it.
    if (isLost && !(isLate && epochs.length > 1)) return false
    const { state: _state, usage: _usage, ...bare } = change
    const isAsked = isBare && (change.kind === 'entitlements' || change.kind === 'usage')
    messages.push({ ...(isAsked ? bare : change), epoch, sequence })
    return epoch === epochs.at(-1)
  }
  const now = () => truths.at(-1)!.truth
  const tellStates = (told: Told, of: readonly (0 | 1)[] = [0, 1]) => {
    for (const which of of) if (tell(stateMessage(now()[which]), told)) mustHold[which] = true
  }
  const beat = (at: number): HeartbeatMessage => {
    const epoch = epochs.at(-1)!
    return { ...common, kind: 'heartbeat', epoch, sequence: sequences.get(epoch) ?? 0, asOf: at, timestamp: at }
  }

  let at = beginning
  for (const told of events) {
    at += 1
    const event = told.happening
    const isHeld = now()[0].deniedReason === null
    if (event.type === 'package') tell(message('package', at, { customerId: '' }), told)
    else if (event.type === 'heartbeat') messages.push(beat(at))
    else if (event.type === 'failover') {
      const epoch = Math.max(event.atOnce ? at - 1 : at, epochs.at(-1)! + 1)
      const last = at - 1 - event.undone
      truths = truths.filter((one) => one.at <= last)
      // Known to nobody before: whoever asks from now on is answered so.
      truths.push({ at: epoch, truth: now() })
      epochs.push(epoch)
      at = Math.max(at, epoch)
      messages.push({ ...common, kind: 'reload', epoch, timestamp: epoch })
      mustHold = [false, false]
    } else if (event.type === 'purge') {
      truths.push({ at, truth: nothing('CustomerIsArchived', at) })
      tell({ ...message('purge', at), state: now()[0] }, told)
      mustHold = [false, false]
    } else if (event.type === 'access') {
      const held = (resourceId: string | null) =>
        // Usage starts again, as on a change of plan.
        state(
          at,
          event.featureIds.map((refId) => (refId === 'sso' ? boolean(refId) : metered(refId, usage(0, at, { periodEnd })))),
          { resourceId },
        )
      truths.push({ at, truth: [held(null), held('site-1')] })
      mustHold = [false, false]
      tellStates(told, event.ofAll ? [0, 1] : [0])
    } else if (isHeld && event.type === 'rebuild') tellStates(told)
    else if (isHeld && event.type === 'usage') {
      const which = event.ofResource ? 1 : 0
      const of = now()[which]
      const found = of.entitlements.find(({ feature }) => feature.refId === event.featureId)
      if (found) {
        const counted = usage(event.value, at, { periodEnd })
        const entitlements = of.entitlements.map((one): Entitlement => (one === found ? { ...one, usage: counted } : one))
        const changed = { ...of, version: at, entitlements }
        truths.push({ at, truth: which === 0 ? [changed, now()[1]] : [now()[0], changed] })
        tell(usageMessage(event.featureId, counted, resources[which]), told)
      }
    }
  }
  return { messages, truths, heartbeat: beat(at + 1), mustHold }
}

/** The platform, as it answers while the queue is read: as of any instant that is not before the version that is asked for. */
export function platformOf({ truths }: History, lateness: readonly number[]): FetchState {
  let asked = 0
  return async ({ resourceId }, version) => {
    const first = Math.max(
      0,
      truths.findLastIndex(({ at }) => at <= version),
    )
    const late = lateness[asked++ % lateness.length]!
    return truths[Math.min(first + late, truths.length - 1)]!.truth[resourceId === null ? 0 : 1]
  }
}

/** A history, its messages in any order with some of them again, and how late the platform answers. */
export const anyTelling = fc
  .array(fc.record({ happening, isLost: seldom, isLate: seldom, isBare: seldom }), { minLength: 1, maxLength: 14 })
  .map(play)
  .chain((history) =>
    fc.record({
      history: fc.constant(history),
      all: fc.shuffledSubarray(history.messages, { minLength: history.messages.length }),
      again: fc.shuffledSubarray(history.messages),
      lateness: fc.array(fc.nat(4), { minLength: 1, maxLength: 4 }),
    }),
  )
