import { readdirSync, readFileSync } from 'node:fs'
import { expect } from 'chai'

/** Fields that nothing is taken from, and why they do not grow for as long as the process lives. */
const kept: Record<string, string> = {
  'src/catalog/document/located.ts byRefId': 'of one document',
  'src/metering/model/groups.ts points': 'of one answer',
  'src/metering/counting/counter-batch.ts #changes': 'of one transaction',
  'src/metering/counting/counter-batch.ts #messages': 'of one transaction',
  'src/metering/counting/counter-batch.ts #datedAhead': 'of one transaction',
  'src/metering/counting/event-rollups.ts #rollups': 'of one transaction',
  'src/catalog/model/inheritance.ts #given': 'of one reading of a catalog',
  'src/metering/counting/counter-batch.ts #told': 'of one transaction',
  'src/metering/counting/series-tracker.ts #decisions': 'of one transaction',
  'src/metering/counting/series-tracker.ts #tracked': 'of one transaction',
  'src/metering/counting/series-tracker.ts #budgeted': 'of one transaction',
  'src/metering/counting/series-tracker.ts #series': 'of one transaction',
  'src/web/http/utf8-text.ts #kept': 'there are five sizes, and ten megabytes of them',
  'src/web/edge/pages.ts #prepared': 'there is one for each kind of page',
}

const field = /^ {2}(?:(?:private |readonly )+|(?=#))(#?\w+)(?:: [^=\n]*)? = new (?:Map|Set)\b/gm

/** Those of a file that nothing is deleted from, and that no new one takes the place of. */
function growing(file: string): string[] {
  const text = readFileSync(file, 'utf8')
  const names = [...text.matchAll(field)].map(([, name]) => name!)
  return names
    .filter((name) => !['delete(', 'clear('].some((call) => text.includes(`this.${name}.${call}`)) && !text.includes(`this.${name} = `))
    .map((name) => `${file} ${name}`)
}

describe('what a process remembers', () => {
  it('of environments, customers or whoever else there may be more and more of, has a bound', () => {
    const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).map((file) => `src/${file}`)
    const found = files.filter((file) => file.endsWith('.ts')).flatMap(growing)
    expect(found.sort()).to.deep.equal(Object.keys(kept).sort())
  })
})
