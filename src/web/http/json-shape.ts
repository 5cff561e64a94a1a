import { invalidInput, type Problem } from '../../kernel/problem.js'

/** Deeper than anything that is sent; functions that walk values call themselves. */
export const maxJsonDepth = 64
/** Objects, lists, and what is in them, of one body. A call of 1,000 events with 60 dimensions each has half of it. */
export const maxJsonValues = 150_000
/** Bytes of one text, which is parsed in one piece: 20 ms where all of it is escapes. A catalog may be half as long. */
export const maxJsonTextBytes = 2 * 1024 * 1024

/** Bytes between two of the signs that JSON is made of: of space, which is also skipped in one step, and of a number. */
export const maxJsonRunBytes = 64 * 1024

const [quote, backslash, openBrace, openBracket, closeBrace, closeBracket, comma, colon] = Buffer.from('"\\{[}],:')

/**
 * What a body of JSON is made of, counted as it arrives: what it becomes takes memory and time by its values, of which a megabyte can hold more than anybody
 * sends. Does not judge whether it is JSON.
 */
export class JsonShape {
  #depth = 0
  #values = 0
  /** So far, of the one that is not over yet. */
  #textBytes = 0
  /** So far, outside of texts. */
  #runBytes = 0
  #isInText = false
  #isEscaped = false

  /** Answers what is too much, or null. */
  add(chunk: Uint8Array): Problem | null {
    let [depth, values, isInText, isEscaped] = [this.#depth, this.#values, this.#isInText, this.#isEscaped]
    let [deepest, longest, longestRun] = [0, 0, 0]
    let [textAt, runAt] = [-this.#textBytes, -this.#runBytes]
    for (let index = 0; index < chunk.length; index++) {
      const byte = chunk[index]
      if (isInText) {
        if (isEscaped) isEscaped = false
        else if (byte === backslash) isEscaped = true
        else if (byte === quote) {
          isInText = false
          if (index - textAt > longest) longest = index - textAt
          runAt = index
        }
        continue
      }
      if (byte === quote) {
        isInText = true
        textAt = index
      } else if (byte === comma) values += 1
      else if (byte === openBrace || byte === openBracket) {
        values += 1
        depth += 1
        if (depth > deepest) deepest = depth
      } else if (byte === closeBrace || byte === closeBracket) depth -= 1
      else if (byte !== colon) continue
      if (index - runAt > longestRun) longestRun = index - runAt
      runAt = index
    }
    this.#depth = depth
    this.#values = values
    this.#textBytes = isInText ? chunk.length - textAt : 0
    this.#runBytes = isInText ? 0 : chunk.length - runAt
    this.#isInText = isInText
    this.#isEscaped = isEscaped
    if (deepest > maxJsonDepth) return invalidInput(`The body nests deeper than ${maxJsonDepth} levels`, { limit: maxJsonDepth })
    if (values > maxJsonValues)
      return invalidInput(`The body has more than ${maxJsonValues} values: send several smaller requests.`, { limit: maxJsonValues })
    if (Math.max(longest, this.#textBytes) > maxJsonTextBytes)
      return invalidInput(`The body has a text of more than ${maxJsonTextBytes} bytes`, { limit: maxJsonTextBytes })
    if (Math.max(longestRun, this.#runBytes) > maxJsonRunBytes)
      return invalidInput(`The body has a number, or space, of more than ${maxJsonRunBytes} bytes`, { limit: maxJsonRunBytes })
    return null
  }
}
