import type { GraphQLField } from 'graphql'
import { Field, ObjectType } from 'type-graphql'
import * as enums from './enums.js'

/** Begins the description of each field that the contract has and Tollgate has nothing for; docs/unsupported-fields.md lists the same fields. */
export const alwaysNullNote = 'Always null: Tollgate has no such thing.'

/** A field of something that Tollgate does not have. Declared, because clients ask for it; never filled in. */
export function AlwaysNull(type: Parameters<typeof Field>[0]): PropertyDecorator {
  return (prototype, property) => Field(type, { nullable: true, description: alwaysNullNote })(prototype, property)
}

export const isAlwaysNull = ({ description }: GraphQLField<unknown, unknown>): boolean => description?.startsWith(alwaysNullNote) ?? false

@ObjectType({ simpleResolvers: true, description: 'An experiment that a customer takes part in. There are none in Tollgate.' })
export class ExperimentInfo {
  @Field(() => String)
  groupName!: string

  @Field(() => enums.ExperimentGroupType)
  groupType!: keyof typeof enums.ExperimentGroupType

  @Field(() => String)
  id!: string

  @Field(() => String)
  name!: string
}
