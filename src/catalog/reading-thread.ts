/** The thread of `reading.ts`. */
import { deserialize, serialize } from 'node:v8'
import { parentPort } from 'node:worker_threads'
import { type ParsedCatalog, parseCatalog, readCatalogText } from './document/parse.js'
import { isShort, type Reading, type SentCatalog, type Written } from './reading.js'

parentPort!.on('message', (asked: Reading) => parentPort!.postMessage(answerOf(asked)))

function answerOf(asked: Reading): SentCatalog | ParsedCatalog {
  if ('written' in asked) return parseCatalog(heldBy(asked.written), asked.options)
  const read = readCatalogText(asked.text)
  return 'problems' in read || isShort(read.input) ? read : { bytes: serialize(read.input) }
}

const heldBy = (written: Written): unknown => ('json' in written ? JSON.parse(written.json) : deserialize(written.bytes))
