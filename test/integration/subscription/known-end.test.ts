import { expect } from 'chai'
import type { Column } from '../../../src/platform/list/columns.js'
import { Prisma } from '../../../src/platform/postgres.js'
import { subscriptionColumns } from '../../../src/subscription/records/list-columns.js'
import { knownEnd, type SubscriptionStatus, subscriptionStatuses } from '../../../src/subscription/rules/subscription.js'
import { subscription } from '../../unit/subscription/support.js'
import { type Bench, openBench } from './fixture.js'

describe('lists are filtered by the end that is answered', () => {
  let bench: Bench

  before(async () => {
    bench = await openBench()
  })
  after(async () => expect(await bench.close()).to.deep.equal([]))

  it('for every status and every order of cancellation, end date and trial', async () => {
    const instants = [null, 1_000, 2_000, 3_000]
    const all = subscriptionStatuses.flatMap((status: SubscriptionStatus) =>
      instants.flatMap((effectiveEndDate) =>
        instants.flatMap((endDate) =>
          instants.flatMap((trialEndDate) =>
            (trialEndDate === null ? [null] : (['CONVERT_TO_PAID', 'CANCEL_SUBSCRIPTION'] as const)).map((trialEndBehavior) =>
              subscription({ status, effectiveEndDate, endDate, trialEndDate, trialEndBehavior }),
            ),
          ),
        ),
      ),
    )
    const times = (values: (number | null)[]) => values.map((value) => (value === null ? null : new Date(value)))
    const { sql } = subscriptionColumns.effectiveEndDate as Column
    const rows = await bench.prisma.$queryRaw<{ end: Date | null }[]>(Prisma.sql`
      SELECT ${sql} AS end
      FROM unnest(
        ${all.map(({ status }) => status)}::text[], ${times(all.map(({ effectiveEndDate }) => effectiveEndDate))}::timestamptz[],
        ${times(all.map(({ endDate }) => endDate))}::timestamptz[], ${times(all.map(({ trialEndDate }) => trialEndDate))}::timestamptz[],
        ${all.map(({ trialEndBehavior }) => trialEndBehavior)}::text[]
      ) WITH ORDINALITY AS subscription (status, effective_end_date, end_date, trial_end_date, trial_end_behavior, n) ORDER BY n`)
    expect(rows.map(({ end }) => end?.getTime() ?? null)).to.deep.equal(all.map(knownEnd))
  })
})
