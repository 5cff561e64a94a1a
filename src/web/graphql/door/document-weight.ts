import type { DocumentNode } from 'graphql'
import { textBytes } from '../../../kernel/weight.js'

const pointerBytes = 8
const objectBytes = 3 * pointerBytes
/** Each token is kept, as places in the text are told by it: eight fields and a text. */
const tokenBytes = objectBytes + 8 * pointerBytes + 32
/** Where a node stands: five fields. */
const locationBytes = objectBytes + 5 * pointerBytes
/** What stands beside the nodes: the source, the definitions, what is prepared for them. */
const documentBytes = 2_000

/** Memory that a parsed document and its text take. Most of it are tokens and nodes, a hundred times what the text takes. */
export function weighDocument(document: DocumentNode, text: string): number {
  const tokens = document.tokenCount ?? text.length
  return Math.round(documentBytes + textBytes(text) + tokens * tokenBytes + weighNode(document))
}

/** A node with what is below it. */
function weighNode(node: object): number {
  let bytes = objectBytes + locationBytes
  for (const name in node) {
    bytes += pointerBytes
    const value = (node as Record<string, unknown>)[name]
    if (name === 'loc' || typeof value !== 'object' || value === null) continue
    if (Array.isArray(value)) for (const item of value) bytes += weighNode(item)
    bytes += Array.isArray(value) ? arrayBytes(value.length) : weighNode(value)
  }
  return bytes
}

/** The parser adds one by one: V8 makes room for 17 items first, and then for half more than there are. */
function arrayBytes(length: number): number {
  let room = length === 0 ? 0 : 17
  while (room < length) room += (room >> 1) + 16
  return 4 * pointerBytes + (room === 0 ? 0 : (2 + room) * pointerBytes)
}
