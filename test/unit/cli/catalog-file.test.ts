import { expect } from 'chai'
import fc from 'fast-check'
import { parse, stringify } from 'yaml'
import { withVersion } from '../../../src/cli/catalog-file.js'

describe('the version of a catalog file', () => {
  const cases: [string, string, string][] = [
    ['replaces the one that is there', 'version: old # mine\nplans: []\n', 'version: v7 # mine\nplans: []\n'],
    ['replaces one in quotes', '# top\nplans: []\nversion: "old"\n', '# top\nplans: []\nversion: v7\n'],
    ['replaces one of JSON', '{\n  "version": "old",\n  "plans": []\n}\n', '{\n  "version": "v7",\n  "plans": []\n}\n'],
    ['comes first, after the comments', '# top\n\nplans: []\n', '# top\n\nversion: v7\nplans: []\n'],
    ['comes first in a document with a marker', '---\nplans: []\n', '---\nversion: v7\nplans: []\n'],
    ['comes first in an indented document', '  plans: []\n  addons: []\n', '  version: v7\n  plans: []\n  addons: []\n'],
    ['comes first in JSON', '{\n  "plans": []\n}\n', '{\n  "version": "v7",\n  "plans": []\n}\n'],
    ['comes first in JSON on a line', '{"plans": []}', '{"version": "v7","plans": []}'],
    ['is all that there is', '{}', '{"version": "v7"}'],
    ['takes the place of an empty one', 'version:\nplans: []\n', 'version: v7\nplans: []\n'],
  ]
  for (const [what, text, expected] of cases) {
    it(what, () => {
      expect(withVersion(text, 'v7')).to.equal(expected)
      expect(parse(expected).version).to.equal('v7')
    })
  }

  it('changes nothing else, whatever the document', () => {
    const section = fc.array(fc.record({ refId: fc.string(), additionalMetaData: fc.dictionary(fc.string(), fc.string()) }))
    const document = fc.dictionary(fc.constantFrom('features', 'plans', 'addons', 'version'), section, { minKeys: 1 })
    fc.assert(
      fc.property(
        document,
        fc.constantFrom(stringify, (value: unknown) => JSON.stringify(value, null, 2)),
        (given, write) => {
          const { version: _, ...sections } = given
          const text = write('version' in given ? { version: 'old', ...sections } : given)
          expect(parse(withVersion(text, 'v7'))).to.deep.equal({ version: 'v7', ...sections })
        },
      ),
    )
  })
})
