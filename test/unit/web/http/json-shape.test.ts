import { expect } from 'chai'
import fc from 'fast-check'
import { JsonShape, maxJsonDepth, maxJsonRunBytes, maxJsonTextBytes, maxJsonValues } from '../../../../src/web/http/json-shape.js'

/** In pieces of a size, as it may arrive. */
function refusal(text: string, pieceBytes = 7_919): string | null {
  const shape = new JsonShape()
  const bytes = Buffer.from(text)
  for (let from = 0; from < bytes.length; from += pieceBytes) {
    const problem = shape.add(bytes.subarray(from, from + pieceBytes))
    if (problem) return problem.message
  }
  return null
}

describe('the shape of a body', () => {
  it('is refused one above each limit', () => {
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
    const containers = (count: number) =>
      `[${Array(count / 2)
        .fill('{}')
        .join()}]`
    const fields = (count: number) => `{${Array.from({ length: count }, (_, n) => `"f${n}":1`).join()}}`
    const numbers = (count: number) => `[${Array(count).fill('7').join()}]`
    const space = (count: number) => `{"a":${' '.repeat(count - 1)}"b"}`
    const number = (count: number) => `[1,${'7'.repeat(count - 1)}]`
    const text = (count: number) => `{"a":"${'\\n'.repeat(count / 2 - 1)}.","b":"."}`
    for (const [make, limit, named] of [
      [nested, maxJsonDepth, /nests deeper than 64 levels/],
      [containers, maxJsonValues, /more than 150000 values/],
      [fields, maxJsonValues, /more than 150000 values/],
      [numbers, maxJsonValues, /more than 150000 values/],
      [text, maxJsonTextBytes, /a text of more than 2097152 bytes/],
      [space, maxJsonRunBytes, /a number, or space, of more than 65536 bytes/],
      [number, maxJsonRunBytes, /a number, or space, of more than 65536 bytes/],
    ] as const) {
      expect(refusal(make(limit))).to.equal(null)
      expect(refusal(make(limit + 2))).to.match(named)
    }
  })

  it('does not count what stands in text, however it is cut', () => {
    const text = JSON.stringify({ text: '[{:\\"'.repeat(30_000), other: '\\' })
    for (const pieceBytes of [1, 2, 3, 1_000]) expect(refusal(text, pieceBytes), `${pieceBytes}`).to.equal(null)
  })

  it('is that of any JSON, in any pieces', () => {
    const depthOf = (value: unknown): number =>
      typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 4 }),
        fc.integer({ min: 1, max: 50 }),
        fc.integer({ min: 0, max: 70 }),
        (value, pieceBytes, around) => {
          let wrapped: unknown = value
          for (let level = 0; level < around; level++) wrapped = [wrapped]
          expect(refusal(JSON.stringify(wrapped), pieceBytes) !== null).to.equal(depthOf(wrapped) > maxJsonDepth)
        },
      ),
    )
  })
})
