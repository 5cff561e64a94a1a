import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { packageRoot } from '../../../src/web/pages/package-files.js'
import { defaultLimits } from '../../../src/wiring/front-door.js'
import { limitsOf, limitsTable } from '../../../src/wiring/limits-table.js'

describe('the table of limits', () => {
  const limits = limitsOf(defaultLimits)
  const readme = readFileSync(join(packageRoot, 'README.md'), 'utf8')

  for (const {
    what,
    variable,
    test: [file, title],
  } of limits)
    it(`${what}: there is a test that goes beyond it`, () => {
      const path = join(packageRoot, 'test', file)
      expect(existsSync(path), file).to.equal(true)
      expect(readFileSync(path, 'utf8'), file).to.include(`it('${title}'`)
      if (variable) expect(readme).to.include(`| \`${variable}\` |`)
    })

  it('says what is in force', () => {
    const table = limitsTable(limitsOf({ ...defaultLimits, perCustomer: 7, maxWaitingJobs: 9 }))
    expect(table).to.include('| requests of a customer with a client key, by process | 7 a second | `RATE_LIMIT_PER_CUSTOMER` |')
    expect(table).to.include('| jobs that wait in a queue of usage | 9 | `INGESTION_MAX_WAITING_JOBS` |')
    expect(table.split('\n')).to.have.length(limits.length + 2)
    expect(new Set(limits.map(({ what }) => what)).size).to.equal(limits.length)
  })
})
