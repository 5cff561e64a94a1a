/** The candidate that `word` was probably meant to be, or null when none is close: compared without case, then by letters changed. */
export function nearest(word: string, candidates: Iterable<string>): string | null {
  const wanted = word.toLowerCase()
  // A third of the letters: more than that and the suggestion is a guess that misleads.
  let best = Math.floor((wanted.length + 1) / 3) + 1
  let found: string | null = null
  let containing: string | null = null
  for (const candidate of candidates) {
    const known = candidate.toLowerCase()
    const distance = Math.abs(known.length - wanted.length) < best ? editDistance(wanted, known, best) : best
    if (distance < best) {
      best = distance
      found = candidate
    }
    // `id` for `refId`, `name` for `displayName`.
    if (wanted.length > 1 && containing === null && known.endsWith(wanted)) containing = candidate
  }
  return found ?? containing
}

/** A suggestion is not worth more work: names beyond these are left out. */
export const maxNames = 300
export const maxNameLength = 64

/** The same among names that somebody else chose, of which there may be many and long ones. */
export function nearestName(word: string, names: Iterable<string>): string | null {
  if (word.length > maxNameLength) return null
  const short = [...names].filter(({ length }) => length <= maxNameLength)
  return nearest(word, short.slice(0, maxNames))
}

/** What to do about a name that was not found: the one that was probably meant, else `otherwise`. */
export const didYouMean = (name: string | null, otherwise: string): string => (name === null ? otherwise : `did you mean "${name}"?`)

/** `; did you mean …?`, or nothing when no candidate is close. Of words that we have chosen: a few, and short. */
export const suggestion = (word: string, candidates: Iterable<string>): string => asSuggestion(nearest(word, candidates))

const asSuggestion = (candidate: string | null) => (candidate === null ? '' : `; did you mean '${candidate}'?`)

/** The first wrong names of a document get a suggestion; who has more of them has another mistake. */
const maxSuggestions = 20

/** The same for the names of one document, all of which somebody else chose. */
export class Suggestions {
  #left = maxSuggestions

  of(word: string, names: Iterable<string>): string {
    if (this.#left === 0) return ''
    this.#left--
    return asSuggestion(nearestName(word, names))
  }
}

/** A name that was sent, for a message: of one that is far too long its beginning, so that no answer is much longer than what was asked. */
export const shortened = (name: string): string => (name.length <= maxShownLength ? name : `${name.slice(0, maxShownLength)}…`)
const maxShownLength = 80

/** Letters to insert, remove or exchange, and neighbours to swap, to turn `a` into `b`; `limit` as soon as it is known to be no less. */
function editDistance(a: string, b: string, limit: number): number {
  let beforePrevious = new Uint16Array(b.length + 1)
  let previous = Uint16Array.from({ length: b.length + 1 }, (_, index) => index)
  let current = new Uint16Array(b.length + 1)
  for (let i = 1; i <= a.length; i++) {
    current[0] = i
    let least = i
    for (let j = 1; j <= b.length; j++) {
      const exchange = previous[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      const isSwap = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const distance = Math.min(exchange, isSwap ? beforePrevious[j - 2]! + 1 : exchange, previous[j]! + 1, current[j - 1]! + 1)
      current[j] = distance
      if (distance < least) least = distance
    }
    // A swap looks two lines back, and adds one to what is there.
    if (least > limit) return limit
    ;[beforePrevious, previous, current] = [previous, current, beforePrevious]
  }
  return previous[b.length]!
}
