/** Arbitraries that all boundaries share: texts, numbers and JSON as nobody should send them, and what is nearly right. */
import fc from 'fast-check'

const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'prototype', 'then', 'length', 'toJSON', '__typename']
const writing = [
  '',
  ' ',
  '\0',
  '\n',
  '\u202e',
  '\ud800',
  'a\udfff',
  '😀'.repeat(60),
  `%_\\'"`,
  '%00',
  '%',
  '../../..',
  "'; DROP TABLE x; --",
  '--]]',
  '{{1}}',
]
const looksLike = [
  '1e400',
  '-0',
  'NaN',
  'null',
  '2026-02-30T00:00:00Z',
  '+275760-09-13T00:00:00.000Z',
  '0000-01-01T00:00:00Z',
  '2026-11-01T00:00:00.000Z',
  '01900000-0000-7000-8000-000000000001',
  '01900000-0000-7000-8000-00000000000G',
  'eyJhIjoxfQ',
  'W10',
]
const long = ['9'.repeat(400), 'y'.repeat(300), 'z'.repeat(5_000)]

export const text: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...names, ...writing, ...looksLike, ...long),
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.string({ maxLength: 12 }),
  fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 4 }).map((units) => String.fromCharCode(...units)),
)

export const number: fc.Arbitrary<number> = fc.oneof(
  fc.constantFrom(0, 1, -1, 0.1, 1.5, 1e15, 1e308, -1e308, 5e-324, 2 ** 31 - 1, 2 ** 31, -(2 ** 31) - 1, 2 ** 53, 2 ** 53 + 2, 8.64e15 + 1),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
)

/** A number as JSON may write it and `JSON.stringify` does not: it stands for itself in `written`. */
const marked = fc
  .constantFrom('1e400', '-1e400', '-0', '9007199254740993', '1E-400', '123456789012345678901234567890.123456789', `1${'0'.repeat(400)}`)
  .map((digits) => `@number ${digits}`)

/** What is nested deep likewise only `written` makes, as what prints a failure calls itself for each level. */
const nested = fc
  .record({ depth: fc.constantFrom(5, 20, 31, 33, 100, 400, 2_000), isList: fc.boolean() })
  .map(({ depth, isList }) => `@${isList ? 'lists' : 'objects'} ${depth}`)

const key = fc.oneof(fc.constantFrom(...names, 'and', 'or', 'eq', 'in', 'id', 'refId', 'v', 'type', 'input'), text)

/** A `__proto__` of its own, as `JSON.parse` makes it, and not another prototype. */
const objectOf = (entries: [string, unknown][]): unknown => {
  const object = {}
  for (const [name, value] of entries) Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true })
  return object
}

export const leaf: fc.Arbitrary<unknown> = fc.oneof(text, number, marked, fc.constantFrom(null, true, false, [], {}))

/** JSON of any shape. */
export const json: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    { arbitrary: leaf, weight: 6 },
    { arbitrary: fc.array(tie('value'), { maxLength: 4 }), weight: 1 },
    { arbitrary: fc.array(fc.tuple(key, tie('value')), { maxLength: 4 }).map(objectOf), weight: 2 },
    { arbitrary: nested, weight: 1 },
  ),
})).value

const repeated = (kind: string, depth: number): string =>
  kind === 'lists' ? '['.repeat(depth) + ']'.repeat(depth) : `${'{"and":'.repeat(depth)}1${'}'.repeat(depth)}`

/** As JSON, with the numbers of `marked` and what is `nested`. */
export const written = (value: unknown): string =>
  JSON.stringify(value)
    .replace(/"@number ([^"]+)"/g, '$1')
    .replace(/"@(lists|objects) (\d+)"/g, (_, kind: string, depth: string) => repeated(kind, Number(depth)))

/** The value with some of its parts replaced by anything, gone, or there twice. */
export const nearly = (samples: readonly unknown[]): fc.Arbitrary<unknown> =>
  fc
    .tuple(
      fc.constantFrom(...samples),
      fc.array(fc.record({ at: fc.nat(), value: json, how: fc.constantFrom('replace', 'replace', 'remove', 'repeat', 'swap', 'add') }), {
        minLength: 1,
        maxLength: 3,
      }),
    )
    .map(([sample, edits]) => edits.reduce<unknown>((value, edit) => edited(value, edit), structuredClone(sample)))

function edited(whole: unknown, { at, value, how }: { at: number; value: unknown; how: string }): unknown {
  const places = placesOf(whole)
  if (places.length === 0) return value
  const { parent, name } = places[at % places.length]!
  if (how === 'remove') Array.isArray(parent) ? parent.splice(Number(name), 1) : delete parent[name]
  else if (how === 'repeat' && Array.isArray(parent)) parent.push(structuredClone(parent[Number(name)]))
  else if (how === 'add')
    Object.defineProperty(parent, Array.isArray(parent) ? parent.length : '__proto__', {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    })
  else if (how === 'swap') {
    const other = places[(at * 7 + 3) % places.length]!
    parent[name] = structuredClone(other.parent[other.name])
  } else parent[name] = value
  return whole
}

interface Place {
  parent: Record<string, unknown>
  name: string
}

function placesOf(value: unknown, depth = 0): Place[] {
  if (typeof value !== 'object' || value === null || depth > 12) return []
  return Object.keys(value).flatMap((name) => [
    { parent: value as Record<string, unknown>, name },
    ...placesOf((value as Record<string, unknown>)[name], depth + 1),
  ])
}

/** The text with some characters gone and others between them. */
export const nearlyText = (texts: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc
    .tuple(
      texts,
      fc.array(
        fc.record({
          at: fc.nat(),
          remove: fc.nat({ max: 6 }),
          insert: fc.oneof(fc.constantFrom(...'{}[]()"\':,$!@#&|*-.\\\n\0\t0', '...', '"""', '\\u', '\ufeff', '<<: *a', '!!js'), text),
        }),
        {
          minLength: 1,
          maxLength: 4,
        },
      ),
    )
    .map(([given, edits]) =>
      edits.reduce((whole, { at, remove, insert }) => {
        const from = at % (whole.length + 1)
        return whole.slice(0, from) + insert + whole.slice(from + remove)
      }, given),
    )

/** The bytes with some of them changed, gone or added. */
export const nearlyBytes = (samples: fc.Arbitrary<Uint8Array>): fc.Arbitrary<Buffer> =>
  fc
    .tuple(
      samples,
      fc.array(fc.record({ at: fc.nat(), remove: fc.nat({ max: 3 }), insert: fc.uint8Array({ maxLength: 4 }) }), { maxLength: 4 }),
    )
    .map(([given, edits]) =>
      edits.reduce((whole, { at, remove, insert }) => {
        const from = at % (whole.length + 1)
        return Buffer.concat([whole.subarray(0, from), insert, whole.subarray(from + remove)])
      }, Buffer.from(given)),
    )
