import { invalidInput } from '../../../kernel/problem.js'

/**
 * Refuses, by name, the fields of an input that are about something which Tollgate does not have (docs/unsupported-fields.md). Absent and null ask for
 * nothing.
 */
export function refuseAbsent<Input extends object>(what: string, input: Input, ...fields: (keyof Input & string)[]): void {
  const asked = fields.find((field) => input[field] !== undefined && input[field] !== null)
  if (asked) throw invalidInput(`Tollgate has no ${what}: leave "${asked}" out.`, { path: asked })
}

export const refuseCredits = <Input extends object>(input: Input, ...fields: (keyof Input & string)[]): void =>
  refuseAbsent('credits', input, ...fields)
