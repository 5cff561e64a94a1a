import { expect } from 'chai'
import { advanceRounds, askRound } from '../../../src/changes/evaluations.js'
import { type AlertBench, type AlertEnvironment, openAlertBench } from './alert-bench.js'

const customers = 25
const atATime = 10

describe('a look at every customer of an environment', function () {
  this.timeout(60_000)
  let bench: AlertBench
  let environment: AlertEnvironment

  before(async () => {
    bench = await openAlertBench()
    environment = await bench.openEnvironment()
    for (let n = 0; n < customers; n++) await bench.app.customers.create(environment.id, { refId: `customer-${n}` })
    await environment.news()
    await bench.prisma.evaluationRound.deleteMany({ where: { environmentId: environment.id } })
  })
  after(async () => expect(await bench.close()).to.deep.equal([]))

  const waiting = () => bench.prisma.customerEvaluation.findMany({ where: { environmentId: environment.id } })
  const makeDue = () => bench.prisma.evaluationRound.updateMany({ where: { environmentId: environment.id }, data: { dueAt: new Date(0) } })

  it('has a few of them wait at a time, reaches all, and is made twice', async () => {
    await askRound(bench.prisma, environment.id)
    for (let round = 1; round <= 2; round++) {
      const reached = new Set<string>()
      await makeDue()
      for (let step = 0; step < 10; step++) {
        await advanceRounds(bench.pool, atATime)
        await advanceRounds(bench.pool, atATime)
        const due = await waiting()
        expect(due.length).to.be.at.most(2 * atATime)
        for (const { customerId } of due) reached.add(customerId)
        while ((await bench.evaluator.run(100)) > 0);
      }
      expect(reached.size).to.equal(customers)
    }
    expect(await bench.prisma.evaluationRound.count({ where: { environmentId: environment.id } })).to.equal(0)
  })

  it('begins anew when it is asked for while it is made', async () => {
    await askRound(bench.prisma, environment.id)
    await advanceRounds(bench.pool, atATime)
    while ((await bench.evaluator.run(100)) > 0);
    await askRound(bench.prisma, environment.id)
    const { afterId, rounds } = await bench.prisma.evaluationRound.findUniqueOrThrow({ where: { environmentId: environment.id } })
    expect({ afterId, rounds }).to.deep.equal({ afterId: '00000000-0000-0000-0000-000000000000', rounds: 2 })
  })
})
