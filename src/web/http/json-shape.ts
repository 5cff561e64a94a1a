import { invalidInput, type Problem } from '../../kernel/problem.js'

/** Deeper than anything that is sent; functions that walk values call themselves. */
export const maxJsonDepth = 64
/** Objects and lists, and the fields in objects, of one body. A call of 1,000 events with 40 dimensions each has 2,000 and 45,000. */
export const maxJsonContainers = 20_000
export const maxJsonFields = 60_000

const [quote, backslash, openBrace, openBracket, closeBrace, closeBracket, colon] = Buffer.from('"\\{[}]:')

/**
 * What a body of JSON is made of, counted as it arrives: parsing takes time by its objects, lists and fields, of which a megabyte can hold more than is
 * read in a moment. Does not judge whether it is JSON.
 */
export class JsonShape {
  #depth = 0
  #containers = 0
  #fields = 0
  #isInText = false
  #isEscaped = false

  /** Answers what is too much, or null. */
  add(chunk: Uint8Array): Problem | null {
    let [depth, containers, fields, isInText, isEscaped] = [this.#depth, this.#containers, this.#fields, this.#isInText, this.#isEscaped]
    let deepest = 0
    for (let index = 0; index < chunk.length; index++) {
      const byte = chunk[index]
      if (isInText) {
        if (isEscaped) isEscaped = false
        else if (byte === backslash) isEscaped = true
        else if (byte === quote) isInText = false
      } else if (byte === quote) isInText = true
      else if (byte === colon) fields += 1
      else if (byte === openBrace || byte === openBracket) {
        containers += 1
        depth += 1
        if (depth > deepest) deepest = depth
      } else if (byte === closeBrace || byte === closeBracket) depth -= 1
    }
    this.#depth = depth
    this.#containers = containers
    this.#fields = fields
    this.#isInText = isInText
    this.#isEscaped = isEscaped
    if (deepest > maxJsonDepth) return invalidInput(`The body nests deeper than ${maxJsonDepth} levels`, { limit: maxJsonDepth })
    if (containers > maxJsonContainers)
      return invalidInput(`The body has more than ${maxJsonContainers} objects and lists: send several smaller requests.`, {
        limit: maxJsonContainers,
      })
    if (fields > maxJsonFields)
      return invalidInput(`The body has more than ${maxJsonFields} fields: send several smaller requests.`, { limit: maxJsonFields })
    return null
  }
}
