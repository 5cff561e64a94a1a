import { registerEnumType } from 'type-graphql'

type EnumOf<Value extends string> = { readonly [V in Value]: V }

/** An enum of the schema whose values are the texts of the wire; `keyof typeof` the result is the union of them. */
export function defineEnum<Value extends string>(name: string, description: string, values: readonly Value[]): EnumOf<Value> {
  const members = Object.fromEntries(values.map((value) => [value, value])) as EnumOf<Value>
  registerEnumType(members, { name, description })
  return members
}
