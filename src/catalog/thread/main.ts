/** The thread of `lane.ts`. */
import { deserialize, serialize } from 'node:v8'
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import type { CatalogDocument } from '../document/document.js'
import { exportCatalog } from '../document/export.js'
import { type ReadCatalog, readCatalogText } from '../document/parse.js'
import { planCatalog } from '../document/plan.js'
import { addPiece, type Lists, type Piece, piecesOf } from './lists.js'
import { type Answer, isShort, type Question, type SentCatalog } from './messages.js'

type Asked = { [Kind in keyof Question]: { kind: Kind; question: Question[Kind] } }[keyof Question]

let given: Lists = {}

parentPort!.on('message', (message: { piece: Piece } | Asked) => {
  if ('piece' in message) {
    addPiece(given, message.piece)
    return
  }
  const lists = given
  given = {}
  const { head, made } = answerOf(message, lists)
  for (const piece of piecesOf(made)) (workerData as MessagePort).postMessage(piece)
  parentPort!.postMessage(head)
})

function answerOf(asked: Asked, lists: Lists): { head: Answer[keyof Answer]; made: Lists } {
  switch (asked.kind) {
    case 'text': {
      const read = readCatalogText(asked.question)
      return { head: 'problems' in read || isShort(read.input) ? read : { bytes: serialize(read.input) }, made: {} }
    }
    case 'plan': {
      const { sent, options } = asked.question
      const { changes, ...head } = planCatalog(readOf(sent), documentOf(lists), options)
      return { head, made: { changes } }
    }
    case 'write': {
      const { version, ...made } = exportCatalog(documentOf(lists))
      return { head: { version }, made: made as Lists }
    }
  }
}

function readOf(sent: SentCatalog): ReadCatalog {
  if ('json' in sent) return { input: JSON.parse(sent.json) }
  return 'bytes' in sent ? { input: deserialize(sent.bytes) } : sent
}

/** A list without items has not come. */
function documentOf(lists: Lists): CatalogDocument {
  const { features = [], products = [], plans = [], addons = [], coupons = [] } = lists as Partial<Lists & CatalogDocument>
  return { features, products, plans, addons, coupons }
}
