import { expect } from 'chai'
import { runMidnight } from './midnight-run.js'

describe('an outage of everything but the sidecar', function () {
  this.timeout(180_000)

  it('over an instant at which trials end, plans change and usage starts again: each check is right, and the records agree', async () => {
    // `npm run soak:midnight` does the same at real lengths. What starts within a minute would start at once.
    const { before, after } = await runMidnight({ setupMs: 64_000, beforeMs: 4_000, afterMs: 4_000, pauseMs: 20 })
    expect(Math.min(before, after)).to.be.above(100)
  })
})
