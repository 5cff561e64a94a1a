import { expect } from 'chai'
import { silentLogger } from '../../src/platform/logger.js'
import { Life } from '../../src/platform/process.js'
import { Stage } from '../attack/stage/stage.js'

/** A short form of `npm run attack`: one attack of each kind of caller, and what does not hang on how fast the machine is. */
const attacks = ['brackets', 'ping-flood', 'odd-input', 'suggestions', 'grpc-resets']
const seconds = 1

describe('an attack', function () {
  this.timeout(150_000)
  let life: Life
  let stage: Stage

  before('start what is attacked', async () => {
    life = new Life('attack', silentLogger())
    stage = await Stage.open(life)
  })
  after('stop it', async () => {
    expect(await life.stop()).to.deep.equal([])
  })

  for (const attack of attacks)
    it(`of the kind ${attack} kills no process and loses no call of another tenant`, async () => {
      const { tried, died, faults, otherLost } = await stage.face(attack, [attack], seconds)
      expect(tried).to.be.above(0)
      expect({ died, faults, otherLost }).to.deep.equal({ died: 0, faults: 0, otherLost: 0 })
    })

  it('of a caller without a valid key is refused, each time', async () => {
    for (const attack of ['keyless', 'made-up-keys']) {
      // Attackers have the time that nobody else on the machine wants.
      const { refused, granted } = await stage.face(attack, [attack], 4 * seconds)
      expect(refused, attack).to.be.above(0)
      expect(granted, attack).to.equal(0)
    }
  })
})
