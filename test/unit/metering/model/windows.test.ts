import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { changeableDays, identityDays, lateDays, reachedDays } from '../../../../src/metering/model/windows.js'

describe('windows of usage', () => {
  it('follow each other: what may come late is counted, then known, then changeable no more', () => {
    expect(lateDays).to.be.above(31)
    const ordered = [lateDays, reachedDays, identityDays, changeableDays]
    expect(ordered).to.deep.equal([...new Set(ordered)].sort((a, b) => a - b))
  })

  it('are what the documentation says', () => {
    const said: [file: string, sentence: string][] = [
      ['src/web/docs/events.md', `${lateDays} days back`],
      ['src/web/docs/events.md', `Identities are kept for ${identityDays} days`],
      ['src/web/docs/events.md', `the longest usage period of any catalog and ${changeableDays} days more`],
      ['src/web/docs/events.md', `| identities of events and reports | ${identityDays} days |`],
      ['src/web/docs/graphql-api.md', `${lateDays} days back`],
      ['src/metering/README.md', `and ${changeableDays} days: ${lateDays} for late events, ${identityDays} for corrections by identity`],
    ]
    for (const [file, sentence] of said) expect(readFileSync(file, 'utf8').replace(/\s+/g, ' '), file).to.include(sentence)
  })
})
