import { countryCode, nearestCountry } from '../../../catalog/model/country.js'
import { invalidInput } from '../../../kernel/problem.js'

/** As ISO 3166-1 writes it; absent and null stay. Fails with BAD_USER_INPUT when there is no such country. */
export function fromCountry<T extends string | null | undefined>(text: T, path: string): T | string {
  if (text === null || text === undefined) return text
  const code = countryCode(text)
  if (code !== null) return code
  const near = nearestCountry(text)
  throw invalidInput(
    `"${text}" is not a country: send a code of ISO 3166-1 alpha-2, such as AT.${near === null ? '' : ` Did you mean ${near}?`}`,
    { path },
  )
}

/** The same for who only asks: a country that is none is nobody's. */
export const knownCountry = (text: string | null | undefined): string | null => (text ? countryCode(text) : null)
