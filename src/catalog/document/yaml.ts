import { isScalar, LineCounter, parseDocument, visit, YAMLParseError } from 'yaml'

/**
 * What YAML or JSON text holds. Fails with YAMLParseError, or with another Error when aliases make far more of it than was written. The library compares each
 * key of a map with all others to find one that is written twice; here that costs as much as the text is long.
 */
export function readYaml(text: string): unknown {
  const lines = new LineCounter()
  const document = parseDocument(text, { logLevel: 'error', uniqueKeys: false, lineCounter: lines })
  if (document.errors[0]) throw document.errors[0]
  visit(document, {
    Map(_, { items }) {
      const seen = new Set<unknown>()
      for (const { key } of items) {
        if (!isScalar(key)) continue
        if (seen.has(key.value)) throw writtenTwice(key.range?.[0] ?? 0, lines)
        seen.add(key.value)
      }
    },
  })
  return document.toJS()
}

function writtenTwice(at: number, lines: LineCounter): YAMLParseError {
  const error = new YAMLParseError([at, at + 1], 'DUPLICATE_KEY', 'Map keys must be unique')
  error.linePos = [lines.linePos(at)]
  return error
}
