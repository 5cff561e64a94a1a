import { Field, ObjectType } from 'type-graphql'
import * as enums from './enums.js'
import { alwaysNullNote } from './field-meanings.js'

/** A field of something that Tollgate does not have. Declared, because clients ask for it; never filled in. */
export function AlwaysNull(type: Parameters<typeof Field>[0]): PropertyDecorator {
  return (prototype, property) => Field(type, { nullable: true, description: alwaysNullNote })(prototype, property)
}

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
