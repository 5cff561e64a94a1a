/** The thread of `reading.ts`. */
import { parentPort } from 'node:worker_threads'
import { parseCatalog, readCatalogText } from './document/parse.js'
import type { Reading } from './reading.js'

parentPort!.on('message', (asked: Reading) => {
  parentPort!.postMessage('text' in asked ? readCatalogText(asked.text) : parseCatalog(asked.input, asked.options))
})
