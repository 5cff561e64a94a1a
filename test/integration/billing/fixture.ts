import { findInvoices } from '../../../src/billing/records/invoices.js'
import type { Invoice } from '../../../src/billing/rules/billing.js'
import * as decimal from '../../../src/kernel/decimal.js'
import { addMeasurementsToRollups } from '../../../src/metering/counting/rollup-repository.js'
import type { Bench } from '../subscription/fixture.js'

export { type Bench, openBench, reasonOf } from '../subscription/fixture.js'

/** Plans in two currencies, with seats, calls in arrears, a trial and an add-on. */
export const catalog = `
features:
  - { refId: seats, type: NUMBER, meter: Fluctuating }
  - { refId: calls, type: NUMBER, meter: Incremental }
products:
  - refId: cloud
    settings: { endOfSubscription: DOWNGRADE_TO_FREE, downgradePlan: free }
plans:
  - { refId: free, product: cloud, entitlements: [{ feature: calls, limit: 10, resetPeriod: MONTH }] }
  - { refId: custom, product: cloud, pricingType: CUSTOM }
  - refId: team
    product: cloud
    compatibleAddons: [support]
    prices:
      - { billingModel: FLAT_FEE, billingPeriod: MONTHLY, currency: USD, amount: 30 }
      - { billingModel: FLAT_FEE, billingPeriod: ANNUALLY, currency: USD, amount: 300 }
      - { billingModel: PER_UNIT, billingPeriod: MONTHLY, currency: USD, amount: 12, feature: seats }
      - { billingModel: PER_UNIT, billingPeriod: ANNUALLY, currency: USD, amount: 120, feature: seats }
      - { billingModel: FLAT_FEE, billingPeriod: MONTHLY, currency: JPY, amount: 3000 }
      - { billingModel: PER_UNIT, billingPeriod: MONTHLY, currency: JPY, amount: 1200, feature: seats }
  - refId: business
    product: cloud
    compatibleAddons: [support]
    prices:
      - { billingModel: FLAT_FEE, billingPeriod: MONTHLY, currency: USD, amount: 100 }
      - { billingModel: PER_UNIT, billingPeriod: MONTHLY, currency: USD, amount: 20, feature: seats }
      - { billingModel: USAGE_BASED, billingPeriod: MONTHLY, currency: USD, amount: 0.0001, feature: calls }
  - refId: tried
    product: cloud
    defaultTrial: { duration: 14, units: DAY, endBehavior: CONVERT_TO_PAID }
    prices: [{ billingModel: FLAT_FEE, billingPeriod: MONTHLY, currency: USD, amount: 55.5 }]
addons:
  - refId: support
    product: cloud
    prices: [{ billingModel: FLAT_FEE, billingPeriod: MONTHLY, currency: USD, amount: 49.99 }]
coupons:
  - { refId: tenth, name: Ten percent, percentOff: 10 }
`

/** Far ahead of the real clock, so that the test clock rules every instant. */
export const start = Date.parse('2027-04-01T00:00:00Z')
export const at = (text: string): number => Date.parse(`${text}Z`)
export const units = (value: number) => decimal.fromNumber(value)

/** A test environment whose clock stands at `start`, with the customer acme. */
export async function newAcme(bench: Bench): Promise<string> {
  const environmentId = await bench.createEnvironment({ isTest: true, catalog })
  await bench.testClocks.create(environmentId, start)
  await bench.customers.provision(environmentId, { refId: 'acme' })
  return environmentId
}

/** Calls of a customer as if they had been reported and counted. */
export async function storeCalls(
  bench: Bench,
  environmentId: string,
  value: number,
  occurredAt: string,
  customerRefId = 'acme',
): Promise<void> {
  const customerId = (await bench.customers.get(environmentId, customerRefId))!.id
  const { id: featureId } = await bench.prisma.feature.findFirstOrThrow({ where: { environmentId, refId: 'calls' } })
  const from = at(occurredAt)
  const measured = { customerId, featureId, value, behavior: 'DELTA' as const, occurredAt: new Date(from) }
  await bench.prisma.usageMeasurement.create({ data: { environmentId, id: crypto.randomUUID(), ...measured } })
  await addMeasurementsToRollups(bench.pool, environmentId, [{ customerId, featureId, from, to: from + 1 }])
}

/** Of a subscription (our id) as they are mirrored, the oldest first. */
export async function invoicesOf(bench: Bench, environmentId: string, subscriptionId: string): Promise<Invoice[]> {
  return (await findInvoices(bench.prisma, environmentId, [subscriptionId])).reverse()
}

export const amounts = ({ lines }: Invoice) => lines.map(({ description, quantity, amount }) => [description, quantity, amount])
