import { performance } from 'node:perf_hooks'
import { expect } from 'chai'
import fc from 'fast-check'
import { Problem } from '../../../../src/kernel/problem.js'
import { parseJson, pieceLength } from '../../../../src/web/http/json.js'

describe('JSON of any size', () => {
  const parse = async (text: string) => parseJson(text, 'test')
  const refusal = (text: string) =>
    parse(text).then(
      () => 'none',
      (error: unknown) => `${(error as Problem).reason} ${(error as Error).message}`,
    )

  /** Longer than a piece by white space, which may stand anywhere between two parts, or by a long text. */
  const space = ' '.repeat(pieceLength)
  const stretched = fc.oneof(fc.constant(''), fc.constantFrom(' ', '\n\t', space), fc.constant(`${space}\r\n`))
  const texts: fc.Arbitrary<string> = fc
    .tuple(fc.json({ maxDepth: 6 }), fc.array(stretched, { minLength: 1, maxLength: 12 }), fc.boolean())
    .map(([text, gaps, isLong]) => {
      let count = 0
      const spread = text.replace(/"(?:[^"\\]|\\.)*"|[[\]{}:,]/g, (part) => `${part}${gaps[count++ % gaps.length]}`)
      return isLong ? `[${spread}, {"long": "${'x\\"'.repeat(pieceLength)}", "__proto__": ${text}}, ${text}]` : spread
    })

  it('is what JSON.parse makes of it', async () => {
    await fc.assert(
      fc.asyncProperty(texts, async (text) => {
        const parsed = await parse(text)
        expect(JSON.stringify(parsed)).to.equal(JSON.stringify(JSON.parse(text)))
      }),
      { numRuns: 150 },
    )
  }).timeout(20_000)

  it('is refused whenever JSON.parse refuses it', async () => {
    const broken = fc
      .tuple(texts, fc.double({ min: 0, max: 1, noNaN: true }), fc.constantFrom('', ',', ']', '}', '[', '{', ':', '"', 'x', '1', '\\'))
      .map(([text, place, instead]) => {
        // Where there is most structure: near the ends.
        const at = Math.floor(place ** 6 * text.length)
        return text.slice(0, at) + instead + text.slice(at + 1)
      })
    await fc.assert(
      fc.asyncProperty(broken, async (text) => {
        let expected = 'none'
        try {
          JSON.parse(text)
        } catch {
          expected = 'BAD_USER_INPUT The body is not JSON'
        }
        expect(await refusal(text)).to.equal(expected)
      }),
      { numRuns: 300 },
    )
  }).timeout(20_000)

  for (const text of [
    '',
    '[',
    '[1,]',
    '[,1]',
    '[1,,2]',
    '{"a":1,}',
    '{"a"}',
    '{a:1}',
    '[1}',
    '{"a":1]',
    '[1] 2',
    '"x',
    'tru',
    '[1 2]',
    '{"a":[1}]',
  ])
    it(`refuses ${text} also when it is long`, async () => {
      for (const long of [text, space + text, text.replaceAll(/([[{,:])/g, `$1${space}`), text.replaceAll(/([\]},])/g, `${space}$1`)])
        expect(await refusal(long)).to.equal('BAD_USER_INPUT The body is not JSON')
    })

  it('has no object with more than 10,000 fields', async () => {
    const fields = (count: number) => JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, n) => [`field-${n}`, n])))
    expect(await refusal(fields(10_000))).to.equal('none')
    expect(await refusal(`[${fields(12_000)}]`)).to.equal('BAD_USER_INPUT An object of the body has more than 10000 fields')
  })

  it('looks at what nests deeply no oftener than at what does not', async () => {
    const { charCodeAt } = String.prototype
    const looksAt = async (text: string) => {
      let looks = 0
      String.prototype.charCodeAt = function (index) {
        looks += 1
        return charCodeAt.call(this, index)
      }
      try {
        await parse(text)
      } finally {
        String.prototype.charCodeAt = charCodeAt
      }
      return looks / text.length
    }
    const long = JSON.stringify(['x'.repeat(pieceLength)])
    const nested = `${'[1,'.repeat(60)}${long}${']'.repeat(60)}`
    const named = `${'{"a":1,"b":'.repeat(60)}${long}${'}'.repeat(60)}`
    const list = (item: string) => `[${Array(4).fill(item).join()}]`
    const flat = await looksAt(list(long))
    for (const text of [nested, named]) expect(await looksAt(list(text))).to.be.below(flat + 2)
  })

  it('serves others meanwhile', async () => {
    const text = JSON.stringify(
      Array.from({ length: 1_000 }, (_, n) => ({
        id: `e-${n}`,
        dimensions: Object.fromEntries(Array.from({ length: 100 }, (_, d) => [`d${d}`, `value ${n * d}`])),
      })),
    )
    let turns = 0
    const startedAt = performance.now()
    const timer = setInterval(() => (turns += 1))
    await parse(text)
    clearInterval(timer)
    expect(text.length).to.be.above(1_900_000)
    if (performance.now() - startedAt > 100) expect(turns).to.be.above(2)
    else expect(turns).to.be.at.least(1)
  })
})
