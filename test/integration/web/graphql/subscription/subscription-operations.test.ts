import { expect } from 'chai'
import { seatsCatalog } from '../../../subscription/seats-catalog.js'
import { type FrontDoor, openFrontDoor } from '../../front-door.js'

const start = '2044-01-31T09:00:00.000Z'

/** A time that one second belongs to: requests take some milliseconds of it. */
const second = (time: unknown) => String(time).slice(0, 19)

describe('subscriptions over GraphQL', () => {
  let door: FrontDoor
  let key = ''

  before(async () => {
    door = await openFrontDoor()
    const { environment } = await door.app.environments.create({ refId: 'subscriptions', isTest: true })
    await door.app.catalog.apply(environment.id, seatsCatalog(), { dryRun: false, archiveMissing: false })
    const created = await door.app.environments.createKey({ environment: 'subscriptions', kind: 'SERVER', name: 'test', expiresAt: null })
    key = created.key
  })
  after(async () => expect(await door.close()).to.deep.equal([]))

  type Answer = Record<string, unknown>
  const ask = async (query: string, variables: object = {}) => {
    const { data, errors } = await door.ask<Record<string, Answer>>(query, variables, { 'x-api-key': key })
    return { answer: data ? Object.values(data)[0]! : null, code: errors?.[0]?.extensions.code ?? null, message: errors?.[0]?.message }
  }
  const mutate = (operation: string, type: string, input: object, selection = '', argument = 'input') =>
    ask(`mutation ($input: ${type}!) { ${operation}(${argument}: $input) ${selection} }`, { input })
  const facts =
    '{ subscriptionId status pricingType plan { refId versionNumber } resource { resourceId } payingCustomerId currentBillingPeriodEnd effectiveEndDate cancelReason billingId crmId additionalMetaData addons { quantity addon { refId } } scheduledUpdates { scheduleStatus scheduledExecutionTime subscriptionScheduleType targetPackage { refId } scheduleVariables { __typename ... on UnitAmountChangeVariables { featureId newUnitAmount } ... on DowngradeChangeVariables { downgradePlanRefId } } } }'
  const update = (input: object) => mutate('updateOneSubscription', 'UpdateSubscriptionInput', { subscriptionId: 'sub', ...input }, facts)
  const advance = (frozenTime: string) => mutate('advanceTestClock', 'TestClockInput', { frozenTime }, '{ frozenTime }')

  it('live on a test clock that is made and moved on', async () => {
    expect((await ask('{ testClock { frozenTime } }')).answer).to.equal(null)
    expect((await mutate('createTestClock', 'TestClockInput', { frozenTime: start }, '{ frozenTime }')).answer).to.deep.equal({
      frozenTime: start,
    })
    expect((await mutate('createTestClock', 'TestClockInput', { frozenTime: start }, '{ frozenTime }')).code).to.equal(
      'DuplicatedEntityNotAllowed',
    )
    expect((await advance('2030-01-01T00:00:00Z')).code).to.equal('BadUserInput')
    expect((await ask('{ testClock { frozenTime } }')).answer).to.deep.equal({ frozenTime: start })
  })

  it('are made by every operation that makes one', async () => {
    for (const customerId of ['acme', 'beta', 'gamma', 'delta'])
      await mutate('provisionCustomer', 'ProvisionCustomerInput', { customerId }, '{ customer { refId } }')
    const input = {
      customerId: 'acme',
      planId: 'plus',
      subscriptionId: 'sub',
      billableFeatures: [{ featureId: 'seats', quantity: 10 }],
      skipTrial: true,
    }
    const made = await mutate('provisionSubscriptionV2', 'ProvisionSubscriptionInput', input, `{ status subscription ${facts} }`)
    expect(made.answer).to.deep.include({ status: 'SUCCESS' })
    const older = {
      customerId: 'beta',
      planId: 'plus',
      unitQuantity: 3,
      trialOverrideConfiguration: { isTrial: true, trialEndDate: '2044-02-10T00:00:00Z' },
    }
    const trial = await mutate('provisionSubscription', 'ProvisionSubscription', older, `{ subscription { status trialEndDate } }`)
    expect(trial.answer!.subscription).to.deep.equal({ status: 'IN_TRIAL', trialEndDate: '2044-02-10T00:00:00.000Z' })
    const applied = await mutate(
      'applySubscription',
      'ApplySubscriptionInput',
      {
        customerId: 'gamma',
        planId: 'plus',
        unitQuantity: 1,
        skipTrial: true,
        subscriptionEntitlements: [{ featureId: 'calls', usageLimit: 77 }],
      },
      '{ subscription { status } entitlements { usageLimit feature { refId } } }',
    )
    expect(applied.answer).to.deep.equal({
      subscription: { status: 'ACTIVE' },
      entitlements: [
        { usageLimit: 77, feature: { refId: 'calls' } },
        { usageLimit: 100, feature: { refId: 'seats' } },
      ],
    })
    const oldest = { customerId: 'delta', planId: 'solo', subscriptionId: 'term', endDate: '2045-01-01T00:00:00Z', crmId: 'crm-1' }
    const created = await mutate('createSubscription', 'SubscriptionInput', oldest, '{ status endDate crmId }', 'subscription')
    expect(created.answer).to.deep.equal({ status: 'ACTIVE', endDate: '2045-01-01T00:00:00.000Z', crmId: 'crm-1' })
  })

  it('change, wait, and are taken back', async () => {
    const more = await update({ addons: [{ addonId: 'more', quantity: 2 }], additionalMetaData: { a: 1 } })
    expect(more.answer).to.deep.include({ addons: [{ quantity: 2, addon: { refId: 'more' } }], additionalMetaData: { a: 1 } })
    const fewer = await update({ charges: [{ type: 'FEATURE', id: 'seats', quantity: 4 }] })
    expect(fewer.code).to.equal(null)
    const [waiting, ...others] = fewer.answer!.scheduledUpdates as [Answer]
    expect(others).to.deep.equal([])
    expect(waiting).to.deep.include({
      scheduleStatus: 'Scheduled',
      subscriptionScheduleType: 'UnitAmount',
      scheduleVariables: { __typename: 'UnitAmountChangeVariables', featureId: 'seats', newUnitAmount: 4 },
    })
    expect(second(waiting.scheduledExecutionTime)).to.equal(second(fewer.answer!.currentBillingPeriodEnd))
    const cheaper = { customerId: 'acme', planId: 'solo' }
    const downgrade = await mutate(
      'provisionSubscriptionV2',
      'ProvisionSubscriptionInput',
      cheaper,
      `{ isScheduled subscription ${facts} }`,
    )
    expect(downgrade.answer).to.deep.include({ isScheduled: true })
    expect(downgrade.answer!.subscription).to.deep.include({ subscriptionId: 'sub' })
    const [only] = (downgrade.answer!.subscription as Answer).scheduledUpdates as [Answer]
    expect(only).to.deep.include({
      targetPackage: { refId: 'solo' },
      scheduleVariables: { __typename: 'DowngradeChangeVariables', downgradePlanRefId: 'solo' },
    })
    const cancelSchedule = await mutate('cancelSchedule', 'SubscriptionUpdateScheduleCancellationInput', { subscriptionId: 'sub' })
    expect(cancelSchedule.answer).to.equal('sub')
    const read = await ask(`query { getSubscription(input: { subscriptionId: "sub" }) ${facts} }`)
    expect(read.answer).to.deep.include({ scheduledUpdates: [] })
  })

  it('are refused with the codes that clients know', async () => {
    expect((await update({ subscriptionId: 'nobody' })).code).to.equal('SubscriptionNotFound')
    expect((await update({ addons: [{ addonId: 'most' }] })).code).to.equal('IncompatibleSubscriptionAddon')
    expect((await update({ trialEndDate: '2044-09-01T00:00:00Z' })).code).to.equal('InvalidSubscriptionStatus')
    expect((await update({ charges: [{ type: 'CREDIT', id: 'x', quantity: 1 }] })).code).to.equal('BadUserInput')
    const migrate = { subscriptionId: 'sub' }
    expect((await mutate('migrateSubscriptionToLatest', 'SubscriptionMigrationInput', migrate, facts)).code).to.equal(
      'SubscriptionAlreadyOnLatestPlanError',
    )
  })

  it('move to the latest version, and everybody does when it was published for all', async () => {
    await applyCatalog(seatsCatalog(150, 'ALL_CUSTOMERS'))
    const migrated = await mutate(
      'migrateSubscriptionToLatest',
      'SubscriptionMigrationInput',
      { subscriptionId: 'sub', subscriptionMigrationTime: 'IMMEDIATE' },
      facts,
    )
    expect(migrated.answer).to.deep.include({ plan: { refId: 'plus', versionNumber: 2 } })
    const progress = await ask('{ packageMigrations { packageRefId versionNumber migrated finishedAt } }')
    expect(progress.answer).to.deep.equal([{ packageRefId: 'plus', versionNumber: 2, migrated: 0, finishedAt: null }])
  })

  it('are transferred and delegated', async () => {
    const bound = await mutate(
      'transferSubscriptionToResource',
      'TransferSubscriptionToResourceInput',
      { subscriptionId: 'sub', destinationResourceId: 'r1' },
      facts,
    )
    expect(bound.answer).to.deep.include({ resource: { resourceId: 'r1' } })
    const transfer = { customerId: 'acme', sourceResourceId: 'r1', destinationResourceId: 'r2' }
    expect((await mutate('transferSubscription', 'TransferSubscriptionInput', transfer, facts)).answer).to.deep.include({
      resource: { resourceId: 'r2' },
    })
    const paidBy = (destinationCustomerId: string | null) =>
      mutate(
        'delegateSubscriptionToCustomer',
        'DelegateSubscriptionToCustomerInput',
        { subscriptionId: 'sub', destinationCustomerId },
        facts,
      )
    expect((await paidBy('beta')).answer).to.deep.include({ payingCustomerId: 'beta' })
    expect((await paidBy(null)).answer).to.deep.include({ payingCustomerId: null })
  })

  it('end when their time on the clock has come, and the free plan follows', async () => {
    const cancel = await mutate('cancelSubscription', 'SubscriptionCancellationInput', { subscriptionRefId: 'sub' }, facts)
    expect(cancel.answer).to.deep.include({ status: 'ACTIVE', cancelReason: null })
    expect(second(cancel.answer!.effectiveEndDate)).to.equal('2044-02-29T09:00:00')
    expect((await advance('2044-03-01T00:00:00Z')).code).to.equal(null)
    const ended = await ask(`query { getSubscription(input: { subscriptionId: "sub" }) ${facts} }`)
    expect(ended.answer).to.deep.include({ status: 'CANCELED', cancelReason: 'ScheduledCancellation' })
    expect((await update({ billableFeatures: [] })).code).to.equal('SubscriptionAlreadyCanceledOrExpired')
    const active = await ask('query { getActiveSubscriptions(input: { customerId: "acme", resourceId: "r2" }) { plan { refId } } }')
    expect(active.answer).to.deep.equal([{ plan: { refId: 'solo' } }])
  })

  it('are imported in the background', async () => {
    const subscriptions = [
      { customerId: 'acme', planId: 'plus', subscriptionId: 'old', resourceId: 'r7', startDate: '2043-05-31T00:00:00Z', billingId: 'b-7' },
    ]
    const started = await mutate('importSubscriptionsBulk', 'ImportSubscriptionsBulkInput', { subscriptions })
    const job = await ask('query ($id: String!) { importJob(input: { id: $id }) { total done failed } }', { id: started.answer })
    expect(job.answer).to.deep.equal({ total: 1, done: 0, failed: 0 })
  })

  const applyCatalog = (input: string) => ask('mutation ($input: JSON!) { applyCatalog(input: $input) { refId } }', { input })
})
