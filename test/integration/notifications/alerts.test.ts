import { expect } from 'chai'
import { newId } from '../../../src/kernel/id.js'
import { Problem } from '../../../src/kernel/problem.js'
import { report, event as usageEvent } from '../metering/fixture.js'
import { type AlertBench, type AlertEnvironment, amount, openAlertBench, share, type ToldEvent } from './alert-bench.js'

const day = 86_400_000

describe('alerts', function () {
  this.timeout(60_000)
  let bench: AlertBench
  let environment: AlertEnvironment

  before(async () => {
    bench = await openAlertBench()
  })
  beforeEach(() => open())
  after(async () => expect(await bench.close()).to.deep.equal([]))

  /** With the customer acme, of whom nothing is left to be told. */
  const open = async (options?: Parameters<AlertBench['openEnvironment']>[0]) => {
    environment = await bench.openEnvironment(options)
    await provision('acme')
    await environment.news()
  }
  const provision = (refId: string, planRefId = 'free') =>
    bench.app.customers.provision(environment.id, { refId, subscription: { planRefId } })
  const change = (planRefId: string, more: object = {}) =>
    bench.app.subscriptions.provision(environment.id, { customerRefId: 'acme', planRefId, ...more })
  /** What was told of usage: type, threshold and usage. */
  const usageNews = async () =>
    (await environment.news())
      .filter(({ type }) => !type.startsWith('entitlements.'))
      .map(({ type, data }) => `${type} ${data.threshold.value} at ${data.currentUsage ?? data.spent}`)
  const crossings = async (filter: object = {}) =>
    (await bench.app.alerts.crossings(environment.id, filter, { first: 100 })).rows.map(({ item }) => item)

  it('tell once that a threshold was reached, with what was used', async () => {
    const alertId = await environment.createAlert({ thresholds: [share(80), share(100)] })
    await environment.use('acme', 7)
    expect(await environment.news()).to.deep.equal([])
    await environment.use('acme', 1)
    const [event] = await environment.news()
    expect(event).to.deep.include({ type: 'usage.threshold_reached' })
    expect(event!.data).to.deep.include({
      alertId,
      crossingId: event!.id,
      customerId: 'acme',
      resourceId: null,
      featureId: 'calls',
      currentUsage: '8',
      usageLimit: '10',
      threshold: { kind: 'SHARE', value: '80' },
    })
    await environment.use('acme', 1)
    expect(await usageNews(), 'it is known').to.deep.equal([])
    await environment.use('acme', 5)
    expect(await usageNews()).to.deep.equal(['usage.limit_reached 100 at 14'])
    expect((await crossings({ isReached: true })).map(({ alertId, usage, limit }) => ({ alertId, usage, limit }))).to.deep.equal([
      { alertId, usage: '14', limit: '10' },
      { alertId, usage: '8', limit: '10' },
    ])
  })

  it('tell again, with another id, when usage fell below the threshold by the hysteresis and rises anew', async () => {
    await environment.createAlert({ featureId: 'seats', thresholds: [share(80)], hysteresisPercent: 50 })
    const seats = (value: number) => environment.use('acme', value, { featureId: 'seats', behavior: 'SET' })
    const ids: string[] = []
    const told = async () => {
      const news = await environment.news()
      for (const { id, type } of news) if (type === 'usage.threshold_reached') ids.push(id)
      return news.map(({ type, data }) => `${type} ${data.currentUsage}`)
    }
    await seats(4)
    expect(await told()).to.deep.equal(['usage.threshold_reached 4'])
    await seats(2)
    expect(await told(), 'half of it is not below half of it').to.deep.equal([])
    await seats(5)
    expect(await told()).to.deep.equal([])
    await seats(1)
    expect(await told()).to.deep.equal(['usage.back_under 1'])
    await seats(4)
    expect(await told()).to.deep.equal(['usage.threshold_reached 4'])
    expect(new Set(ids).size).to.equal(2)
    expect((await crossings()).map(({ endReason }) => endReason)).to.deep.equal([null, 'BACK_UNDER'])
  })

  it('are right for seats that are given back, corrections, and events that come late or are removed', async () => {
    await environment.createAlert({ featureId: 'seats', thresholds: [amount(3)] })
    await environment.createAlert({ featureId: 'requests', thresholds: [share(50)] })
    await environment.use('acme', 3, { featureId: 'seats' })
    expect(await usageNews()).to.deep.equal(['usage.threshold_reached 3 at 3'])
    await environment.use('acme', -1, { featureId: 'seats' })
    expect(await usageNews()).to.deep.equal(['usage.back_under 3 at 2'])
    await bench.usage.report(environment.id, [report('acme', 2, { featureId: 'seats', idempotencyKey: 'two' })])
    expect(await usageNews()).to.deep.equal(['usage.threshold_reached 3 at 4'])
    await bench.usage.corrections.changeMeasurement(environment.id, { idempotencyKey: 'two' }, null)
    expect(await usageNews()).to.deep.equal(['usage.back_under 3 at 2'])

    const now = await bench.app.environments.now(environment.id)
    const send = async (count: number, timestamp: number | null) => {
      const events = Array.from({ length: count }, () => usageEvent('acme', newId(), { timestamp }))
      await bench.usage.reportEvents(environment.id, events)
      await counted()
      return events
    }
    await send(4, null)
    expect(await usageNews()).to.deep.equal([])
    await send(20, now - 30 * day)
    expect(await usageNews(), 'of a time before the plan').to.deep.equal([])
    const [last] = await send(1, null)
    expect(await usageNews()).to.deep.equal(['usage.threshold_reached 50 at 5'])
    const { eventName, idempotencyKey } = last!
    await bench.usage.corrections.changeEvent(
      environment.id,
      { customerId: 'acme', resourceId: null, eventName, idempotencyKey, timestamp: null },
      null,
    )
    expect(await usageNews()).to.deep.equal(['usage.back_under 50 at 4'])
  })
  const counted = async () => {
    for (let tries = 0; (await bench.prisma.pendingBatch.count({ where: { environmentId: environment.id } })) > 0; tries++) {
      if (tries > 500) throw new Error('events were not counted')
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }

  it('follow the limit: a higher one takes back what was reached, unlimited and 0 have no shares', async () => {
    await environment.createAlert({ thresholds: [share(80), share(100)] })
    await environment.createAlert({ featureId: 'seats', thresholds: [share(80), amount(5)] })
    await environment.use('acme', 10)
    expect(await usageNews()).to.deep.equal(['usage.threshold_reached 80 at 10', 'usage.limit_reached 100 at 10'])
    await change('team')
    // The plan begins its usage anew.
    expect(await usageNews()).to.deep.equal(['usage.reset 80 at 0', 'usage.reset 100 at 0'])
    await environment.use('acme', 95)
    expect(await usageNews()).to.deep.equal(['usage.threshold_reached 80 at 95'])
    await environment.use('acme', 4, { featureId: 'seats' })
    expect(await usageNews()).to.deep.equal(['usage.threshold_reached 80 at 4'])
    await change('endless')
    expect(await usageNews()).to.have.members(['usage.reset 80 at 0', 'usage.back_under 80 at 4'])
    await environment.use('acme', 5_000)
    await environment.use('acme', 1, { featureId: 'seats' })
    expect(await usageNews(), 'only the amount').to.deep.equal(['usage.threshold_reached 5 at 5'])
  })

  it('begin anew with the usage period, told by the clock of the environment', async () => {
    const begin = Date.UTC(2044, 0, 1)
    await open({ clockAt: begin })
    await environment.createAlert({})
    await environment.use('acme', 8)
    const [first] = await environment.news()
    expect(first).to.deep.include({ type: 'usage.threshold_reached' })
    await bench.app.testClocks.advance(environment.id, begin + 30 * day)
    expect(await usageNews()).to.deep.equal([])
    await bench.app.testClocks.advance(environment.id, begin + 31 * day)
    const [reset] = await environment.news()
    expect(reset).to.deep.include({ type: 'usage.reset' })
    expect(reset!.data).to.deep.include({ crossingId: first!.id, currentUsage: '0', periodStart: new Date(begin + 31 * day).toISOString() })
    await environment.use('acme', 9)
    const [again] = await environment.news()
    expect(again).to.deep.include({ type: 'usage.threshold_reached' })
    expect(again!.id).to.not.equal(first!.id)
    // Usage of a period that is over changes nothing of the one that runs.
    await environment.use('acme', 50, { timestamp: begin + 30 * day })
    expect(await usageNews()).to.deep.equal([])
  })

  it('are of each resource with a subscription of its own by itself', async () => {
    await environment.createAlert({ featureId: 'seats', thresholds: [share(100)] })
    for (const resourceRefId of ['one', 'two'])
      await bench.app.subscriptions.provision(environment.id, { customerRefId: 'acme', planRefId: 'room', resourceRefId })
    await environment.news()
    const told = async () =>
      (await environment.news()).map(({ type, data }) => `${type} ${data.resourceId} ${data.currentUsage} of ${data.usageLimit}`)
    await environment.use('acme', 4, { featureId: 'seats', resourceId: 'one' })
    expect(await told()).to.deep.equal([])
    // The customer, with five seats, has what both use.
    await environment.use('acme', 1, { featureId: 'seats', resourceId: 'two' })
    expect(await told()).to.deep.equal(['usage.limit_reached null 5 of 5'])
    await environment.use('acme', 16, { featureId: 'seats', resourceId: 'one' })
    expect(await told()).to.deep.equal(['usage.limit_reached one 20 of 20'])
    await environment.use('acme', 19, { featureId: 'seats', resourceId: 'two' })
    expect(await told()).to.deep.equal(['usage.limit_reached two 20 of 20'])
    expect((await crossings({ isReached: true })).map(({ resourceId }) => resourceId)).to.deep.equal(['two', 'one', null])
  })

  it('are for a plan, or for a customer', async () => {
    await provision('globex', 'team')
    const ofPlan = await environment.createAlert({ planId: 'team', thresholds: [amount(5)] })
    const ofCustomer = await environment.createAlert({ customerId: 'acme', thresholds: [amount(5)] })
    for (const customer of ['acme', 'globex']) await environment.use(customer, 6)
    const told = (await environment.news()).filter(({ type }) => type.startsWith('usage.'))
    expect(told.map(({ data }) => [data.customerId, data.alertId])).to.have.deep.members([
      ['acme', ofCustomer],
      ['globex', ofPlan],
    ])
  })

  it('end with what they watch: an archived customer tells nothing, and begins anew when it is back', async () => {
    await environment.createAlert({ featureId: 'seats', thresholds: [amount(2)] })
    await environment.use('acme', 3, { featureId: 'seats' })
    await environment.news()
    await bench.app.customers.archive(environment.id, 'acme')
    expect(await environment.types()).to.deep.equal(['entitlements.changed'])
    expect((await crossings()).map(({ endReason }) => endReason)).to.deep.equal(['NOT_HELD'])
    await bench.app.customers.unarchive(environment.id, 'acme')
    await change('free')
    expect(await environment.types(), 'the seats that are used are used').to.deep.equal(['entitlements.changed', 'usage.threshold_reached'])
  })

  it('tell what is reached already when they are made or changed, once', async () => {
    await environment.use('acme', 9)
    const id = await environment.createAlert({ thresholds: [share(90), share(100)] })
    expect(await usageNews()).to.deep.equal(['usage.threshold_reached 90 at 9'])
    await bench.app.alerts.update(environment.id, id, { thresholds: [share(50), share(90)] })
    expect(await usageNews(), 'what stays is known').to.deep.equal(['usage.threshold_reached 50 at 9'])
    await bench.app.alerts.update(environment.id, id, { thresholds: [share(95)] })
    expect(await usageNews()).to.deep.equal([])
    expect(new Set((await crossings()).map(({ endReason }) => endReason))).to.deep.equal(new Set(['NOT_HELD']))
  })

  it('cost a report nothing where there are none, with endpoints too', async () => {
    const waiting = () => bench.prisma.customerEvaluation.count({ where: { environmentId: environment.id } })
    await environment.use('acme', 9)
    expect(await waiting()).to.equal(0)
    const id = await environment.createAlert({})
    await environment.news()
    await environment.use('acme', 1)
    expect(await waiting()).to.equal(1)
    await bench.app.alerts.delete(environment.id, id)
    expect(await crossings()).to.deep.equal([])
    await environment.news()
    await environment.use('acme', 1)
    expect(await waiting()).to.equal(0)
  })

  it('are kept where nobody hears of events', async () => {
    await open({ hasEndpoint: false })
    await environment.createAlert({})
    await environment.use('acme', 9)
    expect(await environment.news()).to.deep.equal([])
    expect((await crossings({ customerId: 'acme' })).map(({ usage }) => usage)).to.deep.equal(['9'])
    expect(await bench.prisma.toldEntitlements.count({ where: { environmentId: environment.id } })).to.equal(0)
  })

  it('are told once by several workers that look at the same customers', async () => {
    await environment.createAlert({})
    await environment.news()
    const names = Array.from({ length: 20 }, (_, n) => `customer-${n}`)
    for (const name of names) await provision(name)
    for (const name of names) await environment.use(name, 9)
    const workers = [bench.newEvaluator(), bench.newEvaluator(), bench.newEvaluator()]
    const leases = async () => {
      // As if each lease were over at once.
      await bench.prisma.customerEvaluation.updateMany({ where: { environmentId: environment.id }, data: { dueAt: new Date(0) } })
    }
    for (let round = 0; round < 5; round++)
      await Promise.all([...workers.map((worker) => worker.run(7)), leases(), ...workers.map((worker) => worker.run(7)), leases()])
    const told = (await environment.news()).filter(({ type }) => type === 'usage.threshold_reached')
    expect(told.map(({ data }: ToldEvent) => data.customerId).sort()).to.deep.equal([...names].sort())
  })

  it('are looked at again when something changes while they are', async () => {
    await environment.createAlert({ thresholds: [share(80), share(100)] })
    await environment.news()
    // Every change of a while, with looks in between that end at any moment of it.
    const looks = (async () => {
      for (let n = 0; n < 60; n++) {
        await bench.evaluator.run(10)
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    })()
    for (let n = 0; n < 10; n++) await environment.use('acme', 1)
    await looks
    expect((await environment.news()).map(({ type }) => type)).to.have.members(['usage.threshold_reached', 'usage.limit_reached'])
  })

  it('that only a later release can read tell nothing, and hold up no other', async () => {
    const { prisma } = bench
    const [later, unread] = [await environment.createAlert({ thresholds: [amount(5)] }), await environment.createAlert({})]
    await environment.use('acme', 5)
    expect(await usageNews()).to.deep.equal(['usage.threshold_reached 5 at 5'])
    await prisma.alertCrossing.updateMany({ where: { alertId: later }, data: { thresholdKind: 'RATE' } })
    for (const [id, thresholds] of [
      [later, [{ kind: 'RATE', value: '5' }]],
      [unread, { poison: [1] }],
    ] as const)
      await prisma.alert.updateMany({ where: { id }, data: { thresholds: thresholds as never } })
    await environment.createAlert({ thresholds: [amount(6)] })
    await environment.use('acme', 4)
    expect(await usageNews()).to.deep.equal(['usage.threshold_reached 6 at 9'])
    expect(await prisma.alertCrossing.count({ where: { alertId: later, endedAt: null } }), 'is for the later release').to.equal(1)
  })

  it('of one environment wait for no other', async () => {
    const loud = environment
    await loud.createAlert({})
    for (let n = 0; n < 60; n++) await provision(`loud-${n}`)
    await bench.openEnvironment().then((quiet) => {
      environment = quiet
    })
    await environment.createAlert({})
    await provision('acme')
    await environment.use('acme', 9)
    const { evaluator } = bench
    await evaluator.run(4)
    const left = await bench.prisma.customerEvaluation.count({ where: { environmentId: environment.id, dueAt: { lte: new Date() } } })
    expect(left, 'it had a place among the first').to.equal(0)
  })

  it('are made once however often they are asked for in the same words', async () => {
    const asked = { customerId: 'acme', thresholds: [share(100), amount(5), share(80)], hysteresisPercent: 5, description: 'a' }
    const id = await environment.createAlert(asked)
    expect(await environment.createAlert({ ...asked, thresholds: [share(80), share(100), amount(5)] })).to.equal(id)
    const others = [{ customerId: null }, { planId: 'team' }, { featureId: 'seats' }, { thresholds: [share(80)] }, { hysteresisPercent: 0 }]
    for (const other of [...others, { description: null }]) expect(await environment.createAlert({ ...asked, ...other })).not.to.equal(id)
    await bench.app.alerts.delete(environment.id, id)
    expect(await environment.createAlert(asked), 'one that is deleted is none').not.to.equal(id)
  })

  describe('are refused', () => {
    const reasonOf = (alert: Parameters<AlertEnvironment['createAlert']>[0]) =>
      environment.createAlert(alert).then(
        () => null,
        (error: unknown) => Problem.from(error).reason,
      )
    it('with what is wrong', async () => {
      expect(await reasonOf({ thresholds: [] })).to.equal('BAD_USER_INPUT')
      expect(await reasonOf({ thresholds: [share(0)] })).to.equal('BAD_USER_INPUT')
      expect(await reasonOf({ thresholds: [share(1_001)] })).to.equal('BAD_USER_INPUT')
      expect(await reasonOf({ thresholds: [share(33.333)] })).to.equal('BAD_USER_INPUT')
      expect(await reasonOf({ thresholds: [share(80), share(80)] })).to.equal('BAD_USER_INPUT')
      expect(await reasonOf({ thresholds: Array.from({ length: 11 }, (_, n) => amount(n + 1)) })).to.equal('BAD_USER_INPUT')
      expect(await reasonOf({ hysteresisPercent: 100 })).to.equal('BAD_USER_INPUT')
      expect(await reasonOf({ hysteresisPercent: -1 })).to.equal('BAD_USER_INPUT')
      expect(await reasonOf({ hysteresisPercent: 0.5 })).to.equal('BAD_USER_INPUT')
      expect(await reasonOf({ featureId: 'nothing' })).to.equal('FEATURE_NOT_FOUND')
      expect(await reasonOf({ featureId: 'sso' })).to.equal('METERING_NOT_AVAILABLE_FOR_FEATURE_TYPE')
      expect(await reasonOf({ planId: 'nothing' })).to.equal('PLAN_NOT_FOUND')
      expect(await reasonOf({ customerId: 'nobody' })).to.equal('CUSTOMER_NOT_FOUND')
      const missing = await bench.app.alerts.update(environment.id, newId(), {}).catch((error: unknown) => Problem.from(error).reason)
      expect(missing).to.equal('ALERT_NOT_FOUND')
      expect(await bench.prisma.alert.count({ where: { environmentId: environment.id } })).to.equal(0)
      const { watchesUsage } = await bench.prisma.environment.findUniqueOrThrow({ where: { id: environment.id } })
      expect(watchesUsage).to.equal(false)
    })

    it('beyond a hundred of an environment', async () => {
      for (let n = 0; n < 100; n++) await environment.createAlert({ thresholds: [amount(n + 1)] })
      expect(await reasonOf({})).to.equal('TOO_MANY_ALERTS')
      const page = await bench.app.alerts.list(environment.id, { first: 60 })
      const rest = await bench.app.alerts.list(environment.id, { first: 60, after: page.rows.at(-1)!.cursor })
      const all = [...page.rows, ...rest.rows].map(({ item }) => item.thresholds[0]!.value)
      expect(all).to.deep.equal(Array.from({ length: 100 }, (_, n) => String(100 - n)))
    })
  })
})
