/**
 * Holds what is sent against the bounds of its fields (`schema/bounds.ts`), before anything is made of it: what is read, kept or quoted in an error later
 * is as long as its field allows. Whether a value is of its type is not asked here; what is not is bounded too, as graphql-js quotes it.
 */
import { type GraphQLInputObjectType, type GraphQLInputType, isInputObjectType, isListType, isNonNullType } from 'graphql'
import { identifierFault, maxIdentifierLength } from '../../../kernel/id.js'
import { invalidInput, type Problem } from '../../../kernel/problem.js'
import { isStorableText } from '../../../kernel/storable.js'
import { charactersPerField } from '../../access/rate-limits.js'
import { type Bound, boundOf, maxCharacters, maxJsonDepth, maxListItems, maxObjects, maxStrayBytes, maxValues } from '../schema/bounds.js'
import { itemLists } from '../schema/item-lists.js'

/** What is beyond its bound, and where: `input.customerId`. */
export interface Breach {
  path: string
  /** Goes on after the path: `has 300 characters: …`. */
  fault: string
}

/** How much may still come, of all that a request has. */
export class Allowance {
  /** In how many places what comes is used: it is looked at once, and counts in each. */
  uses = 1
  #left = maxValues
  #charactersLeft = maxCharacters
  #objectsLeft: number

  constructor(kind: keyof typeof maxObjects = 'mutation') {
    this.#objectsLeft = maxObjects[kind]
  }

  /** What has come, in fields of an answer: what is done with a value takes about as long. */
  get cost(): number {
    return maxValues - this.#left + Math.floor((maxCharacters - this.#charactersLeft) / charactersPerField)
  }

  /** A value, with its characters when it is a text. False: there was too much. */
  take(value: unknown): boolean {
    this.#left -= this.uses
    if (typeof value === 'string') this.#charactersLeft -= this.uses * value.length
    return this.#left >= 0 && this.#charactersLeft >= 0
  }

  /** One that graphql-js makes something of. */
  takeObject(object: object): boolean {
    this.#objectsLeft -= this.uses
    return this.take(object) && this.#objectsLeft >= 0
  }
}

/** The bounds of one place where a value may stand. */
export interface Checked {
  /** Null: the value is within them. Null and undefined always are. */
  check(value: unknown, allowance: Allowance): Breach | null
  /** What stands in it: a field of an object, an item of a list; undefined: no such thing. */
  field?(name: string): Checked | undefined
  item?: Checked
  /** Whatever may stand in it has no bounds of its own. */
  isJson?: true
}

/** Refused as input; a bad item of a call that has many is named by its place. */
export function refusalOf({ path, fault }: Breach): Problem {
  const message = `"${path}" ${fault}.`
  const index = itemPath.exec(path)?.[1]
  const items = index === undefined ? {} : { items: [{ index: Number(index), code: 'BAD_USER_INPUT', message }] }
  return invalidInput(message, { path, ...items })
}

const itemPath = new RegExp(`^\\w+\\.(?:${itemLists.join('|')})\\[(\\d+)\\]`)

/** Of an argument, or of a field of an input. `place` is its full name, `name` its own. */
export function checkedPlace(place: string, name: string, type: GraphQLInputType): Checked {
  return checked(type, boundOf(place, name, type), itemLists.includes(name as never))
}

/** `isOfItems`: see `checked later`. */
function checked(type: GraphQLInputType, bound: Bound, isOfItems: boolean): Checked {
  if (isNonNullType(type)) {
    const inner = checked(type.ofType, bound, isOfItems)
    return bound.is === 'identifier' && !isListType(type.ofType)
      ? { check: (value, allowance) => blank(value) ?? inner.check(value, allowance) }
      : inner
  }
  if (isListType(type)) return checkedList(checked(type.ofType, bound, isOfItems))
  if (isInputObjectType(type)) return checkedObject(type, isOfItems)
  const faultOf = leafFault(bound)
  return {
    ...(type.name === 'JSON' ? { isJson: true } : {}),
    check: (value, allowance) => (value === null || value === undefined ? null : breachOf(faultOf(value, allowance))),
  }
}

const breachOf = (fault: string | null): Breach | null => (fault === null ? null : { path: '', fault })

/** What must be there is not blank. */
const blank = (value: unknown): Breach | null =>
  typeof value === 'string' && value.length <= maxIdentifierLength && value.trim() === '' ? breachOf('must not be empty') : null

function checkedList(item: Checked): Checked {
  const check: Checked['check'] = (value, allowance) => {
    // One item may stand for a list of it.
    if (!Array.isArray(value)) return item.check(value, allowance)
    if (value.length > maxListItems) return breachOf(tooLong(value))
    for (let index = 0; index < value.length; index++) {
      const breach = item.check(value[index], allowance)
      if (breach) return { path: `[${index}]${breach.path}`, fault: breach.fault }
    }
    return null
  }
  return { check, item }
}

const ofObjects = new WeakMap<GraphQLInputObjectType, Checked>()
const ofItems = new WeakMap<GraphQLInputObjectType, Checked>()

/** Made once for each type, which may have itself in a field. */
function checkedObject(type: GraphQLInputObjectType, isOfItems: boolean): Checked {
  const made = isOfItems ? ofItems : ofObjects
  const before = made.get(type)
  if (before) return before
  const fields = new Map<string, Checked>()
  const check: Checked['check'] = (value, allowance) => {
    if (value === null || value === undefined) return null
    if (typeof value !== 'object' || Array.isArray(value)) return breachOf(strayFault(value))
    if (!(isOfItems ? allowance.take(value) : allowance.takeObject(value))) return breachOf(tooMany)
    let isKnown = true
    for (const name in value) {
      const field = fields.get(name)
      if (!field) isKnown = false
      else {
        const breach = field.check((value as Record<string, unknown>)[name], allowance)
        if (breach) return { path: `.${name}${breach.path}`, fault: breach.fault }
      }
    }
    // Of each unknown name graphql-js says in which object it was, and shows all of that.
    return isKnown || !isLarge(value) ? null : breachOf(`has fields that are not in ${type.name}`)
  }
  const object: Checked = { check, field: (name) => fields.get(name) }
  made.set(type, object)
  for (const { name, type: ofField } of Object.values(type.getFields()))
    fields.set(name, isOfItems ? checked(ofField, { is: 'checked later' }, true) : checkedPlace(`${type.name}.${name}`, name, ofField))
  return object
}

type FaultOf = (value: unknown, allowance: Allowance) => string | null

function leafFault(bound: Bound): FaultOf {
  switch (bound.is) {
    case 'identifier':
      return counted((value) => (typeof value === 'string' ? identifierFault(value) : strayFault(value)))
    case 'text':
      return counted((value) => (typeof value === 'string' ? textFault(value, bound.characters) : strayFault(value)))
    case 'typed':
      return counted((value) => (typeof value === 'string' ? textFault(value, maxIdentifierLength) : strayFault(value)))
    case 'json':
      return (value, allowance) => jsonFault(value, bound, allowance)
    case 'checked later':
      return (value, allowance) => countFault(value, maxJsonDepth, allowance)
  }
}

const counted =
  (faultOf: (value: unknown) => string | null): FaultOf =>
  (value, allowance) =>
    allowance.take(value) ? faultOf(value) : tooMany

function textFault(value: string, characters: number): string | null {
  if (value.length > characters) return `has ${value.length} characters: at most ${characters} are taken`
  return isStorableText(value) ? null : broken
}

/** Of what is no text where there should be one. */
function strayFault(value: unknown): string | null {
  if (typeof value === 'number') return Number.isFinite(value) ? null : 'is not a finite number'
  return isLarge(value) ? 'is of another type' : null
}

const broken = 'holds a character that is none (U+0000, or half of one): leave it out'
const tooMany = `is more than a request may hold: at most ${maxValues} values of ${maxCharacters} characters are taken (and ${maxObjects.query} objects of a query), each in every place where it is used: send several smaller requests`
const tooLong = ({ length }: readonly unknown[]) => `has ${length} items: at most ${maxListItems} are taken, send several smaller requests`

/** Whether it would fill an error that quotes it. */
const isLarge = (value: unknown): boolean => jsonFault(value, { bytes: maxStrayBytes, depth: maxJsonDepth }, new Allowance()) !== null

/** Looks at no more than the bound. */
function jsonFault(value: unknown, { bytes, depth }: { bytes: number; depth: number }, allowance: Allowance): string | null {
  let left = bytes
  const tooLarge = `has more than ${bytes} bytes as JSON`
  const ofText = (text: string): string | null => {
    left -= 2 + (text.length > left ? text.length : Buffer.byteLength(text))
    if (left < 0) return tooLarge
    return isStorableText(text) ? null : broken
  }
  const look = (inner: unknown, levels: number): string | null => {
    left -= 1
    if (!allowance.take(inner)) return tooMany
    if (typeof inner === 'string') return ofText(inner)
    if (typeof inner === 'number') {
      left -= String(inner).length
      return Number.isFinite(inner) ? null : 'holds a number that is not finite'
    }
    if (left < 0) return tooLarge
    if (typeof inner !== 'object' || inner === null) return null
    if (levels === 0) return `nests deeper than ${depth} levels`
    if (Array.isArray(inner)) {
      if (inner.length > maxListItems) return tooLong(inner)
      for (const item of inner) {
        const fault = look(item, levels - 1)
        if (fault) return fault
      }
      return null
    }
    for (const name in inner) {
      if (name === '__proto__') return 'has a key __proto__, which stands for something else in many programs: choose another name'
      const fault = ofText(name) ?? look((inner as Record<string, unknown>)[name], levels - 1)
      if (fault) return fault
    }
    return null
  }
  return look(value, depth)
}

/** Only how deep it is, and how much. */
function countFault(value: unknown, levels: number, allowance: Allowance): string | null {
  if (!allowance.take(value)) return tooMany
  if (typeof value !== 'object' || value === null) return null
  if (levels === 0) return `nests deeper than ${maxJsonDepth} levels`
  if (Array.isArray(value) && value.length > maxListItems) return tooLong(value)
  for (const name in value) {
    const fault = countFault((value as Record<string, unknown>)[name], levels - 1, allowance)
    if (fault) return fault
  }
  return null
}
