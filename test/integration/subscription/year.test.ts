import { readFileSync, writeFileSync } from 'node:fs'
import { expect } from 'chai'
import { findInvoices } from '../../../src/billing/records/invoices.js'
import type { Invoice } from '../../../src/billing/rules/billing.js'
import * as decimal from '../../../src/kernel/decimal.js'
import type { Subscription } from '../../../src/subscription/rules/subscription.js'
import { invoiceTable } from '../billing/invoice-tables.js'
import { type Bench, openBench } from './fixture.js'
import { seatsCatalog } from './seats-catalog.js'

const page = 'src/web/docs/subscription-year.md'
const [begins, ends] = ['<!-- the year: written by test/integration/subscription/year.test.ts -->', '<!-- end of the year -->']

/** Far enough from now that a test clock can be set to it whenever this runs. */
const at = (text: string) => Date.parse(`2044-${text}`)
const seats = (quantity: number) => [{ featureRefId: 'seats', quantity: decimal.fromNumber(quantity) }]

describe('the worked example of a year', () => {
  let bench: Bench
  let environmentId: string
  const rows: string[][] = []

  before(async () => {
    bench = await openBench()
    environmentId = await bench.createEnvironment({ isTest: true, catalog: seatsCatalog(2) })
  })
  after(async () => expect(await bench.close()).to.deep.equal([]))

  it('is what the code does on a test clock, line by line (UPDATE_DOCS=1 writes it)', async () => {
    const { cancellations, customers, subscriptionReads, subscriptions, subscriptionChanges, testClocks } = bench
    const update = (change: Omit<Parameters<typeof subscriptionChanges.update>[1], 'subscriptionRefId'>) =>
      subscriptionChanges.update(environmentId, { subscriptionRefId: 'desk-1', ...change })

    await testClocks.create(environmentId, at('01-17T10:00:00Z'))
    await customers.provision(environmentId, { refId: 'acme' })
    await subscriptions.provision(environmentId, {
      customerRefId: 'acme',
      subscriptionRefId: 'desk-1',
      planRefId: 'plus',
      quantities: seats(10),
    })
    await note('`provisionSubscriptionV2` of plan plus with 10 seats: a first trial of the product')
    await goTo('01-31T10:00:00Z')
    await note('the trial is over and converts: billing is counted from here')
    await goTo('02-29T10:00:00Z')
    await note('first renewal, on the last day of February')
    await goTo('03-12T15:30:00Z')
    await update({ quantities: seats(14) })
    await note('`updateOneSubscription` to 14 seats: more is at once')
    await goTo('03-20T08:00:00Z')
    await update({ quantities: seats(12) })
    await note('`updateOneSubscription` to 12 seats: less waits for the end of the period')
    await goTo('03-31T10:00:00Z')
    await note('the 31st is back; the smaller number of seats takes effect, then the period is renewed')
    await goTo('05-10T09:00:00Z')
    await subscriptions.provision(environmentId, {
      customerRefId: 'acme',
      subscriptionRefId: 'desk-2',
      planRefId: 'max',
      quantities: seats(12),
    })
    await note('`provisionSubscriptionV2` of plan max: an upgrade is at once, in a new subscription', ['desk-1', 'desk-2'])
    await goTo('07-02T12:00:00Z')
    await subscriptions.provision(environmentId, { customerRefId: 'acme', planRefId: 'plus', quantities: seats(8) })
    await note('`provisionSubscriptionV2` of plan plus: a downgrade waits on the current subscription', ['desk-2'])
    await goTo('07-10T09:00:00Z')
    await note('the downgrade takes effect; the subscription keeps its name', ['desk-2'])
    await bench.catalog.apply(environmentId, seatsCatalog(9), { dryRun: false, archiveMissing: false })
    await goTo('08-01T00:00:00Z')
    await note('plan plus was published anew with 9 seats: the subscription keeps its version', ['desk-2'])
    await subscriptionChanges.migrateToLatest(environmentId, 'desk-2', 'END_OF_BILLING_PERIOD')
    await note('`migrateSubscriptionToLatest` at the end of the billing period', ['desk-2'])
    await goTo('08-10T09:00:00Z')
    await note('moved to the latest version', ['desk-2'])
    await goTo('10-20T18:45:00Z')
    await cancellations.cancel(environmentId, { subscriptionRefId: 'desk-2' })
    await note('`cancelSubscription`: the product says at the end of the period', ['desk-2'])
    await goTo('10-28T09:15:00Z')
    await subscriptionChanges.update(environmentId, { subscriptionRefId: 'desk-2', cancellationDate: null })
    await note('`updateOneSubscription` with `cancellationDate: null` takes it back', ['desk-2'])
    await goTo('11-25T11:00:00Z')
    await cancellations.cancel(environmentId, { subscriptionRefId: 'desk-2' })
    await note('`cancelSubscription` once more', ['desk-2'])
    await goTo('12-10T09:00:00Z')
    await note('it ends, and the free plan follows in the same instant', ['desk-2', null])

    const renewals = await bench.prisma.subscriptionRenewal.count({ where: { environmentId } })
    const table = [
      ['instant', 'what happens', 'subscription', 'state', 'seats', 'billing period ends', 'waiting', 'calls', 'seat limit'],
      ...rows,
    ]
    const invoices = []
    for (const name of ['desk-1', 'desk-2']) {
      const { id } = await subscriptionReads.get(environmentId, name)
      for (const invoice of await findInvoices(bench.prisma, environmentId, [id])) invoices.push({ name, invoice })
    }
    const written = [
      toMarkdown(table),
      `${renewals} renewals were recorded, each once.`,
      '## Its invoices',
      `The same year in money: ${invoices.length} invoices, which add up to ${totalOf(invoices)} USD. Of the trial and of the free plan there is none.`,
      toMarkdown(invoiceTable(invoices)),
    ].join('\n\n')
    const text = readFileSync(page, 'utf8')
    const [head, rest] = text.split(begins) as [string, string]
    const [shown, tail] = rest.split(ends) as [string, string]
    if (process.env.UPDATE_DOCS) writeFileSync(page, `${head}${begins}\n\n${written}\n\n${ends}${tail}`)
    else expect(shown.trim()).to.equal(written)
  })

  const goTo = (text: string) => bench.testClocks.advance(environmentId, at(text))

  /** A line for each named subscription; null: the one that nobody named. */
  async function note(what: string, names: (string | null)[] = ['desk-1']): Promise<void> {
    const now = (await bench.testClocks.find(environmentId))!.now
    const active = await bench.subscriptionReads.active(environmentId, { customerRefId: 'acme' })
    const { entitlements } = await bench.entitlements.state(environmentId, 'acme', null)
    const limit = (refId: string) => entitlements.find(({ feature }) => feature.refId === refId)?.usageLimit ?? '–'
    for (const [index, name] of names.entries()) {
      const subscription = name === null ? active[0]! : await bench.subscriptionReads.get(environmentId, name)
      const isLast = index === names.length - 1
      rows.push([
        index === 0 ? shown(now) : '',
        index === 0 ? what : '',
        name ?? '(free)',
        stateOf(subscription),
        subscription.quantities.map(({ quantity }) => quantity).join() || '–',
        subscription.currentPeriod && subscription.status === 'ACTIVE' ? shown(subscription.currentPeriod.end) : '–',
        waitingOf(subscription),
        isLast ? limit('calls') : '',
        isLast ? limit('seats') : '',
      ])
    }
  }
})

const shown = (ms: number) => new Date(ms).toISOString().replace('T', ' ').slice(0, 16)

function stateOf({ plan, status, cancelReason, trialEndDate }: Subscription): string {
  const detail = cancelReason ? ` (${cancelReason})` : status === 'IN_TRIAL' ? ` until ${shown(trialEndDate!)}` : ''
  return `${plan.refId} v${plan.versionNumber}, ${status}${detail}`
}

function waitingOf({ scheduled, status, effectiveEndDate }: Subscription): string {
  const waiting = scheduled.map(({ change, executeAt }) => `${change.type} at ${shown(executeAt)}`)
  if (status === 'ACTIVE' && effectiveEndDate !== null) waiting.push(`cancellation at ${shown(effectiveEndDate)}`)
  return waiting.join(', ') || '–'
}

const totalOf = (invoices: { invoice: Invoice }[]) => invoices.reduce((sum, { invoice }) => decimal.add(sum, invoice.total), decimal.zero)

const toMarkdown = ([head, ...body]: string[][]) =>
  [head!, head!.map(() => '---'), ...body].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
