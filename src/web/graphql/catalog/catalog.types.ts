import { Field, ObjectType } from 'type-graphql'
import * as enums from '../schema/enums.js'
import { Json } from '../schema/scalars.js'

@ObjectType({ simpleResolvers: true, description: 'One field that applying a catalog document changes.' })
export class CatalogFieldChange {
  @Field(() => Json, { nullable: true, description: 'Null: there was nothing.' })
  from!: unknown

  @Field(() => String, { description: 'The place in the definition, such as entitlements["seats"].limit.' })
  path!: string

  @Field(() => Json, { nullable: true, description: 'Null: there is nothing any more.' })
  to!: unknown
}

@ObjectType({ simpleResolvers: true, description: 'What applying a catalog document does, or would do, to one item.' })
export class CatalogChange {
  @Field(() => enums.CatalogAction)
  action!: string

  @Field(() => [CatalogFieldChange], { description: 'What is different; empty for create and archive.' })
  fields!: CatalogFieldChange[]

  @Field(() => enums.CatalogKind)
  kind!: string

  @Field(() => String)
  refId!: string
}
