import { expect } from 'chai'
import { silentLogger } from '../../../src/platform/logger.js'
import { Life } from '../../../src/platform/process.js'
import { runSoak, type Trouble } from '../../bench/soak/run.js'
import { effort } from '../../support/effort.js'

describe('usage is what plain code computes from the list of events, repeats and late ones among them', function () {
  this.timeout(300_000)

  const soak = async (trouble: Trouble, events: number) => {
    const life = new Life('soak', silentLogger())
    try {
      const { differences, counters, troubles } = await runSoak({ life, events, customers: 100, trouble, note: () => undefined })
      expect(troubles).to.have.length(2)
      expect(counters).to.be.above(500 * Math.min(effort, 1))
      expect(differences).to.deep.equal([])
    } finally {
      expect(await life.stop()).to.deep.equal([])
    }
  }

  it('when workers are killed in the middle', () => soak('workers', 8_000 * effort))
  it('when PostgreSQL is restarted in the middle, in order and at once', () => soak('postgres', 8_000 * effort))
})
