import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { fillNames } from '../support/kept-heap.js'

const program = fileURLToPath(new URL('../support/kept-heap.js', import.meta.url))

describe('the memory that a cache says that it takes', () => {
  for (const name of fillNames)
    it(`is what the heap grows by: ${name}`, async function () {
      this.timeout(60_000)
      const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', program, name])
      const { grown, weighed } = JSON.parse(stdout) as { grown: number; weighed: number }
      expect(weighed).to.be.above(2_000_000)
      expect(weighed / grown, `${weighed} were weighed, and the heap grew by ${grown}`).to.be.within(0.8, 1.2)
    })
})
