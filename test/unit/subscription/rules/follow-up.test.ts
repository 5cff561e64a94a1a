import { expect } from 'chai'
import * as decimal from '../../../../src/kernel/decimal.js'
import { freeFollowUp } from '../../../../src/subscription/rules/follow-up.js'
import { apply, type Trigger } from '../../../../src/subscription/rules/lifecycle.js'
import type { Subscription } from '../../../../src/subscription/rules/subscription.js'
import { addon, day, downgrading, freePlan, held, product, subscription, t0, top, trial } from '../support.js'

const at = t0 + 9 * day
const resource = { id: 'r', refId: 'r' }

/** What follows when the subscription ends so. */
function followUp(before: Subscription, trigger: Trigger, others: Subscription[] = []): Subscription | null {
  const after = apply(before, trigger, at)
  return freeFollowUp({ before, after }, [after, ...others])
}

describe('the free subscription that follows an end', () => {
  it('keeps who holds it and what of, and nothing that was agreed or paid for the one that ended', () => {
    const ended = trial({
      product: downgrading,
      plan: top,
      resource,
      payingCustomerId: 'parent',
      timeZone: 'Europe/Berlin',
      billingCountryCode: 'DE',
      addons: [held(addon('extra'))],
      quantities: [{ featureId: 'seats', featureRefId: 'seats', quantity: decimal.fromNumber(3) }],
      ownEntitlements: [
        {
          id: 'own',
          featureId: 'seats',
          usageLimit: null,
          hasUnlimitedUsage: true,
          hasSoftLimit: false,
          enumValues: [],
          resetPeriod: null,
          resetRule: null,
        },
      ],
      endDate: at + day,
      currentPeriod: { start: t0, end: at + day },
      budget: { limit: decimal.fromNumber(5), hasSoftLimit: false },
      entitlementsRevokedAt: t0,
      awaitsPayment: true,
      paymentCollection: 'FAILED',
      additionalMetaData: { a: 1 },
      billingId: 'b',
      crmId: 'c',
      salesforceId: 's',
    })
    const free = followUp(ended, 'trialEnd')!
    expect(free.refId).to.equal(free.id)
    expect(free).to.deep.equal({
      ...subscription({ id: free.id, startDate: at, product: downgrading, plan: freePlan, resource }),
      timeZone: 'Europe/Berlin',
      billingCountryCode: 'DE',
    })
  })

  const ending = subscription({ product: downgrading })
  const cases: [name: string, before: Subscription, trigger: Trigger, others: Subscription[], follows: boolean][] = [
    ['an end of its term', ending, 'endDate', [], true],
    ['a cancellation at once', ending, 'cancel', [], true],
    ['one that billing brought about', ending, 'collectionFailed', [], true],
    ['the end of a trial', trial({ product: downgrading }), 'trialEnd', [], true],
    ['a replacement', ending, 'replace', [], false],
    ['a trial that became paid', trial({ product: downgrading }), 'trialReplaced', [], false],
    ['an archived customer', ending, 'archive', [], false],
    ['a payment that never came', { ...ending, status: 'PAYMENT_PENDING' }, 'paymentDeadline', [], false],
    ['a first payment that nobody wants any more', { ...ending, status: 'PAYMENT_PENDING' }, 'cancel', [], false],
    ['the free plan itself', { ...ending, plan: freePlan }, 'cancel', [], false],
    ['an end in a product that ends with it', subscription(), 'cancel', [], false],
    ['an end where no plan is named', subscription({ product: product({ endSetting: 'DOWNGRADE_TO_FREE' }) }), 'cancel', [], false],
    ['an end where a plan is named for nothing', subscription({ product: product({ downgradePlan: freePlan }) }), 'cancel', [], false],
    ['an end beside an active one', ending, 'cancel', [{ ...ending, id: 'other' }], false],
    ['an end beside one that has ended', ending, 'cancel', [{ ...ending, id: 'other', status: 'EXPIRED' }], true],
    ['an end beside one that waits for its payment', ending, 'cancel', [{ ...ending, id: 'other', status: 'PAYMENT_PENDING' }], true],
    ['an end before the next one begins', ending, 'cancel', [{ ...ending, id: 'other', status: 'NOT_STARTED', startDate: at + 1 }], true],
    ['an end when the next one begins', ending, 'cancel', [{ ...ending, id: 'other', status: 'NOT_STARTED', startDate: at }], false],
    ['the end of a resource’s beside its other one', { ...ending, resource }, 'cancel', [{ ...ending, id: 'other', resource }], false],
    ['the end of the customer’s own beside a resource’s', ending, 'cancel', [{ ...ending, id: 'other', resource }], true],
  ]
  it('comes after one that is still remembered as it was before', () => {
    const after = apply(ending, 'cancel', at)
    expect(freeFollowUp({ before: ending, after }, [ending]) !== null).to.equal(true)
  })

  it('comes after nothing that has no end', () => {
    expect(freeFollowUp({ before: ending, after: ending }, [])).to.equal(null)
  })

  for (const [name, before, trigger, others, follows] of cases)
    it(`${follows ? 'comes after' : 'does not come after'} ${name}`, () =>
      expect(followUp(before, trigger, others) !== null).to.equal(follows))
})
