import { invalidInput, Problem } from '../../kernel/problem.js'

/** For an operation that the contract has and this version cannot do. */
export function notSupportedYet(operation: string): Problem {
  return new Problem('UNIMPLEMENTED', 'NOT_SUPPORTED_YET', `${operation} is not supported yet.`)
}

/** Refuses, by name, the fields of an input that this version does not honour. Absent and null ask for nothing. */
export function refuseNotHonoured<Input extends object>(input: Input, ...fields: (keyof Input & string)[]): void {
  const asked = fields.find((field) => input[field] !== undefined && input[field] !== null)
  if (asked) throw invalidInput(`"${asked}" is not supported yet: leave it out.`, { path: asked })
}
