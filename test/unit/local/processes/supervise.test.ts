import { getEventListeners } from 'node:events'
import { expect } from 'chai'
import { describeExit, restartDelayMs, untilAborted } from '../../../../src/local/processes/supervise.js'

describe('local/supervise', () => {
  it('waits twice as long after each death in a row, half a minute at most', () => {
    expect([1, 2, 3, 4, 5, 6, 40].map(restartDelayMs)).to.deep.equal([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000])
  })

  it('says how a process ended', () => {
    expect(describeExit({ code: 3, signal: null })).to.equal('exited with code 3')
    expect(describeExit({ code: null, signal: 'SIGKILL' })).to.equal('was killed by SIGKILL')
    expect(describeExit({ code: null, signal: null, error: new Error('spawn x ENOENT') })).to.equal('could not be started (spawn x ENOENT)')
  })

  it('leaves no listener on the signal it waits beside, however often', async () => {
    const { signal } = new AbortController()
    expect(await untilAborted(Promise.resolve('done'), signal)).to.equal('done')
    expect(getEventListeners(signal, 'abort')).to.deep.equal([])
  })
})
