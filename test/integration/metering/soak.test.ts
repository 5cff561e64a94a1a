import { expect } from 'chai'
import { silentLogger } from '../../../src/platform/logger.js'
import { Life } from '../../../src/platform/process.js'
import { runSoak } from '../../bench/soak-run.js'

describe('usage through workers of which two are killed', () => {
  it('is what plain code computes from the list of 20,000 events, repeats and late ones among them', async function () {
    this.timeout(180_000)
    const life = new Life('soak', silentLogger())
    try {
      const { differences, counters } = await runSoak({ life, events: 20_000, customers: 100, note: () => undefined })
      expect(counters).to.be.above(500)
      expect(differences).to.deep.equal([])
    } finally {
      expect(await life.stop()).to.deep.equal([])
    }
  })
})
