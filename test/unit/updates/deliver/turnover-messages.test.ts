import { expect } from 'chai'
import type { Entitlement, EntitlementState } from '../../../../src/entitlement/rules/state.js'
import { fromText } from '../../../../src/kernel/decimal.js'
import { turnoverMessages } from '../../../../src/updates/deliver/change-messages.js'

const held = (refId: string, periodStart: number | null, currentUsage = '0', updatedAt = 50): Entitlement =>
  ({
    feature: { refId },
    usage: { currentUsage: fromText(currentUsage), periodStart, periodEnd: periodStart === null ? null : periodStart + 100, updatedAt },
  }) as Entitlement
const state = (...entitlements: Entitlement[]) =>
  ({ environmentId: 'e', customerId: 'acme', resourceId: null, version: 50, accessVersion: 40, entitlements }) as EntitlementState

describe('messages of usage periods that have ended', () => {
  for (const [what, entitlement, told] of [
    ['a period that begins at the end', held('calls', 100), { updatedAt: 100 }],
    ['a later one, when the end is long past', held('calls', 300), { updatedAt: 300 }],
    ['one with usage already', held('calls', 100, '2', 130), { updatedAt: 130 }],
    ['a period that began before the end', held('calls', 99), null],
    ['usage that is never reset', held('calls', null), null],
    ['another feature', held('images', 100), null],
    ['a feature without usage', { ...held('calls', 100), usage: null }, null],
  ] as [string, Entitlement, { updatedAt: number } | null][])
    it(`tell ${told ? '' : 'nothing of '}${what}`, () => {
      const messages = turnoverMessages(state(entitlement), [{ featureId: 'calls', endedAt: 100 }])
      expect(messages.map(({ kind, version, usage }) => [kind, version, usage?.usage.updatedAt, usage?.entitlement?.usage])).to.deep.equal(
        told ? [['usage', told.updatedAt, told.updatedAt, { ...entitlement.usage, ...told }]] : [],
      )
    })
})
