export interface Limit {
  what: string
  value: string
  /** What sets it; null: nothing does. */
  variable: string | null
  /** What happens to who asks for more. */
  beyond: string
  /** The file under test/ and the title of what shows it. */
  test: readonly [file: string, title: string]
}

export const refused = 'refused (`BadUserInput`) before anything is done'
export const slowedDown = 'refused (`RateLimitExceeded`) with the time to wait'

export const row = (what: string, value: string, beyond: string, test: Limit['test'], variable: string | null = null): Limit => ({
  what,
  value,
  variable,
  beyond,
  test,
})

export const count = (value: number) => value.toLocaleString('en')
export const bytes = (value: number) => `${count(value)} bytes`
