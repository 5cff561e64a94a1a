import { randomInt } from 'node:crypto'
import { expect } from 'chai'
import fc from 'fast-check'
import { type Bench, openBench } from '../fixture.js'
import { anyWorld } from './cases.js'
import { EstimateWorld } from './world.js'

/** More with ESTIMATE_CASES=10000. */
const wantedCases = Number(process.env.ESTIMATE_CASES ?? 30)
/** The suite asks the same each time; with ESTIMATE_CASES it is new ones. Of the first world; each has the one after it, so runs that differ have seeds far apart. */
const seed = Number(process.env.ESTIMATE_SEED ?? (process.env.ESTIMATE_CASES ? randomInt(2 ** 31) : 7))
/** A failure names these; with them the one customer goes its way again. */
const onlyWorld = process.env.ESTIMATE_WORLD === undefined ? null : Number(process.env.ESTIMATE_WORLD)
const onlyCustomer = process.env.ESTIMATE_CUSTOMER === undefined ? undefined : Number(process.env.ESTIMATE_CUSTOMER)
const size = { customers: 20, steps: 6 }

/** What there has to be of each run. */
const kinds = [
  'provision',
  'plan change',
  'quantity',
  'addons',
  'period',
  'new period',
  'migrate',
  'cancel',
  'renewal',
  'usage',
  'paid first',
  'change unpaid',
  'cancel unpaid',
]

describe('an estimate', () => {
  let bench: Bench

  before(async () => {
    bench = await openBench()
  })
  after(async () => expect(await bench.close()).to.deep.equal([]))

  it('is the invoice that the change then makes, to the minor unit and line by line, and what the price list says', async function () {
    this.timeout(240_000 + wantedCases * 2_000)
    const counts: Record<string, number> = {}
    const heard: Record<string, number> = {}
    // "change unpaid" says more of a change that counts by its kind.
    const compared = () => Object.entries(counts).reduce((sum, [kind, count]) => (kind === 'change unpaid' ? sum : sum + count), 0)
    const startedAt = Date.now()
    const isDone = () => compared() >= wantedCases && kinds.every((kind) => counts[kind])
    for (let index = onlyWorld ?? 0; onlyWorld === null ? !isDone() : index === onlyWorld; index++) {
      const [spec] = fc.sample(anyWorld(size), { seed: seed + index, numRuns: 1 })
      const world = new EstimateWorld(bench, spec!)
      try {
        await world.run(onlyCustomer)
      } catch (error) {
        const customer = /^customer (\d+)/.exec((error as Error).message)?.[1]
        const again = `ESTIMATE_SEED=${seed} ESTIMATE_WORLD=${index}${customer ? ` ESTIMATE_CUSTOMER=${customer}` : ''}`
        ;(error as Error).message += `\nAgain: ${again} npm test -- integration/billing/estimate-is-invoice`
        throw error
      }
      for (const [kind, count] of Object.entries(world.cases)) counts[kind] = (counts[kind] ?? 0) + count
      for (const [outcome, count] of Object.entries(world.heard)) heard[outcome] = (heard[outcome] ?? 0) + count
    }
    if (wantedCases > 1_000)
      console.log(
        `      ${compared()} in ${((Date.now() - startedAt) / 1_000).toFixed(0)} s, seed ${seed}: ${JSON.stringify({ counts, heard })}`,
      )
  })
})
