import { type ASTVisitor, type DocumentNode, Kind, visit } from 'graphql'
import { invalidInput } from '../../../kernel/problem.js'
import { itemLists } from '../schema/item-lists.js'

/**
 * Text that no database can hold: U+0000, and halves of characters. It is refused at the door, by name, so that nothing behind it has to expect it.
 */

/** How it looks like in a body; most bodies have no escape at all, so most are told from the others by one look. */
const escapes = /\\u(?:0000|\{0+\}|\{?0*[dD][89a-fA-F])/

/** Whether the values of a request may hold such text. An empty body: they came another way. */
export const mayHoldBrokenText = (bodyText: string): boolean => bodyText === '' || escapes.test(bodyText)

/** @throws Problem BAD_USER_INPUT when a variable or a literal of the document holds such text */
export function checkText(variables: unknown, document: DocumentNode): void {
  checkValue(variables, 'variables')
  visit(document, checkLiterals)
}

function checkValue(value: unknown, path: string): void {
  if (typeof value === 'string') {
    if (value.includes('\0') || isHalved.test(value))
      throw invalidInput(`"${path}" holds a character that is none (U+0000, or half of one): leave it out.`, { path })
  } else if (Array.isArray(value)) for (const [index, item] of value.entries()) checkValue(item, `${path}[${index}]`)
  else if (value !== null && typeof value === 'object')
    for (const [key, item] of Object.entries(value)) {
      checkValue(key, path)
      const at = `${path}.${key}`
      if (!itemList.test(at)) checkValue(item, at)
    }
}

/** What looks at each item does this too, and stores good events beside a bad one. */
const itemList = new RegExp(`^variables\\.\\w+\\.(?:${itemLists.join('|')})$`)

const checkLiterals: ASTVisitor = { [Kind.STRING]: ({ value }) => checkValue(value, 'query') }

const isHalved = /\p{Surrogate}/u
