/** A catalog document in a file, YAML or JSON, whose `version` says which catalog it was made from. */
import { readFileSync, writeFileSync } from 'node:fs'
import { isMap, isScalar, parseDocument, stringify } from 'yaml'
import { UsageError } from './input.js'

export interface CatalogFile {
  /** As it is written: the server reads YAML and JSON itself, and names the places of what is wrong. */
  text: string
  /** Null: it says nothing of a version. */
  version: string | null
}

/** `-` is standard input. `name` is what it is called in messages. */
export function readCatalogFile(path: string, name: string): CatalogFile {
  const text = readText(path, name)
  const document = parseDocument(text, { logLevel: 'error' })
  const [error] = document.errors
  if (error) {
    const [at] = error.linePos ?? []
    throw new UsageError(`${name} cannot be read${at ? ` at line ${at.line}, column ${at.col}` : ''}: ${error.message.split('\n')[0]}`)
  }
  const version: unknown = isMap(document.contents) ? (document.get('version') ?? null) : null
  if (version !== null && typeof version !== 'string')
    throw new UsageError(`${name} has a version that is no text: put it in quotes, as catalog pull writes it`)
  return { text, version }
}

function readText(path: string, name: string): string {
  try {
    return readFileSync(path === '-' ? 0 : path, 'utf8')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new UsageError(code === 'ENOENT' ? `There is no file ${name}: catalog pull makes one` : `${name} cannot be read: ${message}`)
  }
}

/** As a person would write it: JSON when the file is called so, else YAML. */
export function writeDocument(document: unknown, format: 'json' | 'yaml'): string {
  return format === 'json' ? `${JSON.stringify(document, null, 2)}\n` : stringify(document, { lineWidth: 140 })
}

export const formatOf = (path: string): 'json' | 'yaml' => (path.toLowerCase().endsWith('.json') ? 'json' : 'yaml')

/** With `isNew` a file that is there stays as it is, and false is answered. */
export function writeText(path: string, text: string, { isNew, name }: { isNew: boolean; name: string }): boolean {
  try {
    writeFileSync(path, text, { flag: isNew ? 'wx' : 'w' })
    return true
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return false
    throw new UsageError(`${name} cannot be written: ${message}`)
  }
}

/** The same text but for the version: comments, order and spaces are the writer's own. */
export function withVersion(text: string, version: string): string {
  const { contents } = parseDocument(text, { logLevel: 'error' })
  if (!isMap(contents)) throw new Error('a document that was pushed is a map')
  const known = contents.get('version', true)
  const written = contents.flow ? JSON.stringify(version) : stringify(version).trimEnd()
  if (isScalar(known)) {
    const [from, to] = known.range!
    // Where nothing is written the value begins right after the colon.
    return splice(text, from, to, from === to ? ` ${written}` : written)
  }
  const [start] = contents.range!
  if (!contents.flow) return splice(text, start, start, `version: ${written}\n${indentationAt(text, start)}`)
  const [, space = '', first = ''] = /^(\s*)(\S?)/.exec(text.slice(start + 1))!
  return splice(text, start + 1, start + 1, `${space}"version": ${written}${first === '}' ? '' : ','}`)
}

const splice = (text: string, start: number, end: number, inserted: string) => text.slice(0, start) + inserted + text.slice(end)

const indentationAt = (text: string, at: number) => text.slice(text.lastIndexOf('\n', at - 1) + 1, at)
